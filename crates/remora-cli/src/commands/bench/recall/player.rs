//! Plays a project: its steps become hook events, go through the spool and the
//! inbox like any others, and the working tree lies on the disk as they left
//! it. Knows which items came of which step.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use remora_agents::{ScriptPosition, recorded_agent};
use remora_client::{DataPaths, HookInput, locate_project, spool_event};
use remora_core::detail::DetailList;
use remora_core::record::{Item, Kind};
use remora_core::tokens;
use remora_embed::LazyEncoder;
use remora_memory::CapturePolicy;
use remora_memory::store::{Batch, Filter, ItemWrite, PageRequest, SortOrder, Store};
use remora_server::{Log, SpoolIngest};
use remora_store::Access;
use serde_json::json;

use super::payload::{self, FileTree};
use super::set::{BenchProject, ScriptStep, line_error};
use crate::commands::vectors;
use crate::error::CliError;

/// Milliseconds between two steps.
const STEP_INTERVAL_MS: i64 = 40_000;
/// Items of a project that are looked at; none has so many.
const MAX_ITEMS: usize = 5_000;

/// A project that was played.
pub(in crate::commands::bench) struct PlayedProject {
    pub(in crate::commands::bench) store: Box<dyn Store>,
    pub(in crate::commands::bench) paths: DataPaths,
    pub(in crate::commands::bench) root: PathBuf,
    /// Everything that is stored.
    pub(in crate::commands::bench) rows: Vec<Item>,
    /// The events of each label.
    labels: HashMap<String, Vec<String>>,
    /// The ids of sessions, by the names that the script gives them.
    sessions: HashMap<String, String>,
    /// Removed when it is no longer needed.
    _folder: tempfile::TempDir,
}

impl PlayedProject {
    /// The stored session with this name.
    pub(in crate::commands::bench) fn session_id(&self, name: &str) -> Option<&str> {
        self.sessions.get(name).map(String::as_str)
    }

    /// Whether an item is meant by a label: `x` for all items of the step, `x:fix`
    /// for those of one kind, `memory:name`, `session:s1`, `kind:fix`, or `*`.
    pub(in crate::commands::bench) fn matches_label(&self, row: &Item, label: &str) -> bool {
        let of_step = |name: &str| {
            let events = self.labels.get(name).map(Vec::as_slice);
            events.unwrap_or_default().iter().any(|event| {
                let is_of = |uid: &str| {
                    let rest = uid.strip_prefix(event.as_str());
                    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                };
                // A fix keeps its name when another change mends the error:
                // what it tells is proved by other passes then.
                if row.kind == Kind::Fix && row.has_listed(DetailList::Passes) {
                    row.detail_list(DetailList::Passes).any(is_of)
                } else {
                    is_of(&row.uid)
                }
            })
        };
        match label.split_once(':') {
            _ if label == "*" => true,
            Some(("memory", name)) => {
                let key = row.key.as_deref().unwrap_or("");
                row.kind == Kind::Memory && key.rsplit('/').next() == Some(name)
            }
            Some(("session", name)) => self.session_id(name) == Some(row.session.as_str()),
            Some(("kind", name)) => row.kind.name() == name,
            Some((step, kind)) => row.kind.name() == kind && of_step(step),
            None => of_step(label),
        }
    }

    /// Whether a step of the script has this label, also if no item came of it.
    pub(in crate::commands::bench) fn has_label(&self, label: &str) -> bool {
        let step = label.split(':').next().unwrap_or(label);
        self.labels.contains_key(step)
    }

    /// The labels of the step that an item came of.
    pub(in crate::commands::bench) fn labels_of(&self, row: &Item) -> Vec<&str> {
        let mut labels: Vec<&str> = self.labels.keys().map(String::as_str).collect();
        labels.retain(|label| self.matches_label(row, label));
        labels.sort_unstable();
        labels
    }

    /// Checks out a branch, as far as memory can see it.
    pub(in crate::commands::bench) fn check_out(&self, branch: &str) -> Result<(), CliError> {
        check_out(&self.root, branch)
    }
}

/// Plays the project, and works out the embeddings of its items if there is an
/// encoder, as the worker does in its spare time.
pub(in crate::commands::bench) fn play_project(
    project: &BenchProject,
    encoder: Option<&LazyEncoder>,
) -> Result<PlayedProject, CliError> {
    let folder = tempfile::tempdir()?;
    let paths = DataPaths::new(folder.path().join("data"));
    paths.prepare_data_dir()?;
    let root = folder.path().join(&project.name);
    write_file(
        &root.join(".git/config"),
        &format!(
            "[remote \"origin\"]\n\turl = git@git.example.org:acme/{}.git\n",
            project.name
        ),
    )?;
    check_out(&root, "main")?;
    let store = remora_server::open_database(&paths.database_file(), Access::Write)?;
    let mut stage = ProjectPlayer {
        ingest: SpoolIngest::new(
            paths.clone(),
            Box::new(store),
            CapturePolicy::default(),
            Vec::new(),
            Log::open(paths.worker_log()),
        )?,
        paths,
        root,
        tree: FileTree::new(),
        at: 0,
        session: String::new(),
        prompt: 0,
        labels: HashMap::new(),
        sessions: HashMap::new(),
    };
    let mut memories = Vec::new();
    for (step, line) in project.steps.iter().enumerate() {
        let event = stage
            .play_step(&project.name, step, &line.step)
            .map_err(|why| match why {
                PlayError::Script(why) => line_error(&project.sessions, step + 1, &why),
                PlayError::Other(e) => e,
            })?;
        if let (Some(label), Some(event)) = (&line.label, event) {
            let events = stage.labels.entry(label.clone()).or_default();
            events.push(event);
        }
        if let ScriptStep::Memory { .. } = line.step {
            memories.push((stage.at, &line.step));
        }
    }
    stage.ingest_events()?;
    let key = locate_project(&stage.paths, &stage.root, None).project.key;
    let saved = folder.path().join("saved");
    let mut items = Vec::new();
    for (at, step) in memories {
        items.extend(write_memory(&saved, &key, at, step)?.map(ItemWrite::Put));
    }
    stage.ingest.store().apply(&Batch {
        items,
        ..Batch::default()
    })?;
    if let Some(encoder) = encoder {
        let made = vectors::embed_waiting(stage.ingest.store(), encoder, u64::MAX)?;
        if let Some(trouble) = made.trouble {
            return Err(CliError::Usage(trouble.to_string()));
        }
        if made.waiting > 0 {
            return Err(CliError::Usage("stopped".to_owned()));
        }
    }
    let ProjectPlayer {
        ingest,
        paths,
        root,
        labels,
        sessions,
        ..
    } = stage;
    drop(ingest);
    let store = remora_server::open_database(&paths.database_file(), Access::Read)?;
    let page = PageRequest {
        order: SortOrder::Oldest,
        beyond: None,
        limit: MAX_ITEMS,
    };
    let rows = store.list_items(&Filter::default(), page)?;
    Ok(PlayedProject {
        store: Box::new(store),
        paths,
        root,
        rows,
        labels,
        sessions,
        _folder: folder,
    })
}

/// A project in the middle of being played.
struct ProjectPlayer {
    ingest: SpoolIngest,
    paths: DataPaths,
    root: PathBuf,
    tree: FileTree,
    /// When the last step happened.
    at: i64,
    session: String,
    prompt: usize,
    labels: HashMap<String, Vec<String>>,
    sessions: HashMap<String, String>,
}

enum PlayError {
    /// The script asks for what cannot be.
    Script(String),
    Other(CliError),
}

impl<E: Into<CliError>> From<E> for PlayError {
    fn from(error: E) -> Self {
        Self::Other(error.into())
    }
}

impl ProjectPlayer {
    /// Plays a step; the id of its event, if it has one.
    fn play_step(
        &mut self,
        project: &str,
        number: usize,
        step: &ScriptStep,
    ) -> Result<Option<String>, PlayError> {
        match step {
            ScriptStep::Session {
                session,
                at,
                branch,
            } => {
                self.ingest_events()?;
                check_out(&self.root, branch)?;
                self.session = format!("{project}-{session}");
                self.sessions.insert(session.clone(), self.session.clone());
                self.prompt = 0;
                self.at = at.as_millisecond();
            }
            ScriptStep::Prompt { .. } => self.prompt += 1,
            ScriptStep::File { .. } => {}
            _ if self.session.is_empty() => {
                return Err(PlayError::Script("no session has begun".to_owned()));
            }
            _ => {}
        }
        let place = ScriptPosition {
            root: &self.root,
            session: &self.session,
            prompt: self.prompt,
            step: number,
        };
        let Some(event) =
            payload::build_payload(&place, step, &mut self.tree).map_err(PlayError::Script)?
        else {
            return Ok(None);
        };
        self.at += STEP_INTERVAL_MS;
        let input = HookInput {
            bytes: serde_json::to_vec(&event)?,
            cut: false,
        };
        let place = Some(locate_project(&self.paths, &self.root, None));
        let id = spool_event(
            &self.paths,
            recorded_agent().name,
            self.at,
            place,
            &input,
            false,
        )?;
        Ok(Some(id))
    }

    /// The files as they are now, and what the worker makes of the events.
    fn ingest_events(&mut self) -> Result<(), CliError> {
        for (file, content) in &self.tree {
            write_file(&self.root.join(file), content)?;
        }
        while self.ingest.ingest_batch(self.at)?.removed > 0 {}
        Ok(())
    }
}

fn check_out(root: &Path, branch: &str) -> Result<(), CliError> {
    write_file(
        &root.join(".git/HEAD"),
        &format!("ref: refs/heads/{branch}\n"),
    )
}

/// Writes a file unless it holds this already.
fn write_file(file: &Path, content: &str) -> Result<(), CliError> {
    let put = || {
        if fs::read_to_string(file).is_ok_and(|old| old == content) {
            return Ok(());
        }
        fs::create_dir_all(file.parent().unwrap_or(file))?;
        fs::write(file, content)
    };
    put().map_err(|source| CliError::File {
        path: file.to_path_buf(),
        source,
    })
}

/// The page of a saved memory, and its item as the worker's index has it.
fn write_memory(
    folder: &Path,
    project: &str,
    at: i64,
    step: &ScriptStep,
) -> Result<Option<Item>, CliError> {
    let ScriptStep::Memory {
        memory,
        text,
        priority,
    } = step
    else {
        return Ok(None);
    };
    let file = folder.join(format!("{memory}.md"));
    write_file(&file, text)?;
    let meta = fs::metadata(&file)?;
    let since = meta.modified()?.duration_since(UNIX_EPOCH);
    let nanos = since.map_or(0, |since| since.as_nanos());
    let key = format!("memory://project/{memory}");
    let item = json!({
        "id": 0, "uid": key, "key": key, "kind": Kind::Memory,
        "title": memory.replace('-', " "), "text": text, "time": at, "last_time": at,
        "project": project, "session": "", "agent": "",
        "digest_tokens": tokens::estimate_tokens(text),
        "detail": {
            "priority": priority, "scope": "project", "doubts": [],
            "path": file, "size": meta.len(),
            "modified": i64::try_from(nanos).unwrap_or(0),
        },
    });
    Ok(Some(serde_json::from_value(item)?))
}
