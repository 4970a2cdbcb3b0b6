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

use super::super::recall::set::{ScriptLine, ScriptStep, line_error};
use crate::error::CliError;

/// Who speaks when it is not the agent.
const USER_SPEAKER: &str = "user";
/// All chats are of one branch.
const BRANCH_NAME: &str = "main";

#[derive(Debug, Deserialize)]
struct ChatMessage {
    id: String,
    session: String,
    #[serde(default)]
    seq: i64,
    timestamp: String,
    speaker: String,
    text: String,
}

#[derive(Debug, Deserialize)]
struct TaskQuery {
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
    messages: Vec<ChatMessage>,
}

/// A task, and the chats that decided it, the oldest first.
#[derive(Debug)]
pub(super) struct DecisionTask {
    pub(super) id: String,
    pub(super) category: String,
    pub(super) text: String,
    pub(super) chats: Vec<String>,
}

/// All chats, the oldest first.
#[derive(Debug)]
pub(super) struct Chats(Vec<Chat>);

impl Chats {
    pub(super) fn read_chats(file: &Path) -> Result<Self, CliError> {
        let mut chats: BTreeMap<String, Chat> = BTreeMap::new();
        for (line, message) in read_lines::<ChatMessage>(file)? {
            let at = parse_timestamp(&message.timestamp).ok_or_else(|| {
                line_error(
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
    pub(super) fn read_tasks(&self, file: &Path) -> Result<Vec<DecisionTask>, CliError> {
        let messages = self.0.iter().enumerate();
        let places: HashMap<&str, usize> = messages
            .flat_map(|(at, chat)| chat.messages.iter().map(move |one| (one.id.as_str(), at)))
            .collect();
        let mut tasks = Vec::new();
        for (line, query) in read_lines::<TaskQuery>(file)? {
            let mut chats: Vec<usize> = Vec::new();
            for id in &query.relevant {
                let place = places.get(id.as_str());
                let place = place.ok_or_else(|| {
                    line_error(file, line, &format!("there is no message `{id}`"))
                })?;
                chats.push(*place);
            }
            chats.sort_unstable();
            chats.dedup();
            if chats.is_empty() {
                return Err(line_error(file, line, &"`relevant` names no message"));
            }
            tasks.push(DecisionTask {
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
    pub(super) fn find_conclusion(&self, chat: &str) -> &str {
        let chat = self.0.iter().find(|one| one.name == chat);
        let mut said = chat.iter().flat_map(|chat| chat.messages.iter().rev());
        said.find(|message| message.speaker != USER_SPEAKER)
            .map_or("", |message| &message.text)
    }

    /// The chats as sessions of one project, without some of them.
    pub(super) fn to_steps(&self, left_out: &HashSet<String>) -> Vec<ScriptLine> {
        let mut steps = Vec::new();
        for chat in self.0.iter().filter(|chat| !left_out.contains(&chat.name)) {
            steps.push(ScriptStep::Session {
                session: chat.name.clone(),
                at: chat.at,
                branch: BRANCH_NAME.to_owned(),
            });
            steps.extend(chat.messages.iter().map(|message| {
                let text = message.text.clone();
                match message.speaker.as_str() {
                    USER_SPEAKER => ScriptStep::Prompt { prompt: text },
                    _ => ScriptStep::Say { say: text },
                }
            }));
            steps.push(ScriptStep::End { _end: true });
        }
        steps
            .into_iter()
            .map(|step| ScriptLine { step, label: None })
            .collect()
    }
}

/// Tasks that are asked of the same store.
#[derive(Debug)]
pub(super) struct TaskRound<'a> {
    pub(super) tasks: Vec<&'a DecisionTask>,
    /// Chats that are not played.
    pub(super) left_out: HashSet<String>,
}

/// Where several tasks are the same words, each is asked in a store without the
/// chats of the others: there is only one answer to a question.
pub(super) fn split_rounds(tasks: &[DecisionTask]) -> Vec<TaskRound<'_>> {
    let mut rounds: Vec<TaskRound<'_>> = Vec::new();
    let mut asked: HashMap<&str, usize> = HashMap::new();
    for task in tasks {
        let at = asked.entry(&task.text).or_default();
        if rounds.len() == *at {
            rounds.push(TaskRound {
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
            let value = serde_json::from_str(line).map_err(|e| line_error(file, at + 1, &e))?;
            Ok((at + 1, value))
        })
        .collect()
}

/// A moment; one without a zone is in UTC.
fn parse_timestamp(text: &str) -> Option<Timestamp> {
    let plain = || text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok();
    text.parse()
        .ok()
        .or_else(|| plain().map(|zoned| zoned.timestamp()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(id: &str, text: &str, chats: &[&str]) -> DecisionTask {
        DecisionTask {
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
        let rounds = split_rounds(&tasks);
        let ids = |round: &TaskRound<'_>| -> Vec<String> {
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
            parse_timestamp("2026-01-02T03:04:05"),
            parse_timestamp("2026-01-02T03:04:05Z")
        );
        assert_eq!(parse_timestamp("yesterday"), None);
    }
}
