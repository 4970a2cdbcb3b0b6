//! A home of the test's own with settings in every layer, and the program in it
//! without a terminal.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use remora_hooks::{EngineOptions, SampleSession, SettingsPaths};
use remora_hooks_ui::{Flow, HooksUi, Key, Notice, Theme, WorkspaceOptions};
use tempfile::TempDir;

pub(crate) const USER: &str = ".claude/settings.json";
pub(crate) const PROJECT: &str = "app/.claude/settings.json";
pub(crate) const LOCAL: &str = "app/.claude/settings.local.json";

/// Files of a home, by their paths.
const FILES: &[(&str, &str)] = &[
    (
        USER,
        r#"{
  "model": "opus",
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [
          { "type": "command", "command": "guard --strict", "timeout": 5 },
          { "type": "command", "command": "log" }
        ]
      }
    ]
  },
  "remora:disabledHooks": {
    "Stop": [
      { "hooks": [ { "type": "command", "command": "say done" } ] }
    ]
  }
}
"#,
    ),
    (
        PROJECT,
        r#"{
    "permissions": { "allow": ["Bash(make)"] },
    "hooks": {
        "PreToolUse": [
            { "matcher": "Bash", "hooks": [ { "type": "command", "if": "Bash(rm *)", "command": "echo 'no deleting here' >&2; exit 2" } ] },
            { "matcher": "Bash(git *)", "hooks": [ { "type": "command", "command": "check-git" } ] }
        ],
        "PostToolUse": [
            { "matcher": "Edit|Write", "hooks": [ { "type": "command" }, { "type": "http", "url": "http://localhost:8080/events" } ] }
        ],
        "Stpo": [ { "hooks": [ { "type": "command", "command": "x" } ] } ]
    }
}
"#,
    ),
    (
        LOCAL,
        "{\"hooks\":{\"SessionStart\":[{\"matcher\":\"startup|resume\",\"hooks\":[{\"type\":\"command\",\"command\":\"cat notes.md\"}]}]}}\n",
    ),
    (
        "managed/managed-settings.json",
        r#"{"hooks":{"PreToolUse":[{"matcher":"WebFetch","hooks":[{"type":"command","command":"/opt/corp/check-url"}]}]}}"#,
    ),
    (
        "plug/hooks/hooks.json",
        r#"{"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"prompt","prompt":"Is this about work? $ARGUMENTS"}]}]}}"#,
    ),
];

/// Where the tests' files are.
pub(crate) struct Stage {
    home: TempDir,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let stage = Self::empty();
        for (file, text) in FILES {
            stage.write(file, text);
        }
        stage
    }

    pub(crate) fn empty() -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir_all(home.path().join("app/.git")).unwrap();
        Self { home }
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.home.path().join(file)
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap()
    }

    /// Every file, with what it holds.
    pub(crate) fn read_all(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut all = BTreeMap::new();
        collect_files(self.home.path(), &mut all);
        all
    }

    pub(crate) fn open(&self) -> Play {
        let mut places = SettingsPaths::new(self.path("app"), self.home.path());
        places.managed = Some(self.path("managed"));
        if self.path("plug").is_dir() {
            places.plugins = vec![self.path("plug")];
        }
        let options = WorkspaceOptions {
            sample: SampleSession {
                project: places.project.display().to_string(),
                transcript: self.path("transcript.jsonl"),
            },
            places,
            engine: EngineOptions::default(),
            search_path: None,
        };
        Play {
            ui: HooksUi::open(options, Theme::new(true)),
            columns: 80,
            rows: 24,
        }
    }
}

fn collect_files(folder: &Path, all: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect_files(&path, all);
        } else {
            all.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
}

/// The program, with keys instead of hands.
pub(crate) struct Play {
    pub(crate) ui: HooksUi,
    pub(crate) columns: u16,
    pub(crate) rows: u16,
}

impl Play {
    /// Presses keys as they are written: `<Enter>`, `<Esc>`, and so on, others as
    /// characters. Draws after each one.
    pub(crate) fn press(&mut self, keys: &str) -> &mut Self {
        let mut rest = keys;
        while let Some(c) = rest.chars().next() {
            let named = rest.strip_prefix('<').and_then(|r| r.split_once('>'));
            let named = named.and_then(|(name, behind)| Some((named_key(name)?, behind)));
            let key = if let Some((key, behind)) = named {
                rest = behind;
                key
            } else {
                rest = &rest[c.len_utf8()..];
                Key::Char(c)
            };
            self.key(key);
        }
        self
    }

    pub(crate) fn key(&mut self, key: Key) -> Flow {
        let flow = self.ui.press(key);
        self.draw();
        flow
    }

    pub(crate) fn draw(&mut self) -> String {
        let backend = TestBackend::new(self.columns, self.rows);
        let mut terminal = Terminal::new(backend).unwrap();
        terminal
            .draw(|frame| self.ui.draw(frame, frame.area()))
            .unwrap();
        terminal.backend().to_string()
    }

    /// What the last edit said.
    pub(crate) fn done(&self) -> &str {
        match self.ui.model().notice() {
            Some(Notice::Done(text)) => text,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn failure(&self) -> &str {
        match self.ui.model().notice() {
            Some(Notice::Failed(text)) => text,
            other => panic!("{other:?}"),
        }
    }
}

fn named_key(name: &str) -> Option<Key> {
    Some(match name {
        "Enter" => Key::Enter,
        "Esc" => Key::Escape,
        "Tab" => Key::Tab,
        "BackTab" => Key::BackTab,
        "Up" => Key::Up,
        "Down" => Key::Down,
        "Left" => Key::Left,
        "Right" => Key::Right,
        "End" => Key::End,
        "PgDn" => Key::PageDown,
        "Back" => Key::Backspace,
        "C-u" => Key::Ctrl('u'),
        "C-c" => Key::Ctrl('c'),
        _ => return None,
    })
}
