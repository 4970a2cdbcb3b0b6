//! A checkout that git can be asked about.
//!
//! Git reads a repository's configuration from its common directory, and
//! `GIT_COMMON_DIR` can name another one. A directory of ours replaces
//! it: a `config` with a few harmless values copied from the repository's, no
//! attributes, no hooks, no remotes. Index and objects are the repository's.
//! Branches are not seen through it, so commits are named by their ids; those
//! come from `rev-parse` and `for-each-ref`, which look at no contents and run
//! nothing.

use std::fs::{self, File};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use remora_core::git::parse_gitdir_pointer;
use remora_files::read_text;
use tempfile::TempDir;

use crate::Git;
use crate::run::{CancelToken, GitInvocation, GitOutcome, RecordFormat};

/// What `.git`, `commondir` or `HEAD` may hold.
const MAX_POINTER_BYTES: u64 = 16 * 1024;
/// What the list of commits at which a shallow clone ends may hold.
const MAX_SHALLOW_BYTES: u64 = 4 * 1024 * 1024;
/// Branches and tags whose history is read.
const MAX_REFS: usize = 50_000;
/// The tree without files, which git knows in every repository.
const EMPTY_TREE_SHA1: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
const EMPTY_TREE_SHA256: &str = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321";

/// Settings that describe how files are stored on this disk. Nothing else of a
/// repository's configuration reaches git.
const COPIED_SETTINGS: &[(&str, &[&str])] = &[
    ("core.autocrlf", &["true", "false", "input"]),
    ("core.eol", &["lf", "crlf", "native"]),
    ("core.filemode", &["true", "false"]),
    ("core.ignorecase", &["true", "false"]),
    ("core.precomposeunicode", &["true", "false"]),
    ("core.symlinks", &["true", "false"]),
];

/// Where the checkout of a folder may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckoutSearch {
    /// In the folder itself: one above must not answer for a damaged one.
    Here,
    /// In the folder or above it.
    Upwards,
}

/// What git can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GitCommand {
    /// What differs from a commit.
    Diff,
    /// Commits and what they changed.
    Log,
    /// Files that the index knows, or does not.
    ListFiles,
}

impl GitCommand {
    /// The command, and what must be said on its line. Submodules are left
    /// out: git would run in each of them with its own configuration.
    fn fixed_args(self) -> &'static [&'static str] {
        const PLAIN: [&str; 4] = [
            // Attributes can name these programs; without the repository's
            // configuration they are not defined, and this line holds even if
            // they were.
            "--no-ext-diff",
            "--no-textconv",
            "--ignore-submodules=all",
            "--no-color",
        ];
        const DIFF: [&str; 5] = ["diff", PLAIN[0], PLAIN[1], PLAIN[2], PLAIN[3]];
        const LOG: [&str; 6] = [
            "log",
            "--no-show-signature",
            PLAIN[0],
            PLAIN[1],
            PLAIN[2],
            PLAIN[3],
        ];
        match self {
            Self::Diff => &DIFF,
            Self::Log => &LOG,
            Self::ListFiles => &["ls-files"],
        }
    }
}

/// A checkout, ready to be asked.
#[derive(Debug)]
pub struct Checkout<'a> {
    git: &'a Git,
    cancel: CancelToken,
    /// The folder in which git runs.
    folder: PathBuf,
    top: PathBuf,
    own: PathBuf,
    shared: PathBuf,
    head: Option<String>,
    branch: Option<String>,
    stand_in: TempDir,
}

impl Git {
    /// The checkout that `folder` lies in. [`GitOutcome::Failed`] where there is none,
    /// git is absent or does not know it.
    pub fn open(
        &self,
        folder: &Path,
        search: CheckoutSearch,
        cancel: &CancelToken,
    ) -> Result<Checkout<'_>, GitOutcome> {
        let mut checkout = self
            .find_checkout(folder, search, cancel)
            .ok_or(GitOutcome::Failed)?;
        // Before the stand-in: names are resolved with the repository's own
        // directory, contents are read without it.
        checkout.find_head()?;
        checkout.write_stand_in().map_err(|_| GitOutcome::Failed)?;
        Ok(checkout)
    }

    fn find_checkout(
        &self,
        folder: &Path,
        search: CheckoutSearch,
        cancel: &CancelToken,
    ) -> Option<Checkout<'_>> {
        self.program.as_ref()?;
        let GitFolders { top, own, shared } = GitFolders::find(folder, search)?;
        Some(Checkout {
            git: self,
            cancel: cancel.clone(),
            folder: folder.to_path_buf(),
            top,
            own,
            shared,
            head: None,
            branch: None,
            stand_in: tempfile::Builder::new()
                .prefix("remora-git-")
                .tempdir()
                .ok()?,
        })
    }
}

/// Where git keeps its files of a checkout, as those files say. Nothing of it is
/// proof: a pointer may lead into another repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitFolders {
    /// Where the checkout begins.
    pub top: PathBuf,
    /// What is the checkout's own: `HEAD` and the index.
    pub own: PathBuf,
    /// What it shares with other worktrees: configuration, objects, branches.
    pub shared: PathBuf,
}

impl GitFolders {
    /// Those of the checkout that `folder` lies in.
    #[must_use]
    pub fn find(folder: &Path, search: CheckoutSearch) -> Option<Self> {
        let top = folder
            .ancestors()
            .take(match search {
                CheckoutSearch::Here => 1,
                CheckoutSearch::Upwards => usize::MAX,
            })
            .find(|dir| fs::symlink_metadata(dir.join(".git")).is_ok())?;
        let own = git_directory(top)?;
        // Nothing is verified here: git itself is asked next and judges (design
        // note 0029).
        let shared = match read_text(&own.join("commondir"), MAX_POINTER_BYTES) {
            Ok(path) => own.join(path.trim()),
            Err(error) if error.is_missing() => own.clone(),
            Err(_) => return None,
        };
        Some(Self {
            top: top.to_path_buf(),
            own,
            shared,
        })
    }
}

/// The `.git` of a checkout, or what it points to.
fn git_directory(top: &Path) -> Option<PathBuf> {
    let dot = top.join(".git");
    if fs::metadata(&dot).ok()?.is_dir() {
        return Some(dot);
    }
    let text = read_text(&dot, MAX_POINTER_BYTES).ok()?;
    Some(top.join(parse_gitdir_pointer(&text)?))
}

impl Checkout<'_> {
    /// The commit that is checked out; `None` before the first one.
    #[must_use]
    pub fn head(&self) -> Option<&str> {
        self.head.as_deref()
    }

    /// The branch that is checked out.
    #[must_use]
    pub fn branch(&self) -> Option<&str> {
        self.branch.as_deref()
    }

    /// What a comparison starts from: the last commit, or a tree without files.
    #[must_use]
    pub fn diff_base(&self) -> &str {
        match &self.head {
            Some(head) => head,
            None if self.is_sha256() => EMPTY_TREE_SHA256,
            None => EMPTY_TREE_SHA1,
        }
    }

    /// The repository's own list of ignored files, for `--exclude-from`.
    #[must_use]
    pub fn exclude_file(&self) -> Option<PathBuf> {
        let file = self.shared.join("info/exclude");
        fs::metadata(&file)
            .is_ok_and(|about| about.is_file())
            .then_some(file)
    }

    /// Asks a question. `arguments` are written by us; commits are named by
    /// their ids.
    pub fn ask_git(
        &self,
        command: GitCommand,
        arguments: &[&str],
        records: RecordFormat,
        on_record: impl FnMut(&[u8]) -> ControlFlow<()>,
    ) -> GitOutcome {
        self.ask_contents(command, arguments, None, records, on_record)
    }

    /// The log of all branches and tags.
    pub fn ask_log_of_all_refs(
        &self,
        arguments: &[&str],
        records: RecordFormat,
        on_record: impl FnMut(&[u8]) -> ControlFlow<()>,
    ) -> GitOutcome {
        let Ok((file, is_cut)) = self.list_refs() else {
            return GitOutcome::Failed;
        };
        let arguments: Vec<&str> = ["--stdin"].iter().chain(arguments).copied().collect();
        match self.ask_contents(GitCommand::Log, &arguments, Some(file), records, on_record) {
            GitOutcome::Complete if is_cut => GitOutcome::Cut,
            end => end,
        }
    }

    fn ask_contents(
        &self,
        command: GitCommand,
        arguments: &[&str],
        stdin: Option<File>,
        records: RecordFormat,
        on_record: impl FnMut(&[u8]) -> ControlFlow<()>,
    ) -> GitOutcome {
        let arguments: Vec<&str> = command
            .fixed_args()
            .iter()
            .chain(arguments)
            .copied()
            .collect();
        let objects = self.shared.join("objects");
        let variables = [
            ("GIT_DIR", self.own.as_path()),
            // The point of this file: filters, hooks and remotes of the
            // repository do not exist for git.
            ("GIT_COMMON_DIR", self.stand_in.path()),
            ("GIT_OBJECT_DIRECTORY", objects.as_path()),
            ("GIT_WORK_TREE", self.top.as_path()),
        ];
        let question = GitInvocation {
            git: self.git,
            cancel: &self.cancel,
            folder: &self.folder,
            variables: &variables,
            arguments: &arguments,
            stdin,
        };
        question.run(records, on_record)
    }

    /// Asks with the repository's own configuration, so only what looks at no
    /// contents.
    fn ask_names(
        &self,
        arguments: &[&str],
        mut on_line: impl FnMut(&str) -> ControlFlow<()>,
    ) -> GitOutcome {
        // Reading refs runs nothing that a configuration can name.
        let variables = [("GIT_DIR", self.own.as_path())];
        let question = GitInvocation {
            git: self.git,
            cancel: &self.cancel,
            folder: &self.top,
            variables: &variables,
            arguments,
            stdin: None,
        };
        question.run(RecordFormat::Lines, |line| {
            match std::str::from_utf8(line) {
                Ok(line) => on_line(line),
                Err(_) => ControlFlow::Continue(()),
            }
        })
    }

    fn find_head(&mut self) -> Result<(), GitOutcome> {
        let mut lines = Vec::new();
        let question = ["rev-parse", "HEAD", "--symbolic-full-name", "HEAD"];
        let end = self.ask_names(&question, |line| {
            lines.push(line.to_owned());
            ControlFlow::Continue(())
        });
        match (end, lines.as_slice()) {
            (GitOutcome::Complete, [head, name]) if is_id(head) => {
                self.head = Some(head.clone());
                self.branch = branch_of(name);
                Ok(())
            }
            // A repository without a commit has no HEAD to resolve, and is no
            // error.
            (GitOutcome::Failed, _) => self.find_unborn_branch().ok_or(GitOutcome::Failed),
            (GitOutcome::Complete, _) => Err(GitOutcome::Failed),
            (end, _) => Err(end),
        }
    }

    /// Before the first commit there is nothing to resolve.
    fn find_unborn_branch(&mut self) -> Option<()> {
        let text = read_text(&self.own.join("HEAD"), MAX_POINTER_BYTES).ok()?;
        let name = text.strip_prefix("ref:")?.trim();
        // A file called HEAD is not yet a repository; git must know it.
        let known = self.ask_names(&["rev-parse", "--git-dir"], |_| ControlFlow::Continue(()));
        self.branch = branch_of(name);
        (known == GitOutcome::Complete).then_some(())
    }

    fn is_sha256(&self) -> bool {
        let config = read_text(&self.shared.join("config"), 1024 * 1024);
        let head = self.head.as_ref();
        head.map_or_else(
            || config.is_ok_and(|text| text.to_ascii_lowercase().contains("sha256")),
            |head| head.len() == 64,
        )
    }

    /// Writes the directory that replaces the repository's.
    fn write_stand_in(&self) -> io::Result<()> {
        let folder = self.stand_in.path();
        // git takes a directory for a repository only if it has these.
        fs::create_dir(folder.join("objects"))?;
        fs::create_dir(folder.join("refs"))?;
        // Extensions such as the object format count from version 1 on.
        let version = u8::from(self.is_sha256());
        let mut config = format!("[core]\nrepositoryformatversion = {version}\nbare = false\n");
        for (name, value) in self.copied_settings() {
            config.extend([name, " = ", value, "\n"]);
        }
        if self.is_sha256() {
            config.push_str("[extensions]\nobjectFormat = sha256\n");
        }
        fs::write(folder.join("config"), config)?;
        // Without it git would look for commits that were never fetched.
        if let Ok(text) = read_text(&self.shared.join("shallow"), MAX_SHALLOW_BYTES) {
            let ids = text.lines().filter(|line| is_id(line));
            let ids: String = ids.flat_map(|id| [id, "\n"]).collect();
            fs::write(folder.join("shallow"), ids)?;
        }
        Ok(())
    }

    /// The settings of [`COPIED_SETTINGS`], each with a value out of its list. Files
    /// that the configuration includes are not read.
    fn copied_settings(&self) -> Vec<(&'static str, &'static str)> {
        let file = self.shared.join("config");
        let (Some(file), true) = (file.to_str(), file.is_file()) else {
            return Vec::new();
        };
        let arguments = ["config", "--file", file, "--no-includes", "--list", "-z"];
        let question = GitInvocation {
            git: self.git,
            cancel: &self.cancel,
            // Outside of any repository, so that git reads this one file and no
            // other configuration.
            folder: Path::new("/"),
            variables: &[],
            arguments: &arguments,
            stdin: None,
        };
        let mut copied = Vec::new();
        question.run(RecordFormat::Zero, |record| {
            let text = String::from_utf8_lossy(record);
            let (name, value) = text.split_once('\n').unwrap_or((&text, "true"));
            let row = COPIED_SETTINGS.iter().find(|(known, _)| *known == name);
            if let Some((name, values)) = row
                // Our own spelling is written, never the repository's bytes.
                && let Some(value) = values.iter().find(|v| v.eq_ignore_ascii_case(value))
            {
                copied.push((name.trim_start_matches("core."), *value));
            }
            ControlFlow::Continue(())
        });
        copied
    }

    /// A file with the ids of all branches and tags, and whether some were
    /// left out.
    fn list_refs(&self) -> io::Result<(File, bool)> {
        let mut text = String::new();
        let mut count = 0;
        if let Some(head) = &self.head {
            text.push_str(head);
            text.push('\n');
        }
        let question = ["for-each-ref", "--format=%(objectname)"];
        let end = self.ask_names(&question, |line| {
            if count == MAX_REFS {
                return ControlFlow::Break(());
            }
            if is_id(line) {
                count += 1;
                text.push_str(line);
                text.push('\n');
            }
            ControlFlow::Continue(())
        });
        // In a file, not as arguments: a repository may have more refs than a
        // command line holds.
        let path = self.stand_in.path().join("commits");
        fs::write(&path, text)?;
        Ok((File::open(path)?, end != GitOutcome::Complete))
    }
}

fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit())
}

fn branch_of(name: &str) -> Option<String> {
    let branch = name.strip_prefix("refs/heads/")?;
    // Where branches lie in tables, the file HEAD says so with this name.
    (branch != ".invalid").then(|| branch.to_owned())
}
