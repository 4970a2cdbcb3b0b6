//! Recall on this machine: the project's files as the port sees them, what the
//! session was given, and the person's limits. The hook and `remora context`
//! both go through here, so that what is shown is what would be given.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::{Instant, UNIX_EPOCH};

use remora_client::{GivenFile, Giving, ProjectLocation, normal, open_plain};
use remora_embed::{DIMS, MODEL, Meaning};
use remora_files::read_file;
use remora_instructions::memories::Folder;
use remora_memory::prompt_embedding::PromptEmbedding;
use remora_memory::recall::{Disk, Given, Likeness, Limits, Recall, Scene, Seen};
use remora_protocol::record::Anchor;
use remora_protocol::request::Embedding;

use crate::clock;
use crate::config::Config;
use crate::error::CliError;

/// The moment under which rows stand in the ledger that a start only named, and
/// what is behind any other moment that did.
const INDEX: &str = "index";
pub(crate) const NAMED: &str = " (title)";

/// Memories of two checkouts are compared up to this many bytes.
const COMPARED: u64 = 64 * 1024;

/// The files of a project.
#[derive(Debug)]
struct Files {
    root: PathBuf,
    /// When nothing is looked at any more.
    end: Option<Instant>,
}

impl Disk for Files {
    fn is_late(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }

    fn likeness(&self, path: &str, anchor: &Anchor) -> Likeness {
        let path = self.root.join(path);
        match remora_client::is_as(&path, anchor) {
            remora_client::Likeness::Same => Likeness::Same,
            remora_client::Likeness::Gone => Likeness::Gone,
            remora_client::Likeness::Changed => Likeness::Changed(written(&path)),
        }
    }

    fn exists(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }

    fn memory(&self, path: &str, size: u64, modified: i64) -> Option<Option<String>> {
        let indexed = Path::new(path);
        let ours = in_checkout(indexed, &self.root);
        let path = ours.as_deref().unwrap_or(indexed);
        let Ok(file) = open_plain(path) else {
            return Some(None);
        };
        let meta = file.metadata().ok()?;
        if !meta.is_file() {
            return Some(None);
        }
        let is_indexed = |meta: &Metadata| meta.len() == size && nanos(meta) == modified;
        let same = match &ours {
            None => is_indexed(&meta),
            Some(ours) => {
                meta.len() == size
                    && std::fs::metadata(indexed).is_ok_and(|meta| is_indexed(&meta))
                    && is_alike(indexed, ours, size)
            }
        };
        if same {
            return None;
        }
        // A link that came since the memory was indexed may lead anywhere.
        if path.canonicalize().ok().as_deref() != Some(path) {
            return ours.map(|_| None);
        }
        // Taking secrets out costs more than a hook may take; the worker will
        // have done it by the next time.
        Some(Some(format!(
            "Changed since it was indexed; its file has the words: {}",
            path.display()
        )))
    }
}

/// The file of this checkout that a memory of the team is in, if the one that
/// was indexed lies in another checkout.
fn in_checkout(indexed: &Path, root: &Path) -> Option<PathBuf> {
    let team = Folder::team(Path::new(""));
    let folder = indexed.ancestors().find(|dir| dir.ends_with(team.dir()))?;
    let name = indexed.strip_prefix(folder).ok()?;
    let ours = root.canonicalize().ok()?.join(team.dir()).join(name);
    (ours != indexed).then_some(ours)
}

fn is_alike(one: &Path, other: &Path, size: u64) -> bool {
    let read = |path: &Path| read_file(path, COMPARED).ok();
    size <= COMPARED && read(one).is_some_and(|words| Some(words) == read(other))
}

fn nanos(meta: &Metadata) -> i64 {
    let since = meta.modified().ok();
    let since = since.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| {
        i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
    })
}

/// When the file was written, in milliseconds since 1970.
fn written(path: &Path) -> i64 {
    std::fs::metadata(path).map_or(0, |meta| nanos(&meta) / 1_000_000)
}

/// What a session was given, as its file says.
#[derive(Debug)]
pub(crate) struct Before(pub(crate) Option<GivenFile>);

impl Given for Before {
    fn seen(&self, item: &str) -> Seen {
        let Some(file) = &self.0 else {
            return Seen::Not;
        };
        let mut seen = Seen::Not;
        for moment in file.moments(item) {
            let named = moment == INDEX || moment.ends_with(NAMED);
            seen = if named && seen != Seen::Told {
                Seen::Named
            } else {
                Seen::Told
            };
        }
        seen
    }

    fn told(&self, what: &str) -> bool {
        self.0.as_ref().is_some_and(|file| file.has_told(what))
    }
}

impl Before {
    /// Writes down that this was told.
    pub(crate) fn tell(&mut self, what: &str, now: i64) -> std::io::Result<()> {
        match &mut self.0 {
            Some(file) => file.tell(what, now),
            None => Ok(()),
        }
    }

    /// Writes down what is being given.
    pub(crate) fn note(&mut self, recall: &Recall, moment: &str, now: i64) -> std::io::Result<()> {
        let Some(file) = &mut self.0 else {
            return Ok(());
        };
        let named = match moment {
            "start" => INDEX.to_owned(),
            other => format!("{other}{NAMED}"),
        };
        let giving: Vec<Giving<'_>> = recall
            .given
            .iter()
            .map(|chosen| Giving {
                item: &chosen.item,
                moment: if chosen.seen == Seen::Named {
                    &named
                } else {
                    moment
                },
                why: &chosen.why,
                tokens: chosen.tokens,
            })
            .collect();
        file.give(&giving, now)?;
        for what in &recall.told {
            file.tell(what, now)?;
        }
        Ok(())
    }
}

/// What the person has said about recall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) limits: Limits,
    /// Whether something that repeats is proposed as a memory.
    pub(crate) suggests: bool,
    /// After how many changed files a stop is held up; 0 never.
    pub(crate) guard: usize,
    /// Whether the person is greeted.
    pub(crate) greets: bool,
    /// Whether there is an encoder to ask for embeddings.
    pub(crate) embeds: bool,
}

/// What counts where nothing was said. Reading it from the table of keys would
/// cost every hook more than everything else it does.
const DEFAULTS: Settings = Settings {
    limits: Limits {
        start_tokens: 900,
        index_rows: 12,
        summaries: 10,
        prompt_tokens: 400,
    },
    suggests: false,
    guard: 0,
    greets: true,
    embeds: true,
};

impl Settings {
    /// Reads the file, if there is one.
    pub(crate) fn load(file: &Path) -> Result<Self, CliError> {
        if !file.exists() {
            return Ok(DEFAULTS);
        }
        Config::load(file).map(|config| Self::of(&config))
    }

    pub(crate) fn of(config: &Config) -> Self {
        let small = |name: &str| usize::try_from(config.number(name)).unwrap_or(usize::MAX);
        let tokens = |name: &str| u32::try_from(config.number(name)).unwrap_or(u32::MAX);
        Self {
            limits: Limits {
                start_tokens: tokens("recall.start_tokens"),
                index_rows: small("recall.index_rows"),
                summaries: small("recall.summaries"),
                prompt_tokens: tokens("recall.prompt_tokens"),
            },
            suggests: config.flag("recall.suggest_saves"),
            guard: small("recall.guard_edits"),
            greets: config.flag("ui.greet"),
            embeds: config.text("search.model") != "off",
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        DEFAULTS
    }
}

/// The worker's reply as a query takes it; `None` if it is of another model or
/// no vector.
pub(crate) fn embedding_of(reply: &Embedding) -> Option<Meaning> {
    let meaning = Meaning::from_bytes(&reply.bytes)?;
    (reply.model == MODEL && meaning.dims() == DIMS).then_some(meaning)
}

/// What a session stands on, apart from what it was given.
#[derive(Debug)]
pub(crate) struct Ground {
    place: ProjectLocation,
    files: Files,
    details: String,
    limits: Limits,
    /// Files that git says have changed.
    pub(crate) changed: Vec<String>,
    /// The encoder's embedding of the prompt.
    pub(crate) embedding: Option<PromptEmbedding>,
}

impl Ground {
    /// In this place; `prefix` is what stands before the names of our MCP tools.
    pub(crate) fn new(place: ProjectLocation, prefix: Option<&str>, limits: Limits) -> Self {
        Self {
            files: Files {
                root: PathBuf::from(&place.project.root),
                end: None,
            },
            details: details(prefix),
            limits,
            changed: Vec::new(),
            embedding: None,
            place,
        }
    }

    /// The same, with an end to looking at files.
    pub(crate) fn until(mut self, end: Instant) -> Self {
        self.files.end = Some(end);
        self
    }

    /// The scene of a session.
    pub(crate) fn scene<'a>(&'a self, session: &'a str, given: &'a dyn Given) -> Scene<'a> {
        Scene {
            project: &self.place.project.key,
            branch: self.place.branch.as_deref(),
            session,
            now: clock::millis(),
            changed: &self.changed,
            details: &self.details,
            disk: &self.files,
            given,
            limits: self.limits,
            embedding: self.embedding.as_ref(),
        }
    }
}

/// How more of a row is fetched: the tool of our MCP server, if the session has
/// it, and the command that is always there.
fn details(prefix: Option<&str>) -> String {
    match prefix {
        Some(prefix) => format!("tool {prefix}get {{\"ids\":[NUMBER]}}, or `remora show NUMBER`"),
        None => "`remora show NUMBER`".to_owned(),
    }
}

/// A path as seen from the project's root.
pub(crate) fn relative(path: &str, root: &str, cwd: &str) -> String {
    let full = if path.starts_with('/') {
        PathBuf::from(path)
    } else {
        Path::new(cwd).join(path)
    };
    let full = normal(&full);
    match full.strip_prefix(root) {
        Ok(inside) if !root.is_empty() => inside.display().to_string(),
        _ => full.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_that_changed_is_named_and_not_quoted() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let files = Files {
            root: root.clone(),
            end: None,
        };
        let path = root.join("deploy.md");
        let name = path.display().to_string();
        assert_eq!(files.memory(&name, 1, 1), Some(None));
        std::fs::write(&path, "password = hunter2hunter2\n").unwrap();
        let now = files.memory(&name, 1, 1).unwrap().unwrap();
        assert!(now.ends_with(&name) && !now.contains("hunter2"), "{now}");
        let meta = std::fs::metadata(&path).unwrap();
        assert_eq!(files.memory(&name, meta.len(), nanos(&meta)), None);
    }

    #[test]
    fn each_checkout_has_its_own_files_of_the_team() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let file = |tree: &str| top.join(tree).join(".claude/team-memory/reviews.md");
        for (tree, text) in [("main", "two"), ("same", "two"), ("other", "one")] {
            std::fs::create_dir_all(file(tree).parent().unwrap()).unwrap();
            std::fs::write(file(tree), text).unwrap();
        }
        std::fs::create_dir(top.join("none")).unwrap();
        let indexed = file("main");
        let meta = std::fs::metadata(&indexed).unwrap();
        let told = |tree: &str| {
            let files = Files {
                root: top.join(tree),
                end: None,
            };
            files.memory(&indexed.display().to_string(), meta.len(), nanos(&meta))
        };
        assert_eq!(told("main"), None);
        assert_eq!(told("same"), None);
        assert_eq!(told("none"), Some(None));
        let other = told("other").unwrap().unwrap();
        assert!(
            other.ends_with(&file("other").display().to_string()),
            "{other}"
        );
    }

    #[test]
    fn a_reply_of_another_model_or_length_is_no_embedding() {
        let meaning = Meaning::of(&[0.5; DIMS]);
        let reply = |model: &str, bytes: Vec<u8>| {
            embedding_of(&Embedding {
                model: model.to_owned(),
                bytes,
            })
        };
        assert_eq!(reply(MODEL, meaning.to_bytes()), Some(meaning.clone()));
        assert_eq!(reply("other/1", meaning.to_bytes()), None);
        assert_eq!(reply(MODEL, Meaning::of(&[0.5; 3]).to_bytes()), None);
        assert_eq!(reply(MODEL, vec![255; DIMS + 4]), None);
        assert_eq!(reply(MODEL, Vec::new()), None);
    }

    #[test]
    fn the_defaults_are_those_of_the_table() {
        let table = Config::parse("").map(|config| Settings::of(&config));
        assert_eq!(table, Ok(Settings::default()));
    }
}
