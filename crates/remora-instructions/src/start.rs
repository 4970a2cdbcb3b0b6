//! What is in the prompt when a session begins: all layers in order, then
//! AGENTS.md where it belongs, then memory.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::agents_md::MANAGED_ONLY;
use crate::file::{HookNotice, InstructionKind, LoadReason, LoadedFile, SkipReason};
use crate::load::{FileRole, ImportScope, LoadedPaths, Loader, PendingFile, RuleSelection};
use crate::memory_uri::{MemoryScope, MemoryUri};
use crate::paths::{ExternalImports, InstructionOptions, InstructionPaths, LoadMode};
use crate::repository::{self, Repository};
use crate::settings::{self, AgentsMode, Settings};
use crate::{agent, approval, auto_memory, disk, frontmatter, markdown, names};

/// How many named memories enter a prompt at most; nothing unbounded may.
const MAX_NAMED_MEMORIES: usize = 20;

/// Everything that holds for a session.
#[derive(Debug)]
pub(crate) struct LoadContext {
    pub(crate) places: InstructionPaths,
    pub(crate) options: InstructionOptions,
    pub(crate) settings: Settings,
    pub(crate) loader: Loader,
    pub(crate) repository: Option<Repository>,
    pub(crate) approved: bool,
}

/// What the start of a session loads.
#[derive(Debug, Default)]
pub(crate) struct StartFiles {
    pub(crate) files: Vec<LoadedFile>,
    /// The paths that these files are listed under.
    pub(crate) known_paths: HashSet<PathBuf>,
    /// Real files that were loaded, with the path each is listed under.
    pub(crate) seen: LoadedPaths,
    /// The CLAUDE.md that keeps AGENTS.md out.
    pub(crate) project_file: Option<PathBuf>,
}

impl LoadContext {
    pub(crate) fn new(mut places: InstructionPaths, options: InstructionOptions) -> Self {
        // As in the client, a directory entered through a link is its real path everywhere: in
        // headings, in patterns and in the name of the memory folder.
        places.cwd = places.cwd.canonicalize().unwrap_or(places.cwd);
        let settings = settings::load_settings(&places, &options);
        let loader = Loader::new(
            places.cwd.clone(),
            places.home.clone(),
            settings.excludes.clone(),
        );
        let repository = Repository::find_containing(&places.cwd);
        // Approval is stored per project, so a worktree shares that of its main checkout.
        let root = repository::project_root(repository.as_ref(), &places.cwd);
        let approved =
            options.external == ExternalImports::Approved || approval::in_client(&places, &root);
        Self {
            places,
            options,
            settings,
            loader,
            repository,
            approved,
        }
    }

    /// What switches everything off, if something does.
    pub(crate) fn disabled_by(&self) -> Option<&'static str> {
        if self.options.mode == LoadMode::Bare {
            return Some("--bare");
        }
        let name = names::variable::DISABLE_ALL;
        self.settings
            .is_switched_on(&self.options, name)
            .then_some(name)
    }

    /// The folders of the walk, outermost first.
    pub(crate) fn walk_directories(&self) -> Vec<PathBuf> {
        let mut dirs: Vec<PathBuf> = self.loader.cwd.ancestors().map(Path::to_path_buf).collect();
        dirs.reverse();
        dirs
    }

    pub(crate) fn import_scope(&self) -> ImportScope {
        if self.approved {
            ImportScope::Anywhere
        } else {
            ImportScope::Inside
        }
    }

    pub(crate) fn rules_of(dir: &Path) -> PathBuf {
        dir.join(names::SETTINGS_DIR).join(names::RULES_DIR)
    }

    /// Whether a folder of rules is the user's own. In a project below the home
    /// the walk comes across it again.
    pub(crate) fn is_user_rules(&self, folder: &Path) -> bool {
        self.options.sources.user && folder == self.places.config_dir().join(names::RULES_DIR)
    }

    pub(crate) fn start(&mut self, reason: LoadReason) -> StartFiles {
        let mut start = StartFiles::default();
        if self.disabled_by().is_some() {
            return start;
        }
        // One set of real paths for the whole start: a file that several layers name belongs
        // to the first of them, with that layer's label and import scope.
        self.load_managed(&mut start, reason);
        let drafts = self.load_user(&mut start.seen);
        start.add_files(drafts, reason);
        self.load_project(&mut start, reason);
        // Loaded first and dropped here, so that each can be reported as left out.
        if self.settings.agents == AgentsMode::ManagedOnly {
            for file in start
                .files
                .extract_if(.., |f| f.kind != InstructionKind::Managed)
            {
                let why = SkipReason::AgentsMode(MANAGED_ONLY);
                self.loader
                    .record_skip(&file.path, file.parent.as_deref(), why);
            }
        }
        // After the filter: `managed-only` keeps memory.
        start.files.extend(self.load_memory_indexes(reason));
        // Last, because any file above may name a memory.
        let named = self.named_memories(&start.files);
        start.files.extend(named);
        if let Some(name) = self.options.agent.clone() {
            let gets = agent::load_subagent(self, &name).gets;
            for file in start.files.extract_if(.., |f| !gets.includes_kind(f.kind)) {
                let why = SkipReason::Agent(name.clone());
                self.loader
                    .record_skip(&file.path, file.parent.as_deref(), why);
            }
        }
        start.known_paths = start.files.iter().map(|f| f.path.clone()).collect();
        start
    }

    /// The organisation's file, its text in settings, its rules.
    fn load_managed(&mut self, start: &mut StartFiles, reason: LoadReason) {
        // Managed files may not import from outside either, until the project approved it.
        let how = FileRole::new(InstructionKind::Managed, self.import_scope());
        let dir = self.places.managed.clone();
        if let Some(dir) = &dir {
            let file = dir.join(names::INSTRUCTION_FILE);
            let drafts = self.loader.load_file(&file, how, &mut start.seen);
            start.add_files(drafts, reason);
        }
        // Raw: the client neither cleans this text nor follows imports in it.
        if let Some(text) = &self.settings.managed_text
            && !text.value.trim().is_empty()
        {
            start.files.push(LoadedFile {
                path: names::MANAGED_TEXT_PATH.into(),
                bytes: text.value.len() as u64,
                content: text.value.trim().to_owned(),
                announce: HookNotice::No,
                ..empty_loaded_file(InstructionKind::Managed, reason)
            });
        }
        if let Some(dir) = &dir {
            let rules = Self::rules_of(dir);
            let drafts =
                self.loader
                    .load_rules(&rules, how, RuleSelection::Always, &mut start.seen);
            start.add_files(drafts, reason);
        }
    }

    fn load_user(&mut self, seen: &mut LoadedPaths) -> Vec<PendingFile> {
        let dir = self.places.config_dir();
        if !self.options.sources.user {
            self.note_off(&dir.join(names::INSTRUCTION_FILE), "user");
            return Vec::new();
        }
        // Only the user's own files import anything without approval: the user wrote them.
        let how = FileRole::new(InstructionKind::User, ImportScope::Anywhere);
        let mut drafts = self
            .loader
            .load_file(&dir.join(names::INSTRUCTION_FILE), how, seen);
        let rules = dir.join(names::RULES_DIR);
        drafts.extend(
            self.loader
                .load_rules(&rules, how, RuleSelection::Always, seen),
        );
        drafts
    }

    /// The walk, added directories, and AGENTS.md between them.
    fn load_project(&mut self, start: &mut StartFiles, reason: LoadReason) {
        let mut drafts = Vec::new();
        for dir in self.walk_directories() {
            let repeated = self
                .repository
                .as_ref()
                .is_some_and(|r| r.is_in_outer_checkout(&dir));
            // A worktree inside its main repository has its own copy of the project's files. The
            // main checkout's CLAUDE.local.md still loads, because it is not checked in.
            let project = self.options.sources.project && !repeated;
            if repeated {
                for file in project_files(&dir) {
                    self.record_skip_if_exists(&file, SkipReason::Worktree);
                }
            }
            drafts.extend(self.load_directory(&dir, project, &mut start.seen));
        }
        // Before the added directories: their CLAUDE.md does not hide an AGENTS.md.
        start.project_file = self.project_file(&start.files, &drafts);
        drafts.extend(self.load_added_directories(&mut start.seen));
        let mut agents = self
            .load_agents_files(start, &drafts)
            .into_iter()
            .peekable();
        for (number, draft) in drafts.into_iter().enumerate() {
            while let Some((_, drafts)) = agents.next_if(|(at, _)| *at == number) {
                start.take_silent(drafts, reason);
            }
            start.add_files([draft], reason);
        }
        for (_, drafts) in agents {
            start.take_silent(drafts, reason);
        }
    }

    /// A file that counts as "the project has a CLAUDE.md": one of that name
    /// on the walk, or that the walk met among its rules.
    fn project_file(&self, files: &[LoadedFile], walk: &[PendingFile]) -> Option<PathBuf> {
        // The user's own file does not count as the project's, even if the home is above it.
        let own = self.places.config_dir().join(names::INSTRUCTION_FILE);
        let own = self.options.sources.user.then_some(own);
        let named = |path: &Path| {
            path.ends_with(names::INSTRUCTION_FILE) || path.ends_with(names::LOCAL_INSTRUCTION_FILE)
        };
        let on_walk = |path: &Path| {
            let dir = path.parent().unwrap_or(path);
            let in_folder =
                path.ends_with(names::INSTRUCTION_FILE) && dir.ends_with(names::SETTINGS_DIR);
            let dir = if in_folder {
                dir.parent().unwrap_or(dir)
            } else {
                dir
            };
            self.loader.cwd.starts_with(dir) && own.as_deref() != Some(path)
        };
        let loaded = files.iter().map(|f| (&f.path, false));
        let drafts = walk.iter().map(|d| (&d.path, d.parent.is_none()));
        loaded
            .chain(drafts)
            .find(|(path, known)| named(path) && (*known || on_walk(path)))
            .map(|(path, _)| path.clone())
    }

    /// One directory's files at the start.
    fn load_directory(
        &mut self,
        dir: &Path,
        project: bool,
        seen: &mut LoadedPaths,
    ) -> Vec<PendingFile> {
        let mut drafts = Vec::new();
        let how = FileRole::new(InstructionKind::Project, self.import_scope());
        let files = project_files(dir);
        if project {
            for file in &files {
                drafts.extend(self.loader.load_file(file, how, seen));
            }
            let rules = Self::rules_of(dir);
            drafts.extend(
                self.loader
                    .load_rules(&rules, how, RuleSelection::Always, seen),
            );
        } else if !self.options.sources.project {
            for file in &files {
                self.note_off(file, "project");
            }
        }
        let local = dir.join(names::LOCAL_INSTRUCTION_FILE);
        if self.options.sources.local {
            let how = FileRole {
                kind: InstructionKind::Local,
                ..how
            };
            drafts.extend(self.loader.load_file(&local, how, seen));
        } else {
            self.note_off(&local, "local");
        }
        drafts
    }

    /// Added directories load their project files whatever the sources say.
    fn load_added_directories(&mut self, seen: &mut LoadedPaths) -> Vec<PendingFile> {
        let mut drafts = Vec::new();
        let on = self
            .settings
            .is_switched_on(&self.options, names::variable::ADDED_DIRECTORIES);
        // `project` is always true here: the client ignores `--setting-sources` for them.
        for dir in self.places.added.clone() {
            if on {
                drafts.extend(self.load_directory(&dir, true, seen));
            } else {
                self.record_skip_if_exists(
                    &dir.join(names::INSTRUCTION_FILE),
                    SkipReason::AddedDirectory,
                );
            }
        }
        drafts
    }

    /// The folder of memories that the client keeps for this project.
    pub(crate) fn memory_folder(&self) -> PathBuf {
        let home = &self.places.home;
        // From any layer, the project's included: the client honours it there, too. A relative
        // path is ignored.
        if let Some(dir) = &self.settings.auto_memory_directory {
            if let Some(rest) = dir.strip_prefix("~/") {
                return home.join(rest);
            }
            if Path::new(dir).is_absolute() {
                return dir.into();
            }
        }
        let variables = &self.options.variables;
        let named = variables.get(names::variable::PROJECT_DIR_NAME);
        // The client honours this variable only together with its own configuration directory.
        let named = named.filter(|_| self.places.config_dir.is_some());
        let name = named.cloned().unwrap_or_else(|| {
            let root = repository::project_root(self.repository.as_ref(), &self.loader.cwd);
            auto_memory::slugify_path(&root.to_string_lossy())
        });
        let projects = self.places.config_dir().join(names::PROJECTS_DIR);
        projects.join(name).join(names::MEMORY_DIR)
    }

    pub(crate) fn team_folder(&self) -> PathBuf {
        repository::team_folder(self.repository.as_ref(), &self.loader.cwd)
    }

    /// Whether auto memory is on, else what switched it off.
    pub(crate) fn memory_off(&self) -> Option<&'static str> {
        let name = names::variable::DISABLE_AUTO_MEMORY;
        match self.settings.find_variable(&self.options, name) {
            Some(word) if settings::is_on(word) => Some(name),
            // A variable that says "not disabled" wins over the setting.
            Some(word) if settings::is_off(word) => None,
            _ if self.settings.auto_memory == Some(false) => Some(names::key::AUTO_MEMORY),
            _ => None,
        }
    }

    fn load_memory_indexes(&mut self, reason: LoadReason) -> Vec<LoadedFile> {
        let mut files = Vec::new();
        let auto = self.memory_folder().join(names::MEMORY_INDEX_FILE);
        match self.memory_off() {
            Some(what) => self.record_skip_if_exists(&auto, SkipReason::Off(what)),
            None => files.extend(self.index(&auto, InstructionKind::AutoMem, reason)),
        }
        let team = self.team_folder().join(names::MEMORY_INDEX_FILE);
        // Shared memory is checked in, so it follows the project's switch.
        if self.options.sources.project {
            files.extend(self.index(&team, InstructionKind::TeamMem, reason));
        } else {
            self.note_off(&team, "project");
        }
        files
    }

    /// Loads an index: cleaned and trimmed before it is cut, so comments do not use
    /// up its lines. Imports in it are not followed.
    fn index(
        &mut self,
        file: &Path,
        kind: InstructionKind,
        reason: LoadReason,
    ) -> Option<LoadedFile> {
        let bytes = match disk::read_bytes(file) {
            Ok(bytes) => bytes,
            Err(disk::FileReadError::Missing) => return None,
            Err(why) => {
                self.record_skip_if_exists(file, SkipReason::NotRead(why.to_string()));
                return None;
            }
        };
        let text = clean_markdown(&bytes);
        if text.is_empty() {
            self.record_skip_if_exists(file, SkipReason::Empty);
            return None;
        }
        let index = auto_memory::truncate_index(&text);
        if let Some(warning) = index.render_warning() {
            let words = warning.trim_start_matches("> WARNING: ");
            let warning = format!("{}: {words}", file.display());
            self.loader.warnings.push(warning);
        }
        Some(LoadedFile {
            path: file.to_path_buf(),
            bytes: bytes.len() as u64,
            content: index.render_with_warning(),
            announce: HookNotice::No,
            ..empty_loaded_file(kind, reason)
        })
    }

    /// The folder of memories of a scope.
    pub(crate) fn folder_of(&self, scope: MemoryScope) -> Option<PathBuf> {
        match scope {
            MemoryScope::Project => Some(self.memory_folder()),
            MemoryScope::Team => Some(self.team_folder()),
            MemoryScope::User => self.places.user_memories.clone(),
        }
    }

    /// Memories that instruction files name as `memory://`.
    fn named_memories(&mut self, files: &[LoadedFile]) -> Vec<LoadedFile> {
        let mut named: Vec<LoadedFile> = Vec::new();
        for file in files {
            for uri in MemoryUri::all_in(&file.content) {
                if named.len() >= MAX_NAMED_MEMORIES {
                    return named;
                }
                let Some(folder) = self.folder_of(uri.scope) else {
                    continue;
                };
                let path = folder.join(uri.name.file_name());
                if named.iter().any(|n| n.path == path) {
                    continue;
                }
                let kind = match uri.scope {
                    MemoryScope::Team => InstructionKind::TeamMem,
                    MemoryScope::Project | MemoryScope::User => InstructionKind::AutoMem,
                };
                match disk::read_bytes(&path)
                    .map(|bytes| (bytes.len() as u64, clean_markdown(&bytes)))
                {
                    Ok((_, content)) if content.is_empty() => {}
                    Ok((bytes, content)) => named.push(LoadedFile {
                        path,
                        parent: Some(file.path.clone()),
                        bytes,
                        content,
                        announce: HookNotice::No,
                        ..empty_loaded_file(kind, LoadReason::Include)
                    }),
                    Err(why) => {
                        let why = SkipReason::NotRead(format!("{uri}: {why}"));
                        self.loader.record_skip(&path, Some(&file.path), why);
                    }
                }
            }
        }
        named
    }

    /// Records why a file stays out, if there is such a file.
    pub(crate) fn record_skip_if_exists(&mut self, path: &Path, why: SkipReason) {
        if path.is_file() {
            self.loader.record_skip(path, None, why);
        }
    }

    fn note_off(&mut self, path: &Path, source: &'static str) {
        self.record_skip_if_exists(path, SkipReason::SourceOff(source));
    }
}

/// Decoded, without frontmatter and comments, trimmed.
fn clean_markdown(bytes: &[u8]) -> String {
    let text = markdown::decode_text(bytes);
    let (_, body) = frontmatter::split_frontmatter(&text);
    markdown::trim_text(&markdown::parse_markdown(body).text).to_owned()
}

/// The instruction files of a directory that a project shares.
pub(crate) fn project_files(dir: &Path) -> [PathBuf; 2] {
    [
        dir.join(names::INSTRUCTION_FILE),
        dir.join(names::SETTINGS_DIR).join(names::INSTRUCTION_FILE),
    ]
}

impl StartFiles {
    fn add_files(&mut self, drafts: impl IntoIterator<Item = PendingFile>, reason: LoadReason) {
        let loaded = drafts
            .into_iter()
            .map(|d| build_loaded_file(d, reason, HookNotice::Yes));
        self.files.extend(loaded);
    }

    fn take_silent(&mut self, drafts: Vec<PendingFile>, reason: LoadReason) {
        let loaded = drafts
            .into_iter()
            .map(|d| build_loaded_file(d, reason, HookNotice::No));
        self.files.extend(loaded);
    }
}

/// A draft as a file of the prompt.
pub(crate) fn build_loaded_file(
    draft: PendingFile,
    reason: LoadReason,
    announce: HookNotice,
) -> LoadedFile {
    LoadedFile {
        reason: match draft.parent {
            Some(_) => LoadReason::Include,
            None => reason,
        },
        path: draft.path,
        parent: draft.parent,
        bytes: draft.bytes,
        content: draft.content,
        announce,
        ..empty_loaded_file(draft.kind, reason)
    }
}

fn empty_loaded_file(kind: InstructionKind, reason: LoadReason) -> LoadedFile {
    LoadedFile {
        path: PathBuf::new(),
        kind,
        reason,
        parent: None,
        globs: None,
        trigger: None,
        bytes: 0,
        content: String::new(),
        announce: HookNotice::Yes,
    }
}
