//! `remora mcp`: the library behind the MCP server. It puts together what other
//! commands find and save; nothing is printed here, stdout belongs to the
//! protocol.

mod told;

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use clap::ValueEnum;
use remora_client::Pause;
use remora_embed::OnDemand;
use remora_instructions::memories::SCHEME;
use remora_memory::store::Store;
use remora_protocol::record::{Item, Kind};
use remora_server::forget::Selection;
use remora_server::mcp::{self as server, Bounds, Fact, Found, Library, Reach, Receipt, Took};
use remora_store::SqliteStore;

use crate::args::{self, Mcp, MemoryAdd, SavedPlace, SavedType, Whose, WhoseScope};
use crate::clock;
use crate::commands::correct::{find_item, refuse_address};
use crate::commands::data::Data;
use crate::commands::import::redactor;
use crate::commands::reader::ALL_PROJECTS;
use crate::commands::show::lines::Local;
use crate::commands::tier::{self, Tier};
use crate::commands::timeline::Within;
use crate::commands::wrong::{self, Rejections};
use crate::commands::{forget, memory, search, show, timeline};
use crate::error::CliError;
use crate::exit::Exit;
use crate::hook::OFF;
use crate::output::{self, Output};

/// What the memory of a person can tell an agent.
#[derive(Debug, Default)]
struct Memory {
    /// The encoder, and the setting that it was made for.
    encoder: Mutex<Option<(String, Arc<OnDemand>)>>,
}

pub(super) fn run(_: &Mcp, _: &mut Output) -> Result<Exit, CliError> {
    if io::stdin().is_terminal() {
        output::note("this waits for an MCP client on stdin; agents start it by themselves");
    }
    let version = env!("CARGO_PKG_VERSION");
    server::serve(Arc::new(Memory::default()), version)?;
    Ok(Exit::GoOn)
}

impl Memory {
    /// Opened for every call: settings and database may come and go meanwhile.
    fn open() -> Result<Data, CliError> {
        let mut data = Data::open()?;
        let root = data.environment.get("CLAUDE_PROJECT_DIR");
        let root = root.map(PathBuf::from).filter(|root| root.is_dir());
        // Settings of a repository may set variables: one that names a folder
        // which this server was not started in leads to another's memory.
        let here = data.environment.directory().cloned();
        if let Some(root) = root.filter(|root| here.is_none_or(|here| lies_in(&here, root))) {
            data.environment = data.environment.moved_to(root);
        }
        Ok(data)
    }

    /// The same encoder as long as its setting is the same.
    fn encoder(&self, data: &Data) -> Option<Arc<OnDemand>> {
        let setting = data.config.text("search.model");
        let mut held = self.encoder.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, encoder)) = &*held
            && of == setting
        {
            return Some(Arc::clone(encoder));
        }
        let encoder = Arc::new(tier::encoder(&data.config)?);
        *held = Some((setting.to_owned(), Arc::clone(&encoder)));
        Some(encoder)
    }
}

/// What a call may read.
struct Limit {
    /// The session's own project; `None` where the user allows every one.
    own: Option<String>,
}

impl Limit {
    fn of(data: &Data) -> Result<Self, CliError> {
        Ok(match bounds(data) {
            Bounds::AllProjects => Self { own: None },
            Bounds::OwnProject => Self {
                own: Some(data.project()?),
            },
        })
    }

    /// What a call may change: never more than the session's own project,
    /// whatever it may read.
    fn of_changes(data: &Data) -> Result<Self, CliError> {
        Ok(Self {
            own: Some(data.project()?),
        })
    }

    /// Whether a row may be read. One that may not is as good as none: not even
    /// its being there is said.
    fn allows(&self, item: &Item) -> bool {
        let is_users = item.kind == Kind::Memory && item.project.is_empty();
        match &self.own {
            None => true,
            Some(own) => item.project == *own || is_users,
        }
    }
}

fn bounds(data: &Data) -> Bounds {
    if data.config.flag(ALL_PROJECTS) {
        Bounds::AllProjects
    } else {
        Bounds::OwnProject
    }
}

impl Library for Memory {
    fn bounds(&self) -> Bounds {
        // Settings that cannot be read allow nothing.
        Self::open().map_or(Bounds::OwnProject, |data| bounds(&data))
    }

    fn search(&self, search: &server::Search) -> Result<Found<server::Row>, String> {
        let find = || {
            let data = Self::open()?;
            let Some(store) = data.store()? else {
                return Ok(nothing_yet());
            };
            let args = args::Search {
                words: vec![search.query.clone()],
                place: place(search.reach),
                kind: search.kinds.iter().map(|k| k.name().to_owned()).collect(),
                file: search.file.clone(),
                span: args::Span {
                    since: search.since.clone(),
                    until: None,
                },
                session: None,
                agent: None,
                limit: search.limit,
                tier: Tier::Full,
                explain: false,
                open: false,
                json: false,
            };
            let limit = Limit::of(&data)?;
            let encoder = self.encoder(&data);
            let answer = search::find(
                &args,
                &data,
                &store,
                encoder.as_deref(),
                limit.own.as_deref(),
            )?;
            let projects = match answer.looked {
                search::Looked::InOne => Vec::new(),
                search::Looked::Everywhere => store.projects()?,
            };
            let local = Local::new();
            let rejections = &answer.rejections;
            let row = |hit| told::row(hit, rejections, &local, &projects);
            Ok(Found {
                list: answer.hits.iter().map(row).collect(),
                missing: Vec::new(),
                notes: answer.notes,
            })
        };
        find().map_err(|error| said(&error))
    }

    fn get(&self, ids: &[String]) -> Result<Found<server::Detail>, String> {
        let get = || {
            let data = Self::open()?;
            let mut store = None;
            let mut found = Found {
                list: Vec::new(),
                missing: Vec::new(),
                notes: Vec::new(),
            };
            let local = Local::new();
            let limit = Limit::of(&data)?;
            for id in ids {
                match detail(&data, &limit, &mut store, id, &local) {
                    Ok(Some(detail)) => found.list.push(detail),
                    Ok(None) => found.missing.push(id.clone()),
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
        get().map_err(|error| said(&error))
    }

    fn timeline(&self, timeline: &server::Timeline) -> Result<Found<server::Entry>, String> {
        let find = || {
            let data = Self::open()?;
            let Some(store) = data.store()? else {
                return Ok(nothing_yet());
            };
            // Around a row, the limit counts for each side.
            let limit = match timeline.around {
                Some(_) => timeline.limit.div_ceil(2),
                None => timeline.limit,
            };
            let args = args::Timeline {
                around: timeline.around.clone(),
                place: place(timeline.reach),
                span: args::Span {
                    since: timeline.since.clone(),
                    until: timeline.until.clone(),
                },
                session: None,
                limit: Some(limit),
                json: false,
            };
            let bound = Limit::of(&data)?;
            let allows = |item: &Item| bound.allows(item);
            let within = bound.own.as_deref().map(|own| Within {
                own,
                allows: &allows,
            });
            let (entries, _) = timeline::find(&args, &data, &store, within)?;
            let local = Local::new();
            let rejections = Rejections::load(&store)?;
            let entry = |entry| told::entry(entry, &rejections, &local);
            Ok(Found {
                list: entries.iter().map(entry).collect(),
                missing: Vec::new(),
                notes: Vec::new(),
            })
        };
        find().map_err(|error| said(&error))
    }

    fn remember(&self, fact: &Fact) -> Result<Took, String> {
        let data = Self::open().map_err(|error| said(&error))?;
        if let Some(why) = paused(&data) {
            return Err(why);
        }
        let save = || {
            // On the command line a lone hyphen means stdin, which is not ours.
            if fact.text == "-" {
                return Err(CliError::Usage("the memory is empty".to_owned()));
            }
            let args = MemoryAdd {
                text: vec![fact.text.clone()],
                title: None,
                name: fact.name.clone(),
                description: None,
                kind: choice::<SavedType>(fact.kind.as_deref()),
                priority: fact.priority,
                whose: Whose {
                    scope: choice::<WhoseScope>(fact.scope.as_deref()),
                    ..Whose::default()
                },
                place: saved_place(&data),
            };
            let saved = memory::save_for_agent(&args)?;
            let mut advice = saved.advice;
            advice.push(format!(
                "told as an agent's words until the user runs `remora memory accept {}`",
                saved.memory.uri.name
            ));
            Ok(Took {
                name: saved.memory.uri.to_string(),
                file: saved.memory.path.display().to_string(),
                advice,
            })
        };
        save().map_err(|error| said(&error))
    }

    fn forget(&self, id: &str) -> Result<Receipt, String> {
        correct(id, |data, limit| {
            let item = data
                .store()?
                .map(|store| find_item(&store, id, &|item| limit.allows(item)))
                .transpose()?
                .ok_or_else(|| CliError::Usage("nothing is remembered yet".to_owned()))?;
            let order = forget::delete(data, |store| {
                let item = find_item(store, id, &|item| limit.allows(item))?;
                Ok(Selection::Items(vec![item]))
            })?;
            Ok(Receipt {
                done: format!(
                    "Deleted for good: {} (receipt {}).",
                    forget::sum(&order),
                    order.receipt.receipt
                ),
                items: vec![named(&item)],
                undo: "This cannot be undone.".to_owned(),
            })
        })
    }

    fn reject(&self, id: &str, because: Option<&str>) -> Result<Receipt, String> {
        correct(id, |data, limit| {
            let done = wrong::reject(data, id, because, &|item| limit.allows(item))?;
            let reason = done.said.rejected.map(|rejection| rejection.reason);
            let reason = reason.filter(|reason| !reason.is_empty());
            let because = reason.map_or(String::new(), |reason| format!(" because {reason}"));
            Ok(Receipt {
                done: format!("Marked wrong{because}; no session is told of it again:"),
                items: vec![named(&done.item)],
                undo: format!("`remora wrong {} --undo` takes this back.", done.item.id),
            })
        })
    }

    fn rest(&self) {
        let held = self.encoder.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, encoder)) = &*held {
            encoder.rest(Instant::now());
        }
    }
}

/// Changes an item of the session's own project, unless memory is paused.
fn correct(
    id: &str,
    change: impl FnOnce(&Data, &Limit) -> Result<Receipt, CliError>,
) -> Result<Receipt, String> {
    let data = Memory::open().map_err(|error| said(&error))?;
    if let Some(why) = paused(&data) {
        return Err(why);
    }
    let corrected = refuse_address(id).and_then(|()| change(&data, &Limit::of_changes(&data)?));
    corrected.map_err(|error| said(&error))
}

fn named(item: &Item) -> String {
    format!("#{} {} {}", item.id, item.kind, item.title)
}

/// Why nothing is to be saved now. Reading goes on: somebody asked for it.
fn paused(data: &Data) -> Option<String> {
    if data.environment.switch(OFF) {
        return Some(format!("{OFF} is set: nothing was changed"));
    }
    let pauses = Pause::of(&data.paths);
    let here = data.environment.directory();
    let project = here.map(|here| data.locate(here).project.key);
    let off = |project: Option<&str>| pauses.is_off(project, "", clock::millis());
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

fn nothing_yet<T>() -> Found<T> {
    Found {
        list: Vec::new(),
        missing: Vec::new(),
        notes: vec!["nothing is remembered yet".to_owned()],
    }
}

fn place(reach: Reach) -> args::Where {
    args::Where {
        all: reach == Reach::Everywhere,
        project: None,
    }
}

fn saved_place(data: &Data) -> SavedPlace {
    SavedPlace {
        directory: args::Directory::at(data.environment.directory().cloned()),
        ..SavedPlace::default()
    }
}

fn choice<T: ValueEnum>(text: Option<&str>) -> Option<T> {
    T::from_str(text?, true).ok()
}

/// A row or a memory; the file is the truth of a memory, whatever the index says.
fn detail(
    data: &Data,
    limit: &Limit,
    store: &mut Option<SqliteStore>,
    id: &str,
    local: &Local,
) -> Result<Option<server::Detail>, CliError> {
    let memory = |uri: &str| {
        let found = memory::at(uri, &saved_place(data))?;
        let accepted = memory::is_accepted(&found, &saved_place(data))?;
        Ok(told::memory(&found, accepted, &redactor(data)?, local))
    };
    if id.starts_with(SCHEME) {
        return memory(id).map(Some);
    }
    if store.is_none() {
        *store = data.store()?;
    }
    let Some(store) = store else {
        return Ok(None);
    };
    let found = show::find(store, id)?;
    let Some(item) = found.filter(|item| limit.allows(item)) else {
        return Ok(None);
    };
    if let Some(Ok(detail)) = address(&item).map(memory) {
        return Ok(Some(detail));
    }
    let fields = show::fields(&item, "", local);
    let wrong = Rejections::load(store)?.mark(&item);
    Ok(Some(told::item(&item, fields, wrong, local)))
}

fn address(item: &Item) -> Option<&str> {
    let key = item.key.as_deref().filter(|_| item.kind == Kind::Memory)?;
    key.starts_with(SCHEME).then_some(key)
}

/// An error with what can be done about it.
fn said(error: &CliError) -> String {
    // Arguments of tools have no hyphens.
    let flags = ["--since", "--until", "--project", "--all"];
    let text = flags.iter().fold(error.to_string(), |text, flag| {
        text.replace(flag, flag.trim_start_matches('-'))
    });
    match error {
        CliError::Store(_) | CliError::File { .. } => {
            format!("{text}; `remora doctor` says how to mend it")
        }
        _ => text,
    }
}
