//! Tasks of subagents that have not begun yet.
//!
//! A client names a subagent's task when it calls the tool, and only the kind
//! of the subagent when that begins. So the first hook notes the task and the
//! second one takes it. One small file per session, next to its injection log
//! and under the same lock; it goes with its last task, since nothing in it is
//! redacted.

use std::io::{self, Read};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{
    DataPaths, InjectionLog, injection_log_file, make_our_folder, open_our_file, remove_file,
    write_our_file,
};

/// The ending of the file's name.
pub const TASKS_EXTENSION: &str = "tasks";
/// As much of a task is kept as recall searches for.
const MAX_TASK_BYTES: usize = 1_000;
/// More subagents do not wait to begin.
const MAX_TASKS: usize = 32;
const MAX_FILE_BYTES: u64 = 128 * 1024;
/// Subagents of one message begin within this time. A task that is older than
/// the newest one by more was refused, and no subagent will take it.
const BURST_WINDOW_MS: i64 = 10_000;
/// A task that has waited longer is never taken.
const MAX_TASK_AGE_MS: i64 = 600_000;

#[derive(Debug, Serialize, Deserialize)]
struct PendingTask {
    agent_type: String,
    text: String,
    time: i64,
}

/// The tasks of one session. A caller holds the session's [`InjectionLog`], so
/// that two subagents never take the same task.
#[derive(Debug)]
pub struct PendingTasks<'a> {
    file: PathBuf,
    _turn: &'a InjectionLog,
}

impl<'a> PendingTasks<'a> {
    /// Those of this session.
    pub fn of_session(paths: &DataPaths, session: &str, turn: &'a InjectionLog) -> Self {
        Self {
            file: injection_log_file(paths, session).with_extension(TASKS_EXTENSION),
            _turn: turn,
        }
    }

    /// Notes the task of a subagent of this kind that is about to start.
    pub fn note_task(&self, agent_type: &str, text: &str, now: i64) -> io::Result<()> {
        let mut tasks = self.read_tasks();
        tasks.retain(|task| now - task.time < MAX_TASK_AGE_MS);
        tasks.drain(..tasks.len().saturating_sub(MAX_TASKS - 1));
        tasks.push(PendingTask {
            agent_type: agent_type.to_owned(),
            text: text[..text.floor_char_boundary(MAX_TASK_BYTES)].to_owned(),
            time: now,
        });
        self.write_tasks(&tasks)
    }

    /// Takes the task of a subagent of this kind that begins now. Subagents of
    /// one kind that begin together come in the order of their calls, as far as
    /// events can show.
    pub fn take_task(&self, agent_type: &str, now: i64) -> io::Result<Option<String>> {
        let mut tasks = self.read_tasks();
        let of_kind = |task: &&PendingTask| {
            task.agent_type == agent_type && now - task.time < MAX_TASK_AGE_MS
        };
        let Some(newest) = tasks.iter().filter(of_kind).map(|task| task.time).max() else {
            return Ok(None);
        };
        // The oldest of the newest burst: calls of one message start in their
        // order, while an older burst was refused.
        let is_next = |task: &PendingTask| of_kind(&task) && newest - task.time <= BURST_WINDOW_MS;
        let Some(place) = tasks.iter().position(is_next) else {
            return Ok(None);
        };
        let task = tasks.remove(place);
        self.write_tasks(&tasks)?;
        Ok(Some(task.text))
    }

    /// A file that is missing or damaged holds no tasks.
    fn read_tasks(&self) -> Vec<PendingTask> {
        let mut bytes = Vec::new();
        let read = open_our_file(&self.file)
            .and_then(|file| file.take(MAX_FILE_BYTES).read_to_end(&mut bytes));
        if read.is_err() {
            return Vec::new();
        }
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    fn write_tasks(&self, tasks: &[PendingTask]) -> io::Result<()> {
        if tasks.is_empty() {
            return remove_file(&self.file);
        }
        if let Some(folder) = self.file.parent() {
            make_our_folder(folder)?;
        }
        // Not replaced as a whole: the lock keeps readers out, and a torn file
        // only costs a subagent its search words.
        write_our_file(&self.file, &serde_json::to_vec(tasks)?)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    struct Session {
        _home: tempfile::TempDir,
        paths: DataPaths,
        turn: InjectionLog,
    }

    impl Session {
        fn new() -> Self {
            let home = tempfile::tempdir().unwrap();
            let paths = DataPaths::new(home.path().to_path_buf());
            let turn = InjectionLog::open(&paths, "s", None).unwrap();
            Self {
                _home: home,
                paths,
                turn,
            }
        }

        fn tasks(&self) -> PendingTasks<'_> {
            PendingTasks::of_session(&self.paths, "s", &self.turn)
        }

        fn note(&self, agent_type: &str, text: &str, now: i64) {
            self.tasks().note_task(agent_type, text, now).unwrap();
        }

        fn take(&self, agent_type: &str, now: i64) -> Option<String> {
            self.tasks().take_task(agent_type, now).unwrap()
        }
    }

    #[test]
    fn each_subagent_takes_the_oldest_task_of_its_kind() {
        let session = Session::new();
        session.note("general-purpose", "first", 1);
        session.note("Explore", "look", 2);
        session.note("general-purpose", "second", 3);
        assert_eq!(session.take("Plan", 4), None);
        assert_eq!(session.take("Explore", 4).as_deref(), Some("look"));
        assert_eq!(session.take("general-purpose", 5).as_deref(), Some("first"));
        let second = session.take("general-purpose", 6);
        assert_eq!(second.as_deref(), Some("second"));
        assert_eq!(session.take("general-purpose", 7), None);
        assert!(!session.tasks().file.exists(), "nothing stays behind");
    }

    #[test]
    fn a_task_that_was_refused_is_nobodys() {
        let session = Session::new();
        session.note("general-purpose", "refused", 1);
        session.note("general-purpose", "begun", BURST_WINDOW_MS + 2);
        let taken = session.take("general-purpose", BURST_WINDOW_MS + 3);
        assert_eq!(taken.as_deref(), Some("begun"));
        assert_eq!(session.take("general-purpose", MAX_TASK_AGE_MS + 1), None);
    }

    #[test]
    fn what_waits_is_bounded_and_damage_is_nothing() {
        let session = Session::new();
        for number in 0..100 {
            session.note("Explore", &format!("{number} {}", "ü".repeat(9_000)), 1);
        }
        let tasks = session.tasks();
        assert_eq!(tasks.read_tasks().len(), MAX_TASKS);
        assert!(fs::metadata(&tasks.file).unwrap().len() < MAX_FILE_BYTES);
        let taken = session.take("Explore", 2).unwrap();
        assert!(taken.starts_with("68 ") && taken.len() <= MAX_TASK_BYTES);
        fs::write(&tasks.file, "[{\"agent_type\":").unwrap();
        assert_eq!(session.take("Explore", 2), None);
        session.note("Explore", "whole", 3);
        assert_eq!(session.take("Explore", 4).as_deref(), Some("whole"));
    }
}
