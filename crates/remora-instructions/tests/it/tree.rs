//! One tree on disk, and a session in it.
//!
//! The format is described in `fixtures/instructions/README.md`.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use remora_instructions::{
    InstructionOptions, InstructionPaths, InstructionSources, Instructions, LoadMode, LoadedFile,
};
use serde_json::Value;

use crate::moved::Moved;

/// What a session showed, with the tree's own paths.
pub(crate) struct Shown {
    pub(crate) start: Vec<Entry>,
    /// What each read brought.
    pub(crate) reads: Vec<Vec<Entry>>,
    /// Files left out, and why.
    pub(crate) skipped: Vec<(String, String)>,
}

/// One file in the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) path: String,
    pub(crate) label: String,
    pub(crate) text: String,
    pub(crate) kind: String,
    pub(crate) reason: String,
    pub(crate) parent: Option<String>,
    pub(crate) globs: Option<Vec<String>>,
    pub(crate) trigger: Option<String>,
}

/// A tree below a temporary root.
pub(crate) struct Tree {
    root: PathBuf,
    moved: Moved,
    case: Value,
    folder: tempfile::TempDir,
}

impl Tree {
    /// Directories, texts, symlinks, repositories, set-up lines, modes.
    pub(crate) fn lay(case: &Value) -> Self {
        // Not below the build folder: a checkout has instruction files of its own.
        let folder = tempfile::Builder::new()
            .prefix("remora-tree-")
            .tempdir()
            .unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::set_permissions(&root, fs::Permissions::from_mode(0o755)).unwrap();
        let moved = Moved::new(&root, case);
        let tree = Self {
            case: moved.value(case),
            root,
            moved,
            folder,
        };
        tree.files();
        tree.repositories();
        tree.modes();
        tree
    }

    fn files(&self) {
        let home = self.root.join("home/dev");
        fs::create_dir_all(home.join(".claude")).unwrap();
        let files = self.case["files"].as_object().unwrap();
        let is_dir = |value: &Value| value["dir"] == true;
        for (path, _) in files.iter().filter(|(_, value)| is_dir(value)) {
            fs::create_dir_all(path).unwrap();
        }
        let texts = files
            .iter()
            .filter(|(_, value)| !is_dir(value) && value["symlink"].is_null());
        for (path, value) in texts {
            write(Path::new(path), &bytes(value));
        }
        for (path, value) in files {
            if let Some(target) = value["symlink"].as_str() {
                fs::create_dir_all(Path::new(path).parent().unwrap()).unwrap();
                symlink(target, path).unwrap();
            }
        }
        let settings = &self.case["settings"];
        if settings
            .as_object()
            .is_some_and(|settings| !settings.is_empty())
        {
            write(
                &home.join(".claude/settings.json"),
                settings.to_string().as_bytes(),
            );
        }
    }

    /// Only what is set up further needs a commit: a repository is known by its `.git`.
    fn repositories(&self) {
        let setup = strings(&self.case["setup"]);
        for folder in strings(&self.case["git"]) {
            self.run("git", &["init", "-q", "-b", "main", &folder]);
            if !setup.is_empty() {
                self.run("git", &["-C", &folder, "add", "-A"]);
                self.run(
                    "git",
                    &["-C", &folder, "commit", "-q", "--allow-empty", "-m", "init"],
                );
            }
        }
        for line in setup {
            self.run("sh", &["-euc", &line]);
        }
        fs::create_dir_all(self.case["cwd"].as_str().unwrap()).unwrap();
    }

    fn run(&self, program: &str, args: &[&str]) {
        let mut command = Command::new(program);
        command.args(args).current_dir(self.root.join("home/dev"));
        command.env("GIT_CONFIG_GLOBAL", "/dev/null");
        command.env("GIT_CONFIG_NOSYSTEM", "1");
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "dev");
            command.env(format!("GIT_{who}_EMAIL"), "dev@example.org");
        }
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} {args:?}: {said}");
    }

    fn modes(&self) {
        for (path, value) in self.case["files"].as_object().unwrap() {
            if let Some(mode) = value["mode"].as_str() {
                let mode = u32::from_str_radix(mode, 8).unwrap();
                fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
            }
        }
    }

    /// Loads the start and plays the reads.
    pub(crate) fn play(&self) -> Shown {
        let files = self.case["files"].as_object().unwrap();
        if files.values().any(|value| value["mode"].is_string()) {
            return as_nobody(|| self.session());
        }
        self.session()
    }

    fn session(&self) -> Shown {
        let mut instructions = self.load();
        // A directory above the temporary one may hold files of its own.
        let ours =
            |file: &&LoadedFile| !file.path.is_absolute() || file.path.starts_with(&self.root);
        let start = instructions.start().iter().filter(ours);
        let start = start.map(|file| self.entry(file)).collect();
        let reads = strings(&self.case["reads"]);
        let reads = reads.iter().map(|file| {
            let new = instructions.on_read(Path::new(file));
            new.iter().map(|file| self.entry(file)).collect()
        });
        let reads = reads.collect();
        let back = |path: &Path| self.moved.back(path.to_str().unwrap());
        let skipped = instructions.skipped();
        Shown {
            start,
            reads,
            skipped: skipped
                .map(|skipped| {
                    (
                        back(&skipped.path),
                        self.moved.back(&skipped.why.to_string()),
                    )
                })
                .collect(),
        }
    }

    /// The session's start, for tests that go on by themselves.
    pub(crate) fn load(&self) -> Instructions {
        let (places, options) = self.places();
        Instructions::load(places, options)
    }

    /// A path of the tree, below the root.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.moved.text(path).into()
    }

    pub(crate) fn entry(&self, file: &LoadedFile) -> Entry {
        let back = |path: &Path| self.moved.back(path.to_str().unwrap());
        Entry {
            path: back(&file.path),
            label: file.label().to_owned(),
            text: self.moved.back(&file.content),
            kind: file.kind.as_str().to_owned(),
            reason: file.reason.as_str().to_owned(),
            parent: file.parent.as_deref().map(back),
            globs: file.globs.clone(),
            trigger: file.trigger.as_deref().map(back),
        }
    }

    /// What the client's arguments and variables mean to us.
    fn places(&self) -> (InstructionPaths, InstructionOptions) {
        let mut places = InstructionPaths::new(
            self.case["cwd"].as_str().unwrap(),
            self.root.join("home/dev"),
        );
        places.managed = Some(self.root.join("etc/claude-code"));
        let mut options = InstructionOptions::default();
        for (name, value) in self.case["env"].as_object().into_iter().flatten() {
            let value = value.as_str().unwrap();
            if name == "CLAUDE_CONFIG_DIR" {
                places.config_dir = Some(value.into());
            }
            options.variables.insert(name.clone(), value.to_owned());
        }
        let args = strings(&self.case["args"]);
        let mut args = args.iter().peekable();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--bare" => options.mode = LoadMode::Bare,
                "--settings" => options.settings = Some(settings(args.next().unwrap())),
                "--setting-sources" => options.sources = sources(args.next().unwrap()),
                "--add-dir" => {
                    while let Some(folder) = args.next_if(|next| !next.starts_with("--")) {
                        places.added.push(folder.into());
                    }
                }
                other => panic!("a tree uses {other}"),
            }
        }
        (places, options)
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        debug_assert!(self.folder.path().exists());
    }
}

/// A file, or the text itself.
fn settings(given: &str) -> String {
    fs::read_to_string(given).unwrap_or_else(|_| given.to_owned())
}

fn sources(list: &str) -> InstructionSources {
    let has = |name: &str| list.split(',').any(|source| source == name);
    InstructionSources {
        user: has("user"),
        project: has("project"),
        local: has("local"),
    }
}

fn write(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// What stands in a file of the tree.
fn bytes(value: &Value) -> Vec<u8> {
    if let Some(text) = value.as_str().or_else(|| value["text"].as_str()) {
        return text.as_bytes().to_vec();
    }
    if let Some(encoded) = value["base64"].as_str() {
        return decode(encoded);
    }
    let unit = value["repeat"][0].as_str().unwrap();
    let times = value["repeat"][1].as_u64().unwrap();
    let head = value["head"].as_str().unwrap_or_default();
    let tail = value["tail"].as_str().unwrap_or_default();
    let body = unit.repeat(usize::try_from(times).unwrap());
    [head, &body, tail].concat().into_bytes()
}

/// Standard base64.
fn decode(text: &str) -> Vec<u8> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut held, mut bytes) = (0u32, 0u32, Vec::new());
    for letter in text.bytes().filter(|letter| *letter != b'=') {
        let value = LETTERS.iter().position(|known| *known == letter).unwrap();
        bits = (bits << 6) | u32::try_from(value).unwrap();
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from((bits >> held) & 0xff).unwrap());
        }
    }
    bytes
}

pub(crate) fn strings(value: &Value) -> Vec<String> {
    let list = value.as_array().into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Runs something that a mode can stop, also when the tests run as root: a thread of its own
/// takes another user, and ends with it.
#[cfg(target_os = "linux")]
fn as_nobody<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    use rustix::process::{Gid, Uid};
    const NOBODY: u32 = 65_534;
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            if rustix::process::geteuid().is_root() {
                rustix::thread::set_thread_gid(Gid::from_raw(NOBODY)).unwrap();
                rustix::thread::set_thread_uid(Uid::from_raw(NOBODY)).unwrap();
            }
            work()
        });
        thread.join().unwrap()
    })
}

/// Elsewhere nobody runs tests as root.
#[cfg(not(target_os = "linux"))]
fn as_nobody<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    work()
}
