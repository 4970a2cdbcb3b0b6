//! The files behind the screen: the only part that reads and writes.
//!
//! An edit starts from the bytes that were shown and is refused when the file
//! holds others by now, so that nothing that somebody else wrote is lost. Each
//! edit keeps the text before it and behind it; an undo puts the first back
//! only where the second still is.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use remora_hook_tools::edit::{
    EditedSettings, HandlerState, LineChange, WrittenHandler, add_handler, diff_lines,
    list_handlers, remove_handler, replace_handler, toggle_handler,
};
use remora_hook_tools::lint::{
    LintFile, LintFinding, Surroundings, concerns, lint_files, lint_handler,
};
use remora_hook_tools::listing::{HookListing, ListedFile, list_hooks};
use remora_hook_tools::settings_file::SettingsFile;
use remora_hooks::{
    Engine, EngineOptions, Explanation, LayerSource, SampleFields, SampleSession, SettingsPaths,
};
use serde_json::Value;

use crate::edit::{HookChange, HookEdit, Preview, Reply, Written};
use crate::sample::SampleRequest;
use crate::snapshot::{HookRow, Problem, Snapshot, order_rows};
use crate::text::show_path;
use crate::update::Effect;

/// How many edits can be taken back.
const MAX_UNDO_STEPS: usize = 100;

/// Where everything is.
#[derive(Debug)]
pub struct WorkspaceOptions {
    /// The settings files of a session.
    pub places: SettingsPaths,
    /// How the session was started.
    pub engine: EngineOptions,
    /// The session that made-up events belong to.
    pub sample: SampleSession,
    /// Where programs are looked for, as in `PATH`.
    pub search_path: Option<OsString>,
}

/// One edit that can be taken back.
#[derive(Debug)]
struct UndoStep {
    /// The settings file, as it was listed.
    file: PathBuf,
    /// What it held; `None` if it was not there.
    before: Option<String>,
    /// What it held behind the edit.
    after: String,
    /// What was done.
    done: String,
}

/// The files as they were read, and the edits that can be taken back.
#[derive(Debug)]
pub struct Workspace {
    options: WorkspaceOptions,
    files: Vec<ListedFile>,
    /// Why there is none, if it cannot be loaded.
    engine: Result<Engine, String>,
    undo: Vec<UndoStep>,
}

impl Workspace {
    /// Reads everything.
    pub fn open(options: WorkspaceOptions) -> (Self, Snapshot) {
        let mut workspace = Self {
            options,
            files: Vec::new(),
            engine: Err(String::new()),
            undo: Vec::new(),
        };
        let snapshot = workspace.load();
        (workspace, snapshot)
    }

    /// Carries out what was asked; `None` if nothing was.
    pub fn perform(&mut self, effect: &Effect) -> Option<Reply> {
        match effect {
            Effect::Nothing | Effect::Leave => None,
            Effect::Reload => Some(Reply::Loaded(self.load())),
            Effect::Explain(request) => Some(Reply::Explained(self.explain(request))),
            Effect::Prepare(edit) => Some(Reply::Prepared(self.prepare(edit))),
            Effect::Write(edit) => {
                let result = self.write(edit);
                Some(Reply::Written(result, self.load()))
            }
            Effect::Undo => {
                let result = self.take_back();
                Some(Reply::Written(result, self.load()))
            }
        }
    }

    fn load(&mut self) -> Snapshot {
        let places = &self.options.places;
        let HookListing {
            files,
            hooks,
            errors,
        } = list_hooks(places);
        let engine = Engine::load(places.clone(), self.options.engine);
        let findings = lint_files(&list_lint_files(&files), &self.surroundings());
        let mut problems: Vec<Problem> = errors
            .iter()
            .map(|error| Problem::of_error(&error.to_string()))
            .collect();
        let known = match &engine {
            Ok(engine) => read_engine(engine),
            Err(error) => {
                problems.push(Problem::of_error(&error.to_string()));
                Vec::new()
            }
        };
        let listed: Vec<HookRow> = hooks
            .into_iter()
            .map(|hook| {
                let same = known.iter().find(|(row, position)| {
                    let place = &hook.written.place;
                    place.state == HandlerState::Enabled
                        && row.file.as_ref() == Some(&hook.file)
                        && row.event == place.event
                        && *position == (place.group, place.index)
                });
                let mut row = HookRow::from_listed(hook, same.map(|(row, _)| row));
                let of_row = |finding: &&LintFinding| {
                    row.file.as_ref() == Some(&finding.file)
                        && row
                            .written
                            .as_ref()
                            .is_some_and(|w| concerns(finding, &w.place))
                };
                row.findings = findings.iter().filter(of_row).cloned().collect();
                row
            })
            .collect();
        let home = &places.home;
        problems.extend(findings.iter().map(|f| Problem::of_finding(f, home)));
        if let Ok(engine) = &engine {
            // What the linter says of the files that users write is more precise.
            let is_covered = |warning: &String| {
                let mut paths = files.iter().map(|file| file.path.display().to_string());
                paths.any(|path| warning.starts_with(&path))
            };
            let others = engine
                .load_warnings()
                .into_iter()
                .filter(|w| !is_covered(w));
            problems.extend(others.map(|warning| Problem::of_error(&warning)));
        }
        let rows = order_rows(known.into_iter().map(|(row, _)| row).collect(), listed);
        let snapshot = Snapshot {
            project: places.project.clone(),
            home: home.clone(),
            rows,
            files: files
                .iter()
                .map(|file| (file.source, file.path.clone()))
                .collect(),
            problems,
            undo: self.undo.last().map(|step| step.done.clone()),
        };
        self.files = files;
        self.engine = engine.map_err(|error| error.to_string());
        snapshot
    }

    fn surroundings(&self) -> Surroundings<'_> {
        Surroundings {
            project: &self.options.places.project,
            home: &self.options.places.home,
            search_path: self.options.search_path.as_deref(),
            // A redactor takes longer to build than everything else here together.
            find_secret: &|_| None,
        }
    }

    fn explain(&self, request: &SampleRequest) -> Result<Explanation, String> {
        let engine = self.engine.as_ref().map_err(Clone::clone)?;
        let fields = SampleFields {
            tool: none_if_empty(&request.tool),
            command: none_if_empty(&request.command),
            path: none_if_empty(&request.path),
            url: none_if_empty(&request.url),
            others: request
                .subject
                .iter()
                .map(|(name, value)| (*name, Value::from(value.as_str())))
                .collect(),
            ..SampleFields::default()
        };
        let event = self.options.sample.build_event(request.event, fields);
        event
            .map(|event| engine.explain(&event))
            .map_err(|error| error.to_string())
    }

    fn find_file(&self, path: &Path) -> Result<(LayerSource, &SettingsFile), String> {
        let shown = path.display();
        let file = self.files.iter().find(|file| file.path == path);
        let file = file.ok_or_else(|| format!("{shown}: it is not one of the settings files"))?;
        let settings = file.settings.as_ref();
        let settings =
            settings.ok_or_else(|| format!("{shown}: it cannot be read; see the problems (p)"))?;
        Ok((file.source, settings))
    }

    /// The text that an edit makes of the bytes that were shown.
    fn compute(&self, edit: &HookEdit) -> Result<EditedSettings, String> {
        let (_, file) = self.find_file(&edit.file)?;
        if let Some(handler) = edit.change.handler() {
            require_handler(file, handler)?;
        }
        let edited = file.edit(|text| {
            let there = text.unwrap_or_default();
            match &edit.change {
                HookChange::Add {
                    event,
                    matcher,
                    entry,
                } => add_handler(text, *event, matcher.as_deref(), entry),
                HookChange::Replace {
                    handler,
                    matcher,
                    entry,
                } => replace_handler(there, &handler.place, matcher.as_deref(), entry),
                HookChange::Toggle(handler) => toggle_handler(there, &handler.place),
                HookChange::Remove(handler) => remove_handler(there, &handler.place),
            }
        });
        edited.map_err(|error| error.to_string())
    }

    fn prepare(&self, edit: &HookEdit) -> Result<Preview, String> {
        let edited = self.compute(edit)?;
        let (source, file) = self.find_file(&edit.file)?;
        let before = file.text().map_err(|error| error.to_string())?;
        let place = edited.place.as_ref();
        let there = edit.change.handler().map(|handler| &handler.place);
        let key = place.or(there).map(|place| place.path().to_string());
        let lines: Vec<(LineChange, String)> = diff_lines(before.unwrap_or_default(), &edited.text)
            .into_iter()
            .map(|(change, line)| (change, line.to_owned()))
            .collect();
        let findings = place.map(|place| {
            let read = LintFile {
                source,
                path: edit.file.clone(),
                plugin_root: None,
                text: edited.text.clone(),
            };
            lint_handler(read, place, &self.surroundings())
        });
        Ok(Preview {
            edit: edit.clone(),
            key: key.unwrap_or_default(),
            lines,
            findings: findings.unwrap_or_default(),
        })
    }

    fn write(&mut self, edit: &HookEdit) -> Result<Written, String> {
        let edited = self.compute(edit)?;
        let (_, file) = self.find_file(&edit.file)?;
        let text = |error: &dyn std::fmt::Display| error.to_string();
        let before = file
            .text()
            .map_err(|error| text(&error))?
            .map(str::to_owned);
        file.replace(&edited.text).map_err(|error| text(&error))?;
        let verb = match &edit.change {
            HookChange::Add { .. } => "added",
            HookChange::Replace { .. } => "changed",
            HookChange::Remove(_) => "removed",
            HookChange::Toggle(handler) => match handler.place.state {
                HandlerState::Enabled => "switched off",
                HandlerState::Disabled => "switched on",
            },
        };
        let shown = show_path(&edit.file, &self.options.places.home);
        let event = match &edit.change {
            HookChange::Add { event, .. } => event.as_str(),
            change => change
                .handler()
                .map_or("", |handler| handler.place.event.as_str()),
        };
        let done = format!("{verb} a hook of {event} in {shown}");
        if self.undo.len() == MAX_UNDO_STEPS {
            self.undo.remove(0);
        }
        self.undo.push(UndoStep {
            file: edit.file.clone(),
            before,
            after: edited.text,
            done: done.clone(),
        });
        Ok(Written {
            done: format!("{done}; u takes it back"),
            handler: edited.place.map(|place| (edit.file.clone(), place)),
        })
    }

    fn take_back(&mut self) -> Result<Written, String> {
        let step = self.undo.last().ok_or("there is nothing to take back")?;
        let file = SettingsFile::read(&step.file).map_err(|error| error.to_string())?;
        let now = file.text().map_err(|error| error.to_string())?;
        if now != Some(step.after.as_str()) {
            return Err(format!(
                "{}: the file was changed since, so the edit is not taken back; change the hook by hand",
                step.file.display()
            ));
        }
        let restored = match &step.before {
            Some(before) => file.replace(before).map(|_| ()),
            None => file.remove(),
        };
        restored.map_err(|error| error.to_string())?;
        let done = format!("taken back: {}", step.done);
        self.undo.pop();
        Ok(Written {
            done,
            handler: None,
        })
    }
}

/// Whether the handler that the user saw is where it was.
fn require_handler(file: &SettingsFile, handler: &WrittenHandler) -> Result<(), String> {
    let text = file.text().map_err(|error| error.to_string())?;
    let all = list_handlers(text.unwrap_or_default());
    let all = all.map_err(|error| format!("{}: {error}", file.path().display()))?;
    if all.contains(handler) {
        return Ok(());
    }
    Err(format!(
        "{}: `{}` is another hook by now; go back and choose it again",
        file.path().display(),
        handler.place.path()
    ))
}

fn none_if_empty(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

fn read_engine(engine: &Engine) -> Vec<(HookRow, (usize, usize))> {
    engine
        .handlers()
        .map(|(entry, held_back)| (HookRow::from_engine(entry, held_back), entry.position))
        .collect()
}

fn list_lint_files(files: &[ListedFile]) -> Vec<LintFile> {
    let read = |file: &ListedFile| {
        let text = file.settings.as_ref()?.text().ok()??;
        Some(LintFile {
            source: file.source,
            path: file.path.clone(),
            plugin_root: None,
            text: text.to_owned(),
        })
    };
    files.iter().filter_map(read).collect()
}

impl Problem {
    fn of_error(text: &str) -> Self {
        Self {
            place: text.to_owned(),
            lines: Vec::new(),
        }
    }

    fn of_finding(finding: &LintFinding, home: &Path) -> Self {
        Self {
            place: format!(
                "{}:{}:{} {} {} {}",
                show_path(&finding.file, home),
                finding.position.line,
                finding.position.column,
                finding.severity.as_str(),
                finding.code,
                finding.key
            ),
            lines: vec![finding.message.clone(), finding.advice.clone()],
        }
    }
}
