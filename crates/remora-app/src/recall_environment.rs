//! Recall on this machine: the project's files as the port sees them, what the
//! session has seen, and the user's limits. The hook and `remora context` both
//! go through here, so that a preview is what would be injected.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::{Instant, UNIX_EPOCH};

use remora_client::{InjectionLog, NewInjection, ProjectLocation, normalise_path, open_plain};
use remora_core::ids::SessionId;
use remora_core::record::FileFingerprint;
use remora_core::request::EncodedEmbedding;
use remora_embed::{EMBEDDING_DIMS, Embedding, MODEL_ID};
use remora_files::read_file;
use remora_memory::prompt_embedding::PromptEmbedding;
use remora_memory::recall::{
    Exposure, FileStatus, InjectionHistory, ProjectFiles, RecallContext, RecallLimits, RecallResult,
};
use remora_notes::MemoryFolder;

use crate::config::Config;
use crate::error::Result;

/// The trigger under which the injection log lists items of which a start showed
/// the title only, and the suffix of any other trigger that did.
const INDEX_TRIGGER: &str = "index";
/// Ends the trigger under which only a title was shown.
pub const TITLE_ONLY_SUFFIX: &str = " (title)";

/// Memories of two checkouts are compared up to this many bytes.
const MAX_COMPARED_BYTES: u64 = 64 * 1024;

/// The files of a project.
#[derive(Debug)]
struct CheckoutFiles {
    root: PathBuf,
    /// When recall must be done.
    end: Option<Instant>,
}

impl ProjectFiles for CheckoutFiles {
    fn is_late(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }

    fn file_status(&self, path: &str, anchor: &FileFingerprint) -> FileStatus {
        let path = self.root.join(path);
        match remora_client::is_as(&path, anchor) {
            remora_client::FileStatus::Same => FileStatus::Same,
            remora_client::FileStatus::Gone => FileStatus::Gone,
            remora_client::FileStatus::Changed => FileStatus::Changed(modified_ms(&path)),
        }
    }

    fn exists(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }

    fn read_changed_memory(&self, path: &str, size: u64, modified: i64) -> Option<Option<String>> {
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
        let is_indexed = |meta: &Metadata| meta.len() == size && modified_nanos(meta) == modified;
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
    let team = MemoryFolder::for_team(Path::new(""));
    let folder = indexed.ancestors().find(|dir| dir.ends_with(team.dir()))?;
    let name = indexed.strip_prefix(folder).ok()?;
    let ours = root.canonicalize().ok()?.join(team.dir()).join(name);
    (ours != indexed).then_some(ours)
}

fn is_alike(one: &Path, other: &Path, size: u64) -> bool {
    let read = |path: &Path| read_file(path, MAX_COMPARED_BYTES).ok();
    size <= MAX_COMPARED_BYTES && read(one).is_some_and(|words| Some(words) == read(other))
}

fn modified_nanos(meta: &Metadata) -> i64 {
    let since = meta.modified().ok();
    let since = since.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| {
        i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
    })
}

/// When the file was written, in milliseconds since 1970.
fn modified_ms(path: &Path) -> i64 {
    std::fs::metadata(path).map_or(0, |meta| modified_nanos(&meta) / 1_000_000)
}

/// What was injected into a session, as its log says.
#[derive(Debug)]
pub struct SessionHistory(pub Option<InjectionLog>);

impl InjectionHistory for SessionHistory {
    fn exposure(&self, item: &str) -> Exposure {
        let Some(file) = &self.0 else {
            return Exposure::None;
        };
        let mut seen = Exposure::None;
        for trigger in file.injection_triggers(item) {
            let named = trigger == INDEX_TRIGGER || trigger.ends_with(TITLE_ONLY_SUFFIX);
            seen = if named && seen != Exposure::Full {
                Exposure::TitleOnly
            } else {
                Exposure::Full
            };
        }
        seen
    }

    fn has_noted(&self, what: &str) -> bool {
        self.0.as_ref().is_some_and(|file| file.has_noted(what))
    }
}

impl SessionHistory {
    /// Records that this was reported.
    pub fn record_note(&mut self, what: &str, now: i64) -> std::io::Result<()> {
        match &mut self.0 {
            Some(file) => file.record_note(what, now),
            None => Ok(()),
        }
    }

    /// Records what is being injected.
    pub fn record_injections(
        &mut self,
        recall: &RecallResult,
        trigger: &str,
        now: i64,
    ) -> std::io::Result<()> {
        let Some(file) = &mut self.0 else {
            return Ok(());
        };
        let named = match trigger {
            "start" => INDEX_TRIGGER.to_owned(),
            other => format!("{other}{TITLE_ONLY_SUFFIX}"),
        };
        let giving: Vec<NewInjection<'_>> = recall
            .given
            .iter()
            .map(|selected| NewInjection {
                item: &selected.item,
                trigger: if selected.seen == Exposure::TitleOnly {
                    &named
                } else {
                    trigger
                },
                why: &selected.why,
                tokens: selected.tokens,
            })
            .collect();
        file.record_injections(&giving, now)?;
        for what in &recall.told {
            file.record_note(what, now)?;
        }
        Ok(())
    }
}

/// The user's settings for recall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecallSettings {
    /// How much may be injected.
    pub limits: RecallLimits,
    /// Whether something that repeats is proposed as a memory.
    pub suggests: bool,
    /// After how many changed files a stop is held up; 0 never.
    pub guard: usize,
    /// Whether the user is greeted.
    pub greets: bool,
    /// Whether there is an encoder to ask for embeddings.
    pub embeds: bool,
}

/// What counts where nothing was said. Reading it from the table of keys would
/// cost every hook more than everything else it does.
const DEFAULT_SETTINGS: RecallSettings = RecallSettings {
    limits: RecallLimits {
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

impl RecallSettings {
    /// Reads the file, if there is one.
    pub fn load(file: &Path) -> Result<Self> {
        if !file.exists() {
            return Ok(DEFAULT_SETTINGS);
        }
        Config::load(file).map(|config| Self::from_config(&config))
    }

    /// What the settings say.
    pub fn from_config(config: &Config) -> Self {
        let small = |name: &str| usize::try_from(config.get_number(name)).unwrap_or(usize::MAX);
        let tokens = |name: &str| u32::try_from(config.get_number(name)).unwrap_or(u32::MAX);
        Self {
            limits: RecallLimits {
                start_tokens: tokens("recall.start_tokens"),
                index_rows: small("recall.index_rows"),
                summaries: small("recall.summaries"),
                prompt_tokens: tokens("recall.prompt_tokens"),
            },
            suggests: config.get_flag("recall.suggest_saves"),
            guard: small("recall.guard_edits"),
            greets: config.get_flag("ui.greet"),
            embeds: config.get_text("search.model") != "off",
        }
    }
}

impl Default for RecallSettings {
    fn default() -> Self {
        DEFAULT_SETTINGS
    }
}

/// The worker's reply as a query takes it; `None` if it is of another model or
/// no vector.
pub fn embedding_of(reply: &EncodedEmbedding) -> Option<Embedding> {
    let meaning = Embedding::from_bytes(&reply.bytes)?;
    (reply.model == MODEL_ID && meaning.dims() == EMBEDDING_DIMS).then_some(meaning)
}

/// What recall needs to know of a session, apart from what was injected.
#[derive(Debug)]
pub struct RecallEnvironment {
    place: ProjectLocation,
    files: CheckoutFiles,
    details: String,
    limits: RecallLimits,
    /// Files that git says have changed.
    pub changed: Vec<String>,
    /// The encoder's embedding of the prompt.
    pub embedding: Option<PromptEmbedding>,
}

impl RecallEnvironment {
    /// In this place; `prefix` is that of the names of our MCP tools.
    pub fn new(place: ProjectLocation, prefix: Option<&str>, limits: RecallLimits) -> Self {
        Self {
            files: CheckoutFiles {
                root: PathBuf::from(&place.project.root),
                end: None,
            },
            details: format_details_hint(prefix),
            limits,
            changed: Vec::new(),
            embedding: None,
            place,
        }
    }

    /// The same, with an end to looking at files.
    #[must_use]
    pub fn with_deadline(mut self, end: Instant) -> Self {
        self.files.end = Some(end);
        self
    }

    /// The scene of a session.
    pub fn recall_context<'a>(
        &'a self,
        session: &'a SessionId,
        given: &'a dyn InjectionHistory,
        now: i64,
    ) -> RecallContext<'a> {
        RecallContext {
            project: &self.place.project.key,
            branch: self.place.branch.as_deref(),
            session,
            now,
            changed: &self.changed,
            details: &self.details,
            disk: &self.files,
            given,
            limits: self.limits,
            embedding: self.embedding.as_ref(),
        }
    }
}

/// How more of an item is fetched: the tool of our MCP server, if the session has
/// it, and the command that is always there.
fn format_details_hint(prefix: Option<&str>) -> String {
    match prefix {
        Some(prefix) => format!("tool {prefix}get {{\"ids\":[NUMBER]}}, or `remora show NUMBER`"),
        None => "`remora show NUMBER`".to_owned(),
    }
}

/// A path as seen from the project's root.
pub fn make_relative(path: &str, root: &str, cwd: &str) -> String {
    let full = if path.starts_with('/') {
        PathBuf::from(path)
    } else {
        Path::new(cwd).join(path)
    };
    let full = normalise_path(&full);
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
        let files = CheckoutFiles {
            root: root.clone(),
            end: None,
        };
        let path = root.join("deploy.md");
        let name = path.display().to_string();
        assert_eq!(files.read_changed_memory(&name, 1, 1), Some(None));
        std::fs::write(&path, "password = hunter2hunter2\n").unwrap();
        let now = files.read_changed_memory(&name, 1, 1).unwrap().unwrap();
        assert!(now.ends_with(&name) && !now.contains("hunter2"), "{now}");
        let meta = std::fs::metadata(&path).unwrap();
        assert_eq!(
            files.read_changed_memory(&name, meta.len(), modified_nanos(&meta)),
            None
        );
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
            let files = CheckoutFiles {
                root: top.join(tree),
                end: None,
            };
            files.read_changed_memory(
                &indexed.display().to_string(),
                meta.len(),
                modified_nanos(&meta),
            )
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
        let meaning = Embedding::from_vector(&[0.5; EMBEDDING_DIMS]);
        let reply = |model: &str, bytes: Vec<u8>| {
            embedding_of(&EncodedEmbedding {
                model: model.to_owned(),
                bytes,
            })
        };
        assert_eq!(reply(MODEL_ID, meaning.to_bytes()), Some(meaning.clone()));
        assert_eq!(reply("other/1", meaning.to_bytes()), None);
        assert_eq!(
            reply(MODEL_ID, Embedding::from_vector(&[0.5; 3]).to_bytes()),
            None
        );
        assert_eq!(reply(MODEL_ID, vec![255; EMBEDDING_DIMS + 4]), None);
        assert_eq!(reply(MODEL_ID, Vec::new()), None);
    }

    #[test]
    fn the_defaults_are_those_of_the_table() {
        let table = Config::parse("").map(|config| RecallSettings::from_config(&config));
        assert_eq!(table, Ok(RecallSettings::default()));
    }
}
