//! `remora hooks ui` at a terminal: what it shows first, what it writes, and
//! that the terminal is as it was behind it, however it ends.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Termios, Winsize, tcgetattr, tcsetwinsize};

use crate::sandbox::{Sandbox, command, on};

/// Far above what anything here takes.
const WATCHDOG: Duration = Duration::from_mins(1);
const ENTER_SCREEN: &str = "\u{1b}[?1049h";
const LEAVE_SCREEN: &str = "\u{1b}[?1049l";
const SHOW_CURSOR: &str = "\u{1b}[?25h";

/// The program at a terminal of the test's own.
struct AtTerminal {
    child: Child,
    keys: File,
    shown: Receiver<Vec<u8>>,
    text: String,
    terminal: OwnedFd,
    before: Termios,
}

impl AtTerminal {
    fn start(sandbox: &Sandbox, no_colour: bool) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let ours = openpt(flags).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let terminal = rustix::fs::open(name.as_c_str(), flags, Mode::empty()).unwrap();
        let size = Winsize {
            ws_row: 24,
            ws_col: 80,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&terminal, size).unwrap();
        let before = tcgetattr(&terminal).unwrap();
        let mut call = sandbox.hooks(&["ui"]).environment("TERM", "xterm-256color");
        if no_colour {
            call = call.environment("NO_COLOR", "1");
        }
        let end = || terminal.try_clone().unwrap();
        let child = call
            .command()
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn()
            .unwrap();
        let keys = File::from(ours);
        let mut screen = keys.try_clone().unwrap();
        let (sender, shown) = mpsc::channel();
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            loop {
                match screen.read(&mut buffer) {
                    Ok(count) if count > 0 && sender.send(buffer[..count].to_vec()).is_ok() => {}
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    _ => break,
                }
            }
        });
        Self {
            child,
            keys,
            shown,
            text: String::new(),
            terminal,
            before,
        }
    }

    /// Waits until the text was shown since the last wait.
    fn wait_for(&mut self, text: &str) {
        let deadline = Instant::now() + WATCHDOG;
        while !self.text.contains(text) {
            let left = deadline.saturating_duration_since(Instant::now());
            let bytes = self.shown.recv_timeout(left);
            let bytes = bytes.unwrap_or_else(|_| panic!("no `{text}` in {:?}", self.text));
            self.text.push_str(&String::from_utf8_lossy(&bytes));
        }
    }

    fn press(&mut self, keys: &str) {
        self.text.clear();
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    fn is_raw(&self) -> bool {
        let now = tcgetattr(&self.terminal).unwrap();
        !now.local_modes.contains(LocalModes::ICANON)
    }

    /// Waits for the end, and checks that the terminal is as it was.
    fn finish(mut self) -> ExitStatus {
        self.wait_for(LEAVE_SCREEN);
        self.wait_for(SHOW_CURSOR);
        let (sender, ended) = mpsc::channel();
        let mut child = self.child;
        let id = Pid::from_child(&child);
        thread::spawn(move || sender.send(child.wait().unwrap()));
        let status = ended.recv_timeout(WATCHDOG).unwrap_or_else(|_| {
            kill_process(id, Signal::KILL).unwrap();
            panic!("still there")
        });
        let now = tcgetattr(self.terminal.as_fd()).unwrap();
        assert_eq!(now.local_modes, self.before.local_modes);
        assert_eq!(now.input_modes, self.before.input_modes);
        assert_eq!(now.output_modes, self.before.output_modes);
        status
    }
}

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.project(&on("Stop", "", &[command("my-guard")]));
    sandbox
}

#[test]
fn without_a_terminal_it_says_what_to_use_instead() {
    let done = Sandbox::new().hooks(&["ui"]).go();
    assert_eq!(done.code, Some(1), "{done}");
    assert_eq!(done.stdout, "");
    assert!(
        done.stderr
            .contains("`remora hooks ui` needs a terminal; `remora hooks list`"),
        "{done}"
    );
}

#[test]
fn hooks_are_switched_off_at_a_terminal_which_is_handed_back() {
    let sandbox = sandbox();
    let mut terminal = AtTerminal::start(&sandbox, false);
    terminal.wait_for(ENTER_SCREEN);
    terminal.wait_for("my-guard");
    assert!(terminal.is_raw());
    terminal.press("\t ");
    terminal.wait_for("switched off");
    let settings = fs::read_to_string(sandbox.path("project/.claude/settings.json")).unwrap();
    assert!(settings.contains("remora:disabledHooks"), "{settings}");
    terminal.press("q");
    assert_eq!(terminal.finish().code(), Some(0));
}

#[test]
fn a_pasted_text_is_one_text() {
    let sandbox = sandbox();
    let mut terminal = AtTerminal::start(&sandbox, false);
    terminal.wait_for("my-guard");
    // Down to the command, then a paste with a line end in it, then Enter twice.
    terminal.press("a\u{1b}[B\u{1b}[B\u{1b}[B\u{1b}[B\u{1b}[200~one\ntwo\u{1b}[201~\r");
    terminal.wait_for("write it");
    terminal.press("\r");
    terminal.wait_for("added a hook");
    let settings = fs::read_to_string(sandbox.path("project/.claude/settings.json")).unwrap();
    assert!(
        settings.contains(r#""command": "one\ntwo""#)
            || settings.contains(r#""command":"one\ntwo""#),
        "{settings}"
    );
    terminal.press("\u{3}");
    assert_eq!(terminal.finish().code(), Some(0));
}

#[test]
fn a_signal_hands_the_terminal_back() {
    let sandbox = sandbox();
    let mut terminal = AtTerminal::start(&sandbox, false);
    terminal.wait_for("my-guard");
    kill_process(Pid::from_child(&terminal.child), Signal::TERM).unwrap();
    assert!(!terminal.finish().success());
}

#[test]
fn no_colour_is_sent_where_none_is_wanted() {
    for (no_colour, colours) in [(false, true), (true, false)] {
        let sandbox = sandbox();
        let mut terminal = AtTerminal::start(&sandbox, no_colour);
        terminal.wait_for("problem");
        // The whole first frame, of which the hints are the last line.
        terminal.wait_for("search");
        let coloured = ["\u{1b}[38;5;", "\u{1b}[32m", "\u{1b}[36m"];
        let found = coloured.iter().any(|code| terminal.text.contains(code));
        assert_eq!(found, colours, "{:?}", terminal.text);
        terminal.press("q");
        terminal.finish();
    }
}
