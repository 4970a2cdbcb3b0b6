//! What is in the prompt when a session begins: all layers in order, then
//! AGENTS.md where it belongs, then memory.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::agents_md::MANAGED_ONLY;
use crate::file::{Announce, Kind, Loaded, Reason, Why};
use crate::load::{As, Draft, Loader, Reach, Seen, Want};
use crate::memories::{Scope, Uri};
use crate::places::{External, Mode, Options, Places};
use crate::repository::{self, Repository};
use crate::settings::{self, AgentsMode, Settings};
use crate::{agent, approval, auto_memory, disk, frontmatter, markdown, names};

/// How many named memories enter a prompt at most.
const MOST_NAMED: usize = 20;

/// Everything that holds for a session.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) places: Places,
    pub(crate) options: Options,
    pub(crate) settings: Settings,
    pub(crate) loader: Loader,
    pub(crate) repository: Option<Repository>,
    pub(crate) approved: bool,
}

/// What a start gave.
#[derive(Debug, Default)]
pub(crate) struct Start {
    pub(crate) files: Vec<Loaded>,
    /// Their paths.
    pub(crate) given: HashSet<PathBuf>,
    /// Real files that were met.
    pub(crate) seen: Seen,
    /// The CLAUDE.md that keeps AGENTS.md out.
    pub(crate) project_file: Option<PathBuf>,
}

impl Scene {
    pub(crate) fn new(mut places: Places, options: Options) -> Self {
        // A directory entered through a link is its real path everywhere.
        places.cwd = places.cwd.canonicalize().unwrap_or(places.cwd);
        let settings = settings::read(&places, &options);
        let loader = Loader::new(
            places.cwd.clone(),
            places.home.clone(),
            settings.excludes.clone(),
        );
        let repository = Repository::of(&places.cwd);
        let root = repository::project_root(repository.as_ref(), &places.cwd);
        let approved =
            options.external == External::Approved || approval::in_client(&places, &root);
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
    pub(crate) fn off(&self) -> Option<&'static str> {
        if self.options.mode == Mode::Bare {
            return Some("--bare");
        }
        let name = names::variable::DISABLE_ALL;
        self.settings.switch(&self.options, name).then_some(name)
    }

    /// The folders of the walk, outermost first.
    pub(crate) fn walk(&self) -> Vec<PathBuf> {
        let mut dirs: Vec<PathBuf> = self.loader.cwd.ancestors().map(Path::to_path_buf).collect();
        dirs.reverse();
        dirs
    }

    pub(crate) fn reach(&self) -> Reach {
        if self.approved {
            Reach::Anywhere
        } else {
            Reach::Inside
        }
    }

    pub(crate) fn rules_of(dir: &Path) -> PathBuf {
        dir.join(names::FOLDER).join(names::RULES)
    }

    /// Whether a folder of rules is the person's own, which the walk meets
    /// again in the home.
    pub(crate) fn is_user_rules(&self, folder: &Path) -> bool {
        self.options.sources.user && folder == self.places.config_dir().join(names::RULES)
    }

    pub(crate) fn start(&mut self, reason: Reason) -> Start {
        let mut start = Start::default();
        if self.off().is_some() {
            return start;
        }
        self.managed(&mut start, reason);
        let drafts = self.user(&mut start.seen);
        start.take(drafts, reason);
        self.project(&mut start, reason);
        if self.settings.agents == AgentsMode::ManagedOnly {
            for file in start.files.extract_if(.., |f| f.kind != Kind::Managed) {
                let why = Why::AgentsMode(MANAGED_ONLY);
                self.loader.skip(&file.path, file.parent.as_deref(), why);
            }
        }
        start.files.extend(self.memory(reason));
        let named = self.named_memories(&start.files);
        start.files.extend(named);
        if let Some(name) = self.options.agent.clone() {
            let gets = agent::find(self, &name).gets;
            for file in start.files.extract_if(.., |f| !gets.takes(f.kind)) {
                let why = Why::Agent(name.clone());
                self.loader.skip(&file.path, file.parent.as_deref(), why);
            }
        }
        start.given = start.files.iter().map(|f| f.path.clone()).collect();
        start
    }

    /// The organisation's file, its text in settings, its rules.
    fn managed(&mut self, start: &mut Start, reason: Reason) {
        let how = As::new(Kind::Managed, self.reach());
        let dir = self.places.managed.clone();
        if let Some(dir) = &dir {
            let file = dir.join(names::FILE);
            let drafts = self.loader.file(&file, how, &mut start.seen);
            start.take(drafts, reason);
        }
        if let Some(text) = &self.settings.managed_text
            && !text.value.trim().is_empty()
        {
            start.files.push(Loaded {
                path: names::MANAGED_TEXT.into(),
                bytes: text.value.len() as u64,
                content: text.value.trim().to_owned(),
                announce: Announce::No,
                ..blank(Kind::Managed, reason)
            });
        }
        if let Some(dir) = &dir {
            let rules = Self::rules_of(dir);
            let drafts = self
                .loader
                .rules(&rules, how, Want::Always, &mut start.seen);
            start.take(drafts, reason);
        }
    }

    fn user(&mut self, seen: &mut Seen) -> Vec<Draft> {
        let dir = self.places.config_dir();
        if !self.options.sources.user {
            self.note_off(&dir.join(names::FILE), "user");
            return Vec::new();
        }
        let how = As::new(Kind::User, Reach::Anywhere);
        let mut drafts = self.loader.file(&dir.join(names::FILE), how, seen);
        let rules = dir.join(names::RULES);
        drafts.extend(self.loader.rules(&rules, how, Want::Always, seen));
        drafts
    }

    /// The walk, added directories, and AGENTS.md between them.
    fn project(&mut self, start: &mut Start, reason: Reason) {
        let mut drafts = Vec::new();
        for dir in self.walk() {
            let repeated = self.repository.as_ref().is_some_and(|r| r.repeats(&dir));
            let project = self.options.sources.project && !repeated;
            if repeated {
                for file in project_files(&dir) {
                    self.note(&file, Why::Worktree);
                }
            }
            drafts.extend(self.directory(&dir, project, &mut start.seen));
        }
        start.project_file = self.project_file(&start.files, &drafts);
        drafts.extend(self.added(&mut start.seen));
        let mut agents = self.agents(start, &drafts).into_iter().peekable();
        for (number, draft) in drafts.into_iter().enumerate() {
            while let Some((_, drafts)) = agents.next_if(|(at, _)| *at == number) {
                start.take_silent(drafts, reason);
            }
            start.take([draft], reason);
        }
        for (_, drafts) in agents {
            start.take_silent(drafts, reason);
        }
    }

    /// A file that counts as "the project has a CLAUDE.md": one of that name
    /// on the walk, or that the walk met among its rules.
    fn project_file(&self, files: &[Loaded], walk: &[Draft]) -> Option<PathBuf> {
        let own = self.places.config_dir().join(names::FILE);
        let own = self.options.sources.user.then_some(own);
        let named = |path: &Path| path.ends_with(names::FILE) || path.ends_with(names::LOCAL_FILE);
        let on_walk = |path: &Path| {
            let dir = path.parent().unwrap_or(path);
            let in_folder = path.ends_with(names::FILE) && dir.ends_with(names::FOLDER);
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
            .find(|(path, met)| named(path) && (*met || on_walk(path)))
            .map(|(path, _)| path.clone())
    }

    /// One directory's files at the start.
    fn directory(&mut self, dir: &Path, project: bool, seen: &mut Seen) -> Vec<Draft> {
        let mut drafts = Vec::new();
        let how = As::new(Kind::Project, self.reach());
        let files = project_files(dir);
        if project {
            for file in &files {
                drafts.extend(self.loader.file(file, how, seen));
            }
            let rules = Self::rules_of(dir);
            drafts.extend(self.loader.rules(&rules, how, Want::Always, seen));
        } else if !self.options.sources.project {
            for file in &files {
                self.note_off(file, "project");
            }
        }
        let local = dir.join(names::LOCAL_FILE);
        if self.options.sources.local {
            let how = As {
                kind: Kind::Local,
                ..how
            };
            drafts.extend(self.loader.file(&local, how, seen));
        } else {
            self.note_off(&local, "local");
        }
        drafts
    }

    /// Added directories load their project files whatever the sources say.
    fn added(&mut self, seen: &mut Seen) -> Vec<Draft> {
        let mut drafts = Vec::new();
        let on = self
            .settings
            .switch(&self.options, names::variable::ADDED_DIRECTORIES);
        for dir in self.places.added.clone() {
            if on {
                drafts.extend(self.directory(&dir, true, seen));
            } else {
                self.note(&dir.join(names::FILE), Why::AddedDirectory);
            }
        }
        drafts
    }

    /// The folder of memories that the client keeps for this project.
    pub(crate) fn memory_folder(&self) -> PathBuf {
        let home = &self.places.home;
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
        let named = named.filter(|_| self.places.config_dir.is_some());
        let name = named.cloned().unwrap_or_else(|| {
            let root = repository::project_root(self.repository.as_ref(), &self.loader.cwd);
            auto_memory::slug(&root.to_string_lossy())
        });
        let projects = self.places.config_dir().join(names::PROJECTS);
        projects.join(name).join(names::MEMORY)
    }

    pub(crate) fn team_folder(&self) -> PathBuf {
        repository::team_folder(self.repository.as_ref(), &self.loader.cwd)
    }

    /// Whether auto memory is on, else what switched it off.
    pub(crate) fn memory_off(&self) -> Option<&'static str> {
        let name = names::variable::DISABLE_AUTO_MEMORY;
        match self.settings.variable(&self.options, name) {
            Some(word) if settings::is_on(word) => Some(name),
            Some(word) if settings::is_off(word) => None,
            _ if self.settings.auto_memory == Some(false) => Some(names::key::AUTO_MEMORY),
            _ => None,
        }
    }

    fn memory(&mut self, reason: Reason) -> Vec<Loaded> {
        let mut files = Vec::new();
        let auto = self.memory_folder().join(names::INDEX);
        match self.memory_off() {
            Some(what) => self.note(&auto, Why::Off(what)),
            None => files.extend(self.index(&auto, Kind::AutoMem, reason)),
        }
        let team = self.team_folder().join(names::INDEX);
        if self.options.sources.project {
            files.extend(self.index(&team, Kind::TeamMem, reason));
        } else {
            self.note_off(&team, "project");
        }
        files
    }

    /// An index: cleaned, trimmed, cut; imports in it are not followed.
    fn index(&mut self, file: &Path, kind: Kind, reason: Reason) -> Option<Loaded> {
        let bytes = match disk::read(file) {
            Ok(bytes) => bytes,
            Err(disk::Refused::Missing) => return None,
            Err(why) => {
                self.note(file, Why::NotRead(why.to_string()));
                return None;
            }
        };
        let text = clean(&bytes);
        if text.is_empty() {
            self.note(file, Why::Empty);
            return None;
        }
        let index = auto_memory::index(&text);
        if let Some(warning) = index.warning() {
            let words = warning.trim_start_matches("> WARNING: ");
            let warning = format!("{}: {words}", file.display());
            self.loader.warnings.push(warning);
        }
        Some(Loaded {
            path: file.to_path_buf(),
            bytes: bytes.len() as u64,
            content: index.rendered(),
            announce: Announce::No,
            ..blank(kind, reason)
        })
    }

    /// The folder of memories of a scope.
    pub(crate) fn folder_of(&self, scope: Scope) -> Option<PathBuf> {
        match scope {
            Scope::Project => Some(self.memory_folder()),
            Scope::Team => Some(self.team_folder()),
            Scope::User => self.places.user_memories.clone(),
        }
    }

    /// Memories that instruction files name as `memory://`.
    fn named_memories(&mut self, files: &[Loaded]) -> Vec<Loaded> {
        let mut named: Vec<Loaded> = Vec::new();
        for file in files {
            for uri in Uri::all_in(&file.content) {
                if named.len() >= MOST_NAMED {
                    return named;
                }
                let Some(folder) = self.folder_of(uri.scope) else {
                    continue;
                };
                let path = folder.join(uri.name.file());
                if named.iter().any(|n| n.path == path) {
                    continue;
                }
                let kind = match uri.scope {
                    Scope::Team => Kind::TeamMem,
                    Scope::Project | Scope::User => Kind::AutoMem,
                };
                match disk::read(&path).map(|bytes| (bytes.len() as u64, clean(&bytes))) {
                    Ok((_, content)) if content.is_empty() => {}
                    Ok((bytes, content)) => named.push(Loaded {
                        path,
                        parent: Some(file.path.clone()),
                        bytes,
                        content,
                        announce: Announce::No,
                        ..blank(kind, Reason::Include)
                    }),
                    Err(why) => {
                        let why = Why::NotRead(format!("{uri}: {why}"));
                        self.loader.skip(&path, Some(&file.path), why);
                    }
                }
            }
        }
        named
    }

    /// Writes down why a file stays out, if there is such a file.
    pub(crate) fn note(&mut self, path: &Path, why: Why) {
        if path.is_file() {
            self.loader.skip(path, None, why);
        }
    }

    fn note_off(&mut self, path: &Path, source: &'static str) {
        self.note(path, Why::SourceOff(source));
    }
}

/// Decoded, without frontmatter and comments, trimmed.
fn clean(bytes: &[u8]) -> String {
    let text = markdown::decode(bytes);
    let (_, body) = frontmatter::split(&text);
    markdown::trim(&markdown::read(body).text).to_owned()
}

/// The instruction files of a directory that a project shares.
pub(crate) fn project_files(dir: &Path) -> [PathBuf; 2] {
    [
        dir.join(names::FILE),
        dir.join(names::FOLDER).join(names::FILE),
    ]
}

impl Start {
    fn take(&mut self, drafts: impl IntoIterator<Item = Draft>, reason: Reason) {
        let loaded = drafts.into_iter().map(|d| entry(d, reason, Announce::Yes));
        self.files.extend(loaded);
    }

    fn take_silent(&mut self, drafts: Vec<Draft>, reason: Reason) {
        let loaded = drafts.into_iter().map(|d| entry(d, reason, Announce::No));
        self.files.extend(loaded);
    }
}

/// A draft as what people see.
pub(crate) fn entry(draft: Draft, reason: Reason, announce: Announce) -> Loaded {
    Loaded {
        reason: match draft.parent {
            Some(_) => Reason::Include,
            None => reason,
        },
        path: draft.path,
        parent: draft.parent,
        bytes: draft.bytes,
        content: draft.content,
        announce,
        ..blank(draft.kind, reason)
    }
}

fn blank(kind: Kind, reason: Reason) -> Loaded {
    Loaded {
        path: PathBuf::new(),
        kind,
        reason,
        parent: None,
        globs: None,
        trigger: None,
        bytes: 0,
        content: String::new(),
        announce: Announce::Yes,
    }
}
