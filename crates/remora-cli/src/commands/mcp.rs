//! `remora mcp`: the library behind the MCP server. It puts together what other
//! commands find and save; nothing is printed here, stdout belongs to the
//! protocol.

mod responses;

use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use clap::ValueEnum;
use remora_client::Pause;
use remora_core::ids::ProjectKey;
use remora_core::record::{Item, Kind};
use remora_embed::LazyEncoder;
use remora_instructions::memories::MEMORY_URI_SCHEME;
use remora_memory::store::Store;
use remora_server::forget::Selection;
use remora_server::mcp::{
    self as server, CorrectionReceipt, Fact, Lookup, McpLimits, MemoryLibrary, ProjectScope,
    SaveReceipt,
};
use remora_store::SqliteStore;

use crate::args::{
    self, McpArgs, MemoryAddArgs, MemoryLocationArgs, MemoryOwnerArgs, MemoryScopeArg,
    MemoryTypeArg,
};
use crate::clock;
use crate::commands::correct::{find_item, refuse_address};
use crate::commands::data::DataDir;
use crate::commands::import::build_redactor;
use crate::commands::reader::ALL_PROJECTS_KEY;
use crate::commands::show::lines::TimeFormatter;
use crate::commands::tier::{self, SearchTier};
use crate::commands::timeline::TimelineScope;
use crate::commands::wrong::{self, Rejections};
use crate::commands::{forget, memory, search, show, timeline};
use crate::error::CliError;
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
        let root = remora_agents::find_project_dir(&data.environment.lookup());
        let root = root.filter(|root| root.is_dir());
        // Settings of a repository may set variables: one that names a folder
        // which this server was not started in leads to another's memory.
        let here = data.environment.directory().cloned();
        if let Some(root) = root.filter(|root| here.is_none_or(|here| lies_in(&here, root))) {
            data.environment = data.environment.moved_to(root);
        }
        Ok(data)
    }

    /// The same encoder as long as its setting is the same.
    fn cached_encoder(&self, data: &DataDir) -> Option<Arc<LazyEncoder>> {
        let setting = data.config.get_text("search.model");
        let mut held = self.encoder.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, encoder)) = &*held
            && of == setting
        {
            return Some(Arc::clone(encoder));
        }
        let encoder = Arc::new(tier::build_encoder(&data.config)?);
        *held = Some((setting.to_owned(), Arc::clone(&encoder)));
        Some(encoder)
    }
}

/// What a call may read.
struct ReadScope {
    /// The session's own project; `None` where the user allows every one.
    own: Option<ProjectKey>,
}

impl ReadScope {
    fn for_reads(data: &DataDir) -> Result<Self, CliError> {
        Ok(match load_mcp_limits(data) {
            McpLimits::AllProjects => Self { own: None },
            McpLimits::OwnProject => Self {
                own: Some(data.current_project()?),
            },
        })
    }

    /// What a call may change: never more than the session's own project,
    /// whatever it may read.
    fn of_changes(data: &DataDir) -> Result<Self, CliError> {
        Ok(Self {
            own: Some(data.current_project()?),
        })
    }

    /// Whether an item may be read. One that may not is as good as none: not even
    /// its being there is said.
    fn allows_item(&self, item: &Item) -> bool {
        let is_users = item.kind == Kind::Memory && item.project.is_empty();
        match &self.own {
            None => true,
            Some(own) => item.project == *own || is_users,
        }
    }
}

fn load_mcp_limits(data: &DataDir) -> McpLimits {
    if data.config.get_flag(ALL_PROJECTS_KEY) {
        McpLimits::AllProjects
    } else {
        McpLimits::OwnProject
    }
}

impl MemoryLibrary for LocalLibrary {
    fn project_limits(&self) -> McpLimits {
        // Settings that cannot be read allow nothing.
        Self::open().map_or(McpLimits::OwnProject, |data| load_mcp_limits(&data))
    }

    fn search(&self, search: &server::SearchParams) -> Result<Lookup<server::SearchEntry>, String> {
        let find = || {
            let data = Self::open()?;
            let Some(store) = data.open_store()? else {
                return Ok(nothing_yet());
            };
            let args = args::SearchArgs {
                words: vec![search.query.clone()],
                place: to_project_scope_args(search.reach),
                kind: search.kinds.iter().map(|k| k.name().to_owned()).collect(),
                file: search.file.clone(),
                span: args::TimeSpanArgs {
                    since: search.since.clone(),
                    until: None,
                },
                session: None,
                agent: None,
                limit: search.limit,
                tier: SearchTier::Full,
                explain: false,
                open: false,
                json: false,
            };
            let limit = ReadScope::for_reads(&data)?;
            let encoder = self.cached_encoder(&data);
            let answer = search::find_hits(
                &args,
                &data,
                &store,
                encoder.as_deref(),
                limit.own.as_deref(),
            )?;
            let projects = match answer.looked {
                search::SearchedProjects::InOne => Vec::new(),
                search::SearchedProjects::Everywhere => store.list_projects()?,
            };
            let local = TimeFormatter::new();
            let rejections = &answer.rejections;
            let row = |hit| responses::to_search_entry(hit, rejections, &local, &projects);
            Ok(Lookup {
                list: answer.hits.iter().map(row).collect(),
                missing: Vec::new(),
                notes: answer.notes,
            })
        };
        find().map_err(|error| format_error(&error))
    }

    fn get(&self, ids: &[String]) -> Result<Lookup<server::EntryDetail>, String> {
        let get = || {
            let data = Self::open()?;
            let mut store = None;
            let mut found = Lookup {
                list: Vec::new(),
                missing: Vec::new(),
                notes: Vec::new(),
            };
            let local = TimeFormatter::new();
            let limit = ReadScope::for_reads(&data)?;
            for id in ids {
                match find_detail(&data, &limit, &mut store, id, &local) {
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
        };
        get().map_err(|error| format_error(&error))
    }

    fn list_timeline(
        &self,
        timeline: &server::TimelineParams,
    ) -> Result<Lookup<server::TimelineEntry>, String> {
        let find = || {
            let data = Self::open()?;
            let Some(store) = data.open_store()? else {
                return Ok(nothing_yet());
            };
            // Around an item, the limit counts for each side.
            let limit = match timeline.around {
                Some(_) => timeline.limit.div_ceil(2),
                None => timeline.limit,
            };
            let args = args::TimelineArgs {
                agent: None,
                around: timeline.around.clone(),
                place: to_project_scope_args(timeline.reach),
                span: args::TimeSpanArgs {
                    since: timeline.since.clone(),
                    until: timeline.until.clone(),
                },
                session: None,
                limit: Some(limit),
                json: false,
            };
            let bound = ReadScope::for_reads(&data)?;
            let allows = |item: &Item| bound.allows_item(item);
            let within = bound.own.as_deref().map(|own| TimelineScope {
                own,
                allows: &allows,
            });
            let (entries, _) = timeline::find_entries(&args, &data, &store, within)?;
            let local = TimeFormatter::new();
            let rejections = Rejections::load(&store)?;
            let entry = |entry| responses::to_timeline_entry(entry, &rejections, &local);
            Ok(Lookup {
                list: entries.iter().map(entry).collect(),
                missing: Vec::new(),
                notes: Vec::new(),
            })
        };
        find().map_err(|error| format_error(&error))
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
        correct_item(id, |data, limit| {
            let item = data
                .open_store()?
                .map(|store| find_item(&store, id, &|item| limit.allows_item(item)))
                .transpose()?
                .ok_or_else(|| CliError::Usage("nothing is remembered yet".to_owned()))?;
            // Looked up again under the worker's lock, after the spool is drained: it may
            // be gone by then.
            let order = forget::delete_selection(data, |store| {
                let item = find_item(store, id, &|item| limit.allows_item(item))?;
                Ok(Selection::Items(vec![item]))
            })?;
            Ok(CorrectionReceipt {
                done: format!(
                    "Deleted for good: {} (receipt {}).",
                    forget::describe_deletion(&order),
                    order.receipt.receipt
                ),
                items: vec![format_item(&item)],
                undo: "This cannot be undone.".to_owned(),
            })
        })
    }

    fn reject_item(&self, id: &str, because: Option<&str>) -> Result<CorrectionReceipt, String> {
        correct_item(id, |data, limit| {
            let done = wrong::reject_item(data, id, because, &|item| limit.allows_item(item))?;
            let reason = done.said.rejected.map(|rejection| rejection.reason);
            let reason = reason.filter(|reason| !reason.is_empty());
            let because = reason.map_or(String::new(), |reason| format!(" because {reason}"));
            Ok(CorrectionReceipt {
                done: format!("Marked wrong{because}; it is never injected again:"),
                items: vec![format_item(&done.item)],
                undo: format!("`remora wrong {} --undo` takes this back.", done.item.id),
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
    id: &str,
    change: impl FnOnce(&DataDir, &ReadScope) -> Result<CorrectionReceipt, CliError>,
) -> Result<CorrectionReceipt, String> {
    let data = LocalLibrary::open().map_err(|error| format_error(&error))?;
    if let Some(why) = find_pause(&data) {
        return Err(why);
    }
    let corrected = refuse_address(id).and_then(|()| change(&data, &ReadScope::of_changes(&data)?));
    corrected.map_err(|error| format_error(&error))
}

fn format_item(item: &Item) -> String {
    format!("#{} {} {}", item.id, item.kind, item.title)
}

/// Why nothing is to be saved now. Reading goes on: the agent asked for it.
fn find_pause(data: &DataDir) -> Option<String> {
    if data.environment.is_on(OFF_VARIABLE) {
        return Some(format!("{OFF_VARIABLE} is set: nothing was changed"));
    }
    let pauses = Pause::for_data_dir(&data.paths);
    let here = data.environment.directory();
    let project = here.map(|here| data.locate_folder(here).project.key);
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

fn to_project_scope_args(reach: ProjectScope) -> args::ProjectScopeArgs {
    args::ProjectScopeArgs {
        all: reach == ProjectScope::Everywhere,
        project: None,
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
    limit: &ReadScope,
    store: &mut Option<SqliteStore>,
    id: &str,
    local: &TimeFormatter,
) -> Result<Option<server::EntryDetail>, CliError> {
    let memory = |uri: &str| {
        let found = memory::find_by_uri(uri, &saved_place(data))?;
        let accepted = memory::is_accepted(&found, &saved_place(data))?;
        Ok(responses::memory_to_detail(
            &found,
            accepted,
            &build_redactor(data)?,
            local,
        ))
    };
    if id.starts_with(MEMORY_URI_SCHEME) {
        return memory(id).map(Some);
    }
    if store.is_none() {
        *store = data.open_store()?;
    }
    let Some(store) = store else {
        return Ok(None);
    };
    let found = show::find_named_item(store, id)?;
    let Some(item) = found.filter(|item| limit.allows_item(item)) else {
        return Ok(None);
    };
    if let Some(Ok(detail)) = memory_address(&item).map(memory) {
        return Ok(Some(detail));
    }
    let fields = show::list_fields(&item, "", local);
    let wrong = Rejections::load(store)?.describe_rejection(&item);
    Ok(Some(responses::item_to_detail(&item, fields, wrong, local)))
}

fn memory_address(item: &Item) -> Option<&str> {
    let key = item.key.as_deref().filter(|_| item.kind == Kind::Memory)?;
    key.starts_with(MEMORY_URI_SCHEME).then_some(key)
}

/// An error with what can be done about it.
fn format_error(error: &CliError) -> String {
    // Arguments of tools have no hyphens.
    let flags = ["--since", "--until", "--project", "--all"];
    let text = flags.iter().fold(error.to_string(), |text, flag| {
        text.replace(flag, flag.trim_start_matches('-'))
    });
    match error {
        CliError::Store(_) | CliError::File { .. } => {
            format!("{text}; `remora doctor` says how to fix it")
        }
        _ => text,
    }
}
