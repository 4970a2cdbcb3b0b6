//! The files of the bench: chats message by message, and tasks that name the
//! messages that decided them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::Path;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::super::recall::set::{Line, Step, fault};
use crate::error::CliError;

/// Who speaks when it is not the agent.
const USER: &str = "user";
/// All chats are of one branch.
const BRANCH: &str = "main";

#[derive(Debug, Deserialize)]
struct Message {
    id: String,
    session: String,
    #[serde(default)]
    seq: i64,
    timestamp: String,
    speaker: String,
    text: String,
}

#[derive(Debug, Deserialize)]
struct Query {
    id: String,
    #[serde(default)]
    category: String,
    text: String,
    relevant: Vec<String>,
}

#[derive(Debug)]
struct Chat {
    name: String,
    at: Timestamp,
    messages: Vec<Message>,
}

/// A task, and the chats that decided it, the oldest first.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) id: String,
    pub(super) category: String,
    pub(super) text: String,
    pub(super) chats: Vec<String>,
}

/// All chats, the oldest first.
#[derive(Debug)]
pub(super) struct Chats(Vec<Chat>);

impl Chats {
    pub(super) fn read(file: &Path) -> Result<Self, CliError> {
        let mut chats: BTreeMap<String, Chat> = BTreeMap::new();
        for (line, message) in read_lines::<Message>(file)? {
            let at = moment(&message.timestamp).ok_or_else(|| {
                fault(
                    file,
                    line,
                    &"`timestamp` is not a moment such as 2026-01-31T09:00:00",
                )
            })?;
            let chat = chats
                .entry(message.session.clone())
                .or_insert_with(|| Chat {
                    name: message.session.clone(),
                    at,
                    messages: Vec::new(),
                });
            chat.at = chat.at.min(at);
            chat.messages.push(message);
        }
        let mut chats: Vec<Chat> = chats.into_values().collect();
        for chat in &mut chats {
            chat.messages.sort_by_key(|message| message.seq);
        }
        chats.sort_by_key(|chat| chat.at);
        Ok(Self(chats))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The tasks; each must name messages that are there.
    pub(super) fn read_tasks(&self, file: &Path) -> Result<Vec<Task>, CliError> {
        let messages = self.0.iter().enumerate();
        let places: HashMap<&str, usize> = messages
            .flat_map(|(at, chat)| chat.messages.iter().map(move |one| (one.id.as_str(), at)))
            .collect();
        let mut tasks = Vec::new();
        for (line, query) in read_lines::<Query>(file)? {
            let mut chats: Vec<usize> = Vec::new();
            for id in &query.relevant {
                let place = places.get(id.as_str());
                let place = place
                    .ok_or_else(|| fault(file, line, &format!("there is no message `{id}`")))?;
                chats.push(*place);
            }
            chats.sort_unstable();
            chats.dedup();
            if chats.is_empty() {
                return Err(fault(file, line, &"`relevant` names no message"));
            }
            tasks.push(Task {
                id: query.id,
                category: query.category,
                text: query.text,
                chats: chats
                    .into_iter()
                    .map(|at| self.0[at].name.clone())
                    .collect(),
            });
        }
        Ok(tasks)
    }

    /// What a chat came to: the agent's last message.
    pub(super) fn conclusion(&self, chat: &str) -> &str {
        let chat = self.0.iter().find(|one| one.name == chat);
        let mut said = chat.iter().flat_map(|chat| chat.messages.iter().rev());
        said.find(|message| message.speaker != USER)
            .map_or("", |message| &message.text)
    }

    /// The chats as sessions of one project, without some of them.
    pub(super) fn steps(&self, left_out: &HashSet<String>) -> Vec<Line> {
        let mut steps = Vec::new();
        for chat in self.0.iter().filter(|chat| !left_out.contains(&chat.name)) {
            steps.push(Step::Session {
                session: chat.name.clone(),
                at: chat.at,
                branch: BRANCH.to_owned(),
            });
            steps.extend(chat.messages.iter().map(|message| {
                let text = message.text.clone();
                match message.speaker.as_str() {
                    USER => Step::Prompt { prompt: text },
                    _ => Step::Say { say: text },
                }
            }));
            steps.push(Step::End { _end: true });
        }
        steps
            .into_iter()
            .map(|step| Line { step, label: None })
            .collect()
    }
}

/// Tasks that are asked of the same store.
#[derive(Debug)]
pub(super) struct Round<'a> {
    pub(super) tasks: Vec<&'a Task>,
    /// Chats that are not played.
    pub(super) left_out: HashSet<String>,
}

/// Where several tasks are the same words, each is asked in a store without the
/// chats of the others: there is only one answer to a question.
pub(super) fn rounds(tasks: &[Task]) -> Vec<Round<'_>> {
    let mut rounds: Vec<Round<'_>> = Vec::new();
    let mut asked: HashMap<&str, usize> = HashMap::new();
    for task in tasks {
        let at = asked.entry(&task.text).or_default();
        if rounds.len() == *at {
            rounds.push(Round {
                tasks: Vec::new(),
                left_out: HashSet::new(),
            });
        }
        rounds[*at].tasks.push(task);
        *at += 1;
    }
    for round in &mut rounds {
        for task in &round.tasks {
            let twins = tasks.iter().filter(|other| other.text == task.text);
            let chats = twins
                .flat_map(|other| &other.chats)
                .filter(|chat| !task.chats.contains(chat));
            round.left_out.extend(chats.cloned());
        }
    }
    rounds
}

/// The values of a file with the numbers of their lines.
fn read_lines<T: DeserializeOwned>(file: &Path) -> Result<Vec<(usize, T)>, CliError> {
    let text = fs::read_to_string(file).map_err(|source| CliError::File {
        path: file.to_path_buf(),
        source,
    })?;
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| {
            let value = serde_json::from_str(line).map_err(|e| fault(file, at + 1, &e))?;
            Ok((at + 1, value))
        })
        .collect()
}

/// A moment; one without a zone is in UTC.
fn moment(text: &str) -> Option<Timestamp> {
    let plain = || text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok();
    text.parse()
        .ok()
        .or_else(|| plain().map(|zoned| zoned.timestamp()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(id: &str, text: &str, chats: &[&str]) -> Task {
        Task {
            id: id.to_owned(),
            category: String::new(),
            text: text.to_owned(),
            chats: chats.iter().map(|chat| (*chat).to_owned()).collect(),
        }
    }

    #[test]
    fn tasks_of_the_same_words_are_asked_apart() {
        let tasks = [
            task("a", "fix it", &["one", "two"]),
            task("b", "fix it", &["three"]),
            task("c", "mend it", &["four"]),
        ];
        let rounds = rounds(&tasks);
        let ids = |round: &Round<'_>| -> Vec<String> {
            round.tasks.iter().map(|t| t.id.clone()).collect()
        };
        assert_eq!(ids(&rounds[0]), ["a", "c"]);
        assert_eq!(ids(&rounds[1]), ["b"]);
        assert_eq!(rounds[0].left_out, HashSet::from(["three".to_owned()]));
        assert_eq!(rounds[1].left_out.len(), 2);
    }

    #[test]
    fn moments_are_read_with_and_without_a_zone() {
        assert_eq!(
            moment("2026-01-02T03:04:05"),
            moment("2026-01-02T03:04:05Z")
        );
        assert_eq!(moment("yesterday"), None);
    }
}
