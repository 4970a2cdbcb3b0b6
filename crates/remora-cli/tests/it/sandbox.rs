//! A home, a project and a managed folder of a test's own, and the program run
//! in them: bounded in time, with a clean environment, nothing left behind.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Far above what any call takes; a call that reaches it hangs.
const WATCHDOG: Duration = Duration::from_mins(1);
/// How long a process that was sent SIGKILL may still be seen.
const GRACE: Duration = Duration::from_mins(1);
/// What any pipe takes without a reader.
const PIPE_BYTES: usize = 4096;
/// The variable by which processes of a sandbox are found again.
const MARK: &str = "REMORA_TEST_MARK";

/// The folders of one test.
pub(crate) struct Sandbox {
    root: PathBuf,
    program: PathBuf,
    mark: String,
    user: Option<u32>,
    _folder: TempDir,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self::inside(Path::new(env!("CARGO_TARGET_TMPDIR")))
    }

    fn inside(parent: &Path) -> Self {
        let folder = tempfile::Builder::new()
            .prefix("remora-it-")
            .tempdir_in(parent)
            .unwrap();
        let root = folder.path().canonicalize().unwrap();
        // The project is a repository of its own, wherever the tests are built.
        for name in ["project", "project/.git", "home", "managed", "tmp"] {
            fs::create_dir(root.join(name)).unwrap();
        }
        let mark = root.file_name().unwrap().to_str().unwrap().to_owned();
        Self {
            root,
            program: env!("CARGO_BIN_EXE_remora").into(),
            mark,
            user: None,
            _folder: folder,
        }
    }

    /// A sandbox whose calls cannot read everything, also when the tests run
    /// as root: then the program is a copy, run as nobody.
    pub(crate) fn unprivileged() -> Self {
        let mut sandbox = Self::inside(&std::env::temp_dir());
        let root = sandbox.root.display();
        if fs::metadata(&sandbox.root).unwrap().uid() == 0 {
            let program = sandbox.program.display();
            sandbox.shell(&format!(
                "cp '{program}' '{root}/remora' && chmod 755 '{root}' '{root}/remora' && chmod 777 '{root}/tmp'"
            ));
            sandbox.program = sandbox.root.join("remora");
            sandbox.user = Some(65_534);
        }
        sandbox
    }

    /// A path in the sandbox, such as `project/file`.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// The same as text.
    pub(crate) fn text(&self, relative: &str) -> String {
        self.path(relative).display().to_string()
    }

    pub(crate) fn write(&self, relative: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// Runs shell lines in the project, outside the program under test. Also
    /// the way to make an executable: a file that this process wrote may be
    /// busy while another test starts a program.
    pub(crate) fn shell(&self, lines: &str) {
        let status = Command::new("/bin/sh")
            .args(["-ec", lines])
            .current_dir(self.path("project"))
            .status();
        assert!(status.unwrap().success(), "{lines}");
    }

    pub(crate) fn user(&self, settings: &Value) -> PathBuf {
        self.write("home/.claude/settings.json", settings.to_string())
    }

    pub(crate) fn project(&self, settings: &Value) -> PathBuf {
        self.write("project/.claude/settings.json", settings.to_string())
    }

    pub(crate) fn local(&self, settings: &Value) -> PathBuf {
        self.write("project/.claude/settings.local.json", settings.to_string())
    }

    pub(crate) fn policy(&self, settings: &Value) -> PathBuf {
        self.write("managed/managed-settings.json", settings.to_string())
    }

    /// A plugin with a manifest; returns what `--plugin` takes.
    pub(crate) fn plugin(&self, name: &str, hooks: &Value) -> String {
        let folder = format!("plugins/{name}");
        let manifest = json!({"name": name, "version": "1.0.0"});
        self.write(
            &format!("{folder}/.claude-plugin/plugin.json"),
            manifest.to_string(),
        );
        self.write(&format!("{folder}/hooks/hooks.json"), hooks.to_string());
        self.text(&folder)
    }

    /// `remora ARGS`, started in the project.
    pub(crate) fn remora<S: AsRef<OsStr>>(&self, args: &[S]) -> Call<'_> {
        Call {
            sandbox: self,
            args: args.iter().map(|a| a.as_ref().to_owned()).collect(),
            hidden: Vec::new(),
            stdin: Vec::new(),
            environment: Vec::new(),
            read_at_most: None,
            may_leave: false,
            directory: self.path("project"),
        }
    }

    /// `remora hooks ARGS`, with the sandbox's managed folder instead of the
    /// system's.
    pub(crate) fn hooks<S: AsRef<OsStr>>(&self, args: &[S]) -> Call<'_> {
        let mut call = self.remora(args);
        call.args.insert(0, "hooks".into());
        call.hidden = vec!["--managed".into(), self.path("managed").into()];
        call
    }

    /// `remora hooks run` of an event.
    pub(crate) fn run(&self, event: &Value) -> Call<'_> {
        self.hooks(&["run"]).stdin(event.to_string())
    }

    /// `remora hooks explain` of an event.
    pub(crate) fn explain(&self, event: &Value) -> Call<'_> {
        self.hooks(&["explain"]).stdin(event.to_string())
    }

    /// Files below the home whose name or content holds one of these words, in
    /// large letters or small.
    pub(crate) fn holding(&self, words: &[&str]) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![self.path("home")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap().flatten() {
                let path = entry.path();
                let mut text = path.display().to_string();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let bytes = fs::read(&path).unwrap_or_default();
                    text.push_str(&String::from_utf8_lossy(&bytes));
                }
                let text = text.to_lowercase();
                if words.iter().any(|word| text.contains(&word.to_lowercase())) {
                    found.push(entry.path().display().to_string());
                }
            }
        }
        found
    }

    /// What calls left in their temporary folder.
    pub(crate) fn left_in_tmp(&self) -> Vec<PathBuf> {
        let mut left: Vec<PathBuf> = fs::read_dir(self.path("tmp"))
            .unwrap()
            .map(|e| e.unwrap().path())
            .collect();
        left.sort();
        left
    }

    /// Processes that a call of this sandbox started and that still live.
    pub(crate) fn processes(&self) -> Vec<String> {
        let Ok(list) = fs::read_dir("/proc") else {
            return Vec::new();
        };
        let mark = format!("{MARK}={}", self.mark);
        list.flatten()
            .filter(|entry| {
                fs::read(entry.path().join("environ"))
                    .is_ok_and(|bytes| bytes.split(|b| *b == 0).any(|v| v == mark.as_bytes()))
            })
            .map(|entry| {
                let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
                let line = String::from_utf8_lossy(&line).replace('\0', " ");
                format!("{} {line}", entry.file_name().display())
            })
            .collect()
    }

    /// The text with everything taken out that differs from run to run.
    fn filtered(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (folder, name) in [
            ("project", "[PROJECT]"),
            ("home", "[HOME]"),
            ("managed", "[MANAGED]"),
            ("tmp", "[TMP]"),
        ] {
            text = text.replace(&self.text(folder), name);
        }
        let text = text.replace(&self.root.display().to_string(), "[ROOT]");
        masked(&text)
    }
}

/// Numbers before ` ms` and after `"duration_ms":` become `[N]`.
fn masked(text: &str) -> String {
    const KEY: &str = "\"duration_ms\":";
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(at);
        let end = number
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(number.len());
        let (digits, after) = number.split_at(end);
        out.push_str(before);
        let key = before.trim_end().ends_with(KEY);
        out.push_str(if key || after.starts_with(" ms") {
            "[N]"
        } else {
            digits
        });
        rest = after;
    }
    out + rest
}

/// One call of the program, before it is made.
pub(crate) struct Call<'a> {
    sandbox: &'a Sandbox,
    args: Vec<OsString>,
    hidden: Vec<OsString>,
    stdin: Vec<u8>,
    environment: Vec<(&'static str, String)>,
    read_at_most: Option<u64>,
    may_leave: bool,
    directory: PathBuf,
}

impl Call<'_> {
    pub(crate) fn args<S: AsRef<OsStr>>(mut self, args: &[S]) -> Self {
        self.args.extend(args.iter().map(|a| a.as_ref().to_owned()));
        self
    }

    pub(crate) fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    pub(crate) fn environment(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.environment.push((name, value.into()));
        self
    }

    /// Started in this directory instead of the project.
    pub(crate) fn inside(mut self, directory: &Path) -> Self {
        directory.clone_into(&mut self.directory);
        self
    }

    /// Without `--managed`.
    pub(crate) fn plain(mut self) -> Self {
        self.hidden.clear();
        self
    }

    /// Closes the program's stdout after so many bytes.
    pub(crate) fn reading_only(mut self, bytes: u64) -> Self {
        self.read_at_most = Some(bytes);
        self
    }

    /// The test itself ends what this call leaves.
    pub(crate) fn leaving_a_process(mut self) -> Self {
        self.may_leave = true;
        self
    }

    /// The call with `--json`, and its one line of JSON.
    pub(crate) fn json(self) -> (Done, Value) {
        let done = self.args(&["--json"]).go();
        assert_eq!(done.raw.trim_end().lines().count(), 1, "{done}");
        let value = serde_json::from_str(&done.raw).unwrap();
        (done, value)
    }

    pub(crate) fn go(self) -> Done {
        let sandbox = self.sandbox;
        let mut child = self.command().stdin(filled(&self.stdin)).spawn().unwrap();
        let stdout = child.stdout.take().unwrap();
        let stderr = child.stderr.take().unwrap();
        let deadline = Instant::now() + WATCHDOG;
        let limit = self.read_at_most.unwrap_or(u64::MAX);
        let stdout = reader(stdout.take(limit));
        let stderr = reader(stderr);
        let mut finish = |stream: &mpsc::Receiver<Vec<u8>>| {
            let left = deadline.saturating_duration_since(Instant::now());
            stream.recv_timeout(left).unwrap_or_else(|_| {
                let _ = child.kill();
                let _ = child.wait();
                panic!("{:?} hangs: {:?}", self.args, sandbox.processes());
            })
        };
        let out = finish(&stdout);
        let err = finish(&stderr);
        let status = child.wait().unwrap();
        if !self.may_leave {
            gone(sandbox);
        }
        let raw = match self.read_at_most {
            None => String::from_utf8(out).unwrap(),
            Some(_) => String::from_utf8_lossy(&out).into_owned(),
        };
        let stderr = String::from_utf8(err).unwrap();
        assert!(!stderr.contains("panicked at"), "{stderr}");
        let shown: Vec<_> = self.args.iter().map(|a| a.to_string_lossy()).collect();
        Done {
            command: sandbox.filtered(&format!("remora {}", shown.join(" "))),
            code: status.code(),
            stdout: sandbox.filtered(&raw),
            stderr: sandbox.filtered(&stderr),
            raw,
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "handlers need the tools of this system, and nothing else of its environment"
    )]
    pub(crate) fn command(&self) -> Command {
        let sandbox = self.sandbox;
        let mut command = Command::new(&sandbox.program);
        command
            .args(&self.args)
            .args(&self.hidden)
            .current_dir(&self.directory)
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .env("LC_ALL", "C")
            .env("HOME", sandbox.path("home"))
            .env("TMPDIR", sandbox.path("tmp"))
            .env(MARK, &sandbox.mark)
            // A busy machine is no fault of a hook's answer.
            .env("REMORA_DEADLINE_MS", "50000")
            .envs(self.environment.iter().map(|(k, v)| (k, v)))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(user) = sandbox.user {
            command.uid(user).gid(user);
        }
        command
    }
}

/// A stdin that holds all its bytes before the program starts. A hook waits for them
/// for a second only, and a thread that writes them may come later than that.
fn filled(bytes: &[u8]) -> Stdio {
    if bytes.len() <= PIPE_BYTES {
        let (reading, mut writing) = io::pipe().unwrap();
        writing.write_all(bytes).unwrap();
        return reading.into();
    }
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.rewind().unwrap();
    file.into()
}

fn reader(mut stream: impl Read + Send + 'static) -> mpsc::Receiver<Vec<u8>> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        drop(stream);
        let _ = send.send(bytes);
    });
    receive
}

/// Nothing of the sandbox lives on. What was killed may take a moment to go.
pub(crate) fn gone(sandbox: &Sandbox) {
    let deadline = Instant::now() + GRACE;
    loop {
        let left = sandbox.processes();
        if left.is_empty() {
            return;
        }
        assert!(Instant::now() < deadline, "left behind: {left:#?}");
        thread::park_timeout(Duration::from_millis(5));
    }
}

/// How a call ended; prints as command, exit code, stdout and stderr.
#[derive(Debug)]
pub(crate) struct Done {
    command: String,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// stdout as it came.
    pub(crate) raw: String,
}

impl fmt::Display for Done {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self
            .code
            .map_or_else(|| "a signal".to_owned(), |c| c.to_string());
        writeln!(f, "$ {}", self.command)?;
        let shown = serde_json::from_str::<Value>(&self.stdout.replace("[N]", "0"))
            .ok()
            .filter(Value::is_object);
        match shown {
            Some(value) => writeln!(f, "{:#}", brief(value).unwrap_or_default())?,
            None => f.write_str(&self.stdout)?,
        }
        for line in self.stderr.lines() {
            writeln!(f, "stderr: {line}")?;
        }
        write!(f, "exit {code}")
    }
}

/// JSON without its empty places and its durations.
fn brief(value: Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::String(text) => (!text.is_empty()).then_some(Value::String(text)),
        Value::Array(list) => {
            let list: Vec<Value> = list.into_iter().filter_map(brief).collect();
            (!list.is_empty()).then_some(Value::Array(list))
        }
        Value::Object(map) => {
            let map: serde_json::Map<_, _> = map
                .into_iter()
                .filter(|(key, _)| key != "duration_ms")
                .filter_map(|(key, value)| Some((key, brief(value)?)))
                .collect();
            (!map.is_empty()).then_some(Value::Object(map))
        }
        other => Some(other),
    }
}

/// Settings with one group of handlers.
pub(crate) fn on(event: &str, matcher: &str, handlers: &[Value]) -> Value {
    json!({"hooks": {event: [{"matcher": matcher, "hooks": handlers}]}})
}

/// A command handler.
pub(crate) fn command(text: &str) -> Value {
    json!({"type": "command", "command": text})
}

/// Settings with one command handler for Bash calls.
pub(crate) fn guard(text: &str) -> Value {
    on("PreToolUse", "Bash", &[command(text)])
}

/// Settings with one handler for Bash calls that prints an answer.
pub(crate) fn answering(answer: &Value) -> Value {
    guard(&format!("echo '{answer}'"))
}

/// A Bash call that is about to be made.
pub(crate) fn bash(command: &str) -> Value {
    json!({
        "session_id": "s",
        "hook_event_name": "PreToolUse",
        "permission_mode": "default",
        "tool_name": "Bash",
        "tool_input": {"command": command},
        "tool_use_id": "toolu_1",
    })
}
