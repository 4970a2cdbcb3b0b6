//! `remora mcp`: the library behind the MCP server. It puts together what other
//! commands find and save; nothing is printed here, stdout belongs to the
//! protocol.

mod responses;

use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use clap::ValueEnum;
use remora_app::corrections::RejectRequest;
use remora_app::deletions::DeletionRequest;
use remora_app::search::{KeptHits, SearchRequest};
use remora_app::show::{ShowRequest, ShownItem};
use remora_app::timeline::TimelineRequest;
use remora_app::{
    ALL_PROJECTS_KEY, App, AppError, CallerKind, ErrorKind, Hint, ProjectChoice, TimeSpanRequest,
    build_encoder,
};
use remora_client::Pause;
use remora_core::record::{Item, Kind};
use remora_embed::LazyEncoder;
use remora_notes::MEMORY_URI_SCHEME;
use remora_server::mcp::{
    self as server, CorrectionReceipt, Fact, Lookup, McpLimits, MemoryLibrary, ProjectScope,
    SaveReceipt,
};

use crate::args::{
    self, McpArgs, MemoryAddArgs, MemoryLocationArgs, MemoryOwnerArgs, MemoryScopeArg,
    MemoryTypeArg,
};
use crate::clock;
use crate::commands::data::DataDir;
use crate::commands::show::lines::TimeFormatter;
use crate::commands::{forget, memory, show};
use crate::error::{CliError, describe_hint};
use crate::exit::Exit;
use crate::hook::OFF_VARIABLE;
use crate::output::{self, Output};

/// The memory of a user, as an agent may read and correct it.
#[derive(Debug, Default)]
struct LocalLibrary {
    /// The encoder, and the setting that it was made for.
    encoder: Mutex<Option<(String, Arc<LazyEncoder>)>>,
}

pub(super) fn run(_: &McpArgs, _: &mut Output) -> Result<Exit, CliError> {
    if io::stdin().is_terminal() {
        output::print_note("this waits for an MCP client on stdin; agents start it by themselves");
    }
    let version = env!("CARGO_PKG_VERSION");
    server::serve_stdio(Arc::new(LocalLibrary::default()), version)?;
    Ok(Exit::GoOn)
}

impl LocalLibrary {
    /// Opened for every call: settings and database may come and go meanwhile.
    fn open() -> Result<DataDir, CliError> {
        let mut data = DataDir::open()?;
        data.app.caller.kind = CallerKind::AgentTool;
        let root = remora_agents::find_project_dir(&data.environment.lookup());
        let root = root.filter(|root| root.is_dir());
        // Settings of a repository may set variables: one that names a folder
        // which this server was not started in leads to another's memory.
        let here = data.environment.directory().cloned();
        if let Some(root) = root.filter(|root| here.is_none_or(|here| lies_in(&here, root))) {
            data.app.caller.directory = Some(root.clone());
            data.environment = data.environment.moved_to(root);
        }
        Ok(data)
    }

    /// The use cases, with the encoder of earlier calls.
    fn open_app(&self) -> Result<App, CliError> {
        let app = Self::open()?.app;
        let encoder = self.cached_encoder(&app);
        Ok(app.with_encoder(encoder))
    }

    /// The same encoder as long as its setting is the same.
    fn cached_encoder(&self, app: &App) -> Option<Arc<LazyEncoder>> {
        let setting = app.config.get_text("search.model");
        let mut held = self.encoder.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, encoder)) = &*held
            && of == setting
        {
            return Some(Arc::clone(encoder));
        }
        let encoder = Arc::new(build_encoder(&app.config)?);
        *held = Some((setting.to_owned(), Arc::clone(&encoder)));
        Some(encoder)
    }

    fn answer_search(
        &self,
        search: &server::SearchParams,
    ) -> Result<Lookup<server::SearchEntry>, CliError> {
        let app = self.open_app()?;
        let found = app.search(&SearchRequest {
            query: search.query.clone(),
            project: to_project_choice(search.reach),
            kinds: search.kinds.clone(),
            file: search.file.clone(),
            span: TimeSpanRequest {
                since: search.since.clone(),
                until: None,
            },
            limit: search.limit,
            keep: KeptHits::Strong,
            ..SearchRequest::default()
        })?;
        let Some(asked) = &found.asked else {
            return Ok(nothing_yet());
        };
        let projects = match asked.filter.project {
            Some(_) => Vec::new(),
            None => app.require_store()?.list_projects()?,
        };
        let local = TimeFormatter::new();
        let now = app.clock.now_ms();
        let row = |result| responses::to_search_entry(result, now, &local, &projects);
        Ok(Lookup {
            list: found.results.iter().map(row).collect(),
            missing: Vec::new(),
            notes: found.notes.iter().map(ToString::to_string).collect(),
        })
    }

    fn answer_timeline(
        timeline: &server::TimelineParams,
    ) -> Result<Lookup<server::TimelineEntry>, CliError> {
        let app = Self::open()?.app;
        if app.open_store()?.is_none() {
            return Ok(nothing_yet());
        }
        // Around an item, the limit counts for each side.
        let limit = match timeline.around {
            Some(_) => timeline.limit.div_ceil(2),
            None => timeline.limit,
        };
        let found = app.timeline(&TimelineRequest {
            around: timeline.around.clone(),
            project: to_project_choice(timeline.reach),
            span: TimeSpanRequest {
                since: timeline.since.clone(),
                until: timeline.until.clone(),
            },
            limit: Some(limit),
            ..TimelineRequest::default()
        })?;
        let local = TimeFormatter::new();
        let now = app.clock.now_ms();
        let rejections = &found.rejections;
        let entry = |entry| responses::to_timeline_entry(entry, rejections, now, &local);
        Ok(Lookup {
            list: found.entries.iter().map(entry).collect(),
            missing: Vec::new(),
            notes: Vec::new(),
        })
    }

    fn answer_get(ids: &[String]) -> Result<Lookup<server::EntryDetail>, CliError> {
        let data = Self::open()?;
        let mut found = Lookup {
            list: Vec::new(),
            missing: Vec::new(),
            notes: Vec::new(),
        };
        let local = TimeFormatter::new();
        for id in ids {
            match find_detail(&data, id, &local) {
                Ok(Some(detail)) => found.list.push(detail),
                Ok(None) => found.missing.push(id.clone()),
                // One memory that cannot be read does not keep the others from the
                // model.
                Err(error @ CliError::Saved(_)) => found.notes.push(error.to_string()),
                Err(error) => return Err(error),
            }
        }
        if !found.list.is_empty() {
            return Ok(found);
        }
        let mut why = found.notes;
        if !found.missing.is_empty() {
            let missing = found.missing.join(", ");
            why.push(format!("not found: {missing}; `search` gives ids"));
        }
        Err(CliError::Usage(why.join("; ")))
    }
}

impl MemoryLibrary for LocalLibrary {
    fn project_limits(&self) -> McpLimits {
        // Settings that cannot be read allow nothing.
        Self::open().map_or(McpLimits::OwnProject, |data| {
            if data.app.config.get_flag(ALL_PROJECTS_KEY) {
                McpLimits::AllProjects
            } else {
                McpLimits::OwnProject
            }
        })
    }

    fn search(&self, search: &server::SearchParams) -> Result<Lookup<server::SearchEntry>, String> {
        self.answer_search(search)
            .map_err(|error| format_error(&error))
    }

    fn get(&self, ids: &[String]) -> Result<Lookup<server::EntryDetail>, String> {
        Self::answer_get(ids).map_err(|error| format_error(&error))
    }

    fn list_timeline(
        &self,
        timeline: &server::TimelineParams,
    ) -> Result<Lookup<server::TimelineEntry>, String> {
        Self::answer_timeline(timeline).map_err(|error| format_error(&error))
    }

    fn save_fact(&self, fact: &Fact) -> Result<SaveReceipt, String> {
        let data = Self::open().map_err(|error| format_error(&error))?;
        if let Some(why) = find_pause(&data) {
            return Err(why);
        }
        let save = || {
            // On the command line a lone hyphen means stdin, which is not ours.
            if fact.text == "-" {
                return Err(CliError::Usage("the memory is empty".to_owned()));
            }
            let args = MemoryAddArgs {
                text: vec![fact.text.clone()],
                title: None,
                name: fact.name.clone(),
                description: None,
                kind: parse_choice::<MemoryTypeArg>(fact.kind.as_deref()),
                priority: fact.priority,
                whose: MemoryOwnerArgs {
                    scope: parse_choice::<MemoryScopeArg>(fact.scope.as_deref()),
                    ..MemoryOwnerArgs::default()
                },
                place: saved_place(&data),
            };
            let saved = memory::save_for_agent(&args)?;
            let mut advice = saved.advice;
            advice.push(format!(
                "injected as an agent's words until the user runs `remora memory accept {}`",
                saved.memory.uri.name
            ));
            Ok(SaveReceipt {
                name: saved.memory.uri.to_string(),
                file: saved.memory.path.display().to_string(),
                advice,
            })
        };
        save().map_err(|error| format_error(&error))
    }

    fn forget_item(&self, id: &str) -> Result<CorrectionReceipt, String> {
        correct_item(|app| {
            let request = DeletionRequest::Items(vec![id.to_owned()]);
            app.preview_deletion(&request)?;
            let named = app.show(&ShowRequest {
                ids: vec![id.to_owned()],
            })?;
            let done = app.delete(&request)?;
            Ok(CorrectionReceipt {
                done: format!(
                    "Deleted for good: {} (receipt {}).",
                    forget::describe_deletion(&done),
                    done.receipt().unwrap_or_default()
                ),
                items: named
                    .items
                    .iter()
                    .map(|shown| format_item(&shown.item))
                    .collect(),
                undo: "This cannot be undone.".to_owned(),
            })
        })
    }

    fn reject_item(&self, id: &str, because: Option<&str>) -> Result<CorrectionReceipt, String> {
        correct_item(|app| {
            let done = app.reject_item(&RejectRequest {
                item: id.to_owned(),
                because: because.map(str::to_owned),
            })?;
            let reason = done.wrong.map(|wrong| wrong.reason);
            let reason = reason.filter(|reason| !reason.is_empty());
            let because = reason.map_or(String::new(), |reason| format!(" because {reason}"));
            let item = &done.item;
            Ok(CorrectionReceipt {
                done: format!("Marked wrong{because}; it is never injected again:"),
                items: vec![format!("#{} {} {}", item.id, item.kind, item.title)],
                undo: format!("`remora wrong {} --undo` takes this back.", item.id),
            })
        })
    }

    fn release_idle(&self) {
        let held = self.encoder.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, encoder)) = &*held {
            encoder.unload_if_idle(Instant::now());
        }
    }
}

/// Changes an item of the session's own project, unless memory is paused.
fn correct_item(
    change: impl FnOnce(&App) -> Result<CorrectionReceipt, AppError>,
) -> Result<CorrectionReceipt, String> {
    let data = LocalLibrary::open().map_err(|error| format_error(&error))?;
    if let Some(why) = find_pause(&data) {
        return Err(why);
    }
    change(&data.app).map_err(|error| format_error(&error.into()))
}

fn format_item(item: &Item) -> String {
    format!("#{} {} {}", item.id, item.kind, item.title)
}

/// Why nothing is to be saved now. Reading goes on: the agent asked for it.
fn find_pause(data: &DataDir) -> Option<String> {
    if data.environment.is_on(OFF_VARIABLE) {
        return Some(format!("{OFF_VARIABLE} is set: nothing was changed"));
    }
    let pauses = Pause::for_data_dir(&data.app.paths);
    let here = data.environment.directory();
    let project = here.map(|here| data.app.locate_folder(here).project.key);
    let off = |project: Option<&str>| pauses.is_off(project, "", clock::now_ms());
    let (what, ender) = if off(None) {
        ("everywhere", "remora pause --off")
    } else if off(project.as_deref()) {
        ("in this project", "remora pause --off --project")
    } else {
        return None;
    };
    Some(format!(
        "paused {what}: nothing was changed; `{ender}` ends the pause"
    ))
}

fn lies_in(folder: &Path, root: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    folder.starts_with(root) || real(folder).starts_with(real(root))
}

fn nothing_yet<T>() -> Lookup<T> {
    Lookup {
        list: Vec::new(),
        missing: Vec::new(),
        notes: vec!["nothing is remembered yet".to_owned()],
    }
}

fn to_project_choice(reach: ProjectScope) -> ProjectChoice {
    match reach {
        ProjectScope::Project => ProjectChoice::Here,
        ProjectScope::Everywhere => ProjectChoice::All,
    }
}

fn saved_place(data: &DataDir) -> MemoryLocationArgs {
    MemoryLocationArgs {
        directory: args::DirectoryArgs::from_cwd(data.environment.directory().cloned()),
        ..MemoryLocationArgs::default()
    }
}

fn parse_choice<T: ValueEnum>(text: Option<&str>) -> Option<T> {
    T::from_str(text?, true).ok()
}

/// An item or a memory; the file of a memory counts, whatever the index says.
fn find_detail(
    data: &DataDir,
    id: &str,
    local: &TimeFormatter,
) -> Result<Option<server::EntryDetail>, CliError> {
    let memory = |uri: &str| {
        let found = memory::find_by_uri(uri, &saved_place(data))?;
        let accepted = memory::is_accepted(&found, &saved_place(data))?;
        Ok(responses::memory_to_detail(
            &found,
            accepted,
            &data.app.build_redactor()?,
            local,
        ))
    };
    if id.starts_with(MEMORY_URI_SCHEME) {
        return memory(id).map(Some);
    }
    let Some(shown) = find_shown_item(&data.app, id)? else {
        return Ok(None);
    };
    if let Some(Ok(detail)) = memory_address(&shown.item).map(memory) {
        return Ok(Some(detail));
    }
    let fields = show::list_fields(&shown.item, "", data.app.clock.now_ms(), local);
    Ok(Some(responses::item_to_detail(&shown, fields, local)))
}

fn find_shown_item(app: &App, id: &str) -> Result<Option<ShownItem>, AppError> {
    let asked = ShowRequest {
        ids: vec![id.to_owned()],
    };
    match app.show(&asked) {
        Ok(found) => Ok(found.items.into_iter().next()),
        Err(error) if error.kind == ErrorKind::NoDatabase => Ok(None),
        Err(error) => Err(error),
    }
}

fn memory_address(item: &Item) -> Option<&str> {
    let key = item.key.as_deref().filter(|_| item.kind == Kind::Memory)?;
    key.starts_with(MEMORY_URI_SCHEME).then_some(key)
}

/// An error with what can be done about it, in the words of the tools.
fn format_error(error: &CliError) -> String {
    let diagnose = "`remora doctor` says how to fix it";
    let error = match error {
        CliError::App(error) => error,
        CliError::Store(_) | CliError::File { .. } => return format!("{error}; {diagnose}"),
        other => return other.to_string(),
    };
    let mut text = error.to_string();
    for hint in &error.hints {
        let words = match hint {
            Hint::ChooseProject => "use project or all".to_owned(),
            Hint::Diagnose => diagnose.to_owned(),
            Hint::AskAsUser => continue,
            other => match describe_hint(other) {
                Some(words) => words,
                None => continue,
            },
        };
        text.push_str("; ");
        text.push_str(&words);
    }
    text
}
