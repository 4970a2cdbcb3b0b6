//! The scripted working day (`fixtures/client/memory/day.json`), with made-up secrets.
//!
//! The repository holds no secret: each is put together here, the same at every run.

use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::{Map, Value};

use super::house::ClientSandbox;
use crate::client::case;

const DAY_JSON: &str = include_str!("../../../../fixtures/client/memory/day.json");
const TOKEN_LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// The day, ready to be played in a project.
pub(super) struct ScriptedDay {
    pub(super) prompt: String,
    /// Words that find the decision in the prompt.
    pub(super) decision: String,
    pub(super) turns: Vec<Value>,
    files: Map<String, Value>,
}

/// One call of it.
pub(super) struct ScriptedCall {
    pub(super) id: String,
    pub(super) name: String,
    /// Words that only its item holds; none for a call that is not worth an item.
    pub(super) find: Option<String>,
}

impl ScriptedDay {
    /// `tag` tells one playing from another: real call ids never repeat.
    pub(super) fn read_day(project: &Path, tag: &str) -> Result<Self> {
        let mut day: Value = serde_json::from_str(DAY_JSON).context("day.json")?;
        let project = project.display().to_string();
        let places = [
            ("@PROJECT@", project.as_str()),
            ("@TAG@", tag),
            ("@TOKEN@", &build_token()),
            ("@PASSWORD@", &build_password()),
            ("@PEM@", &build_pem()),
        ];
        case::replace_strings(&mut day, &|text| {
            places.iter().fold(text.to_owned(), |text, (name, value)| {
                text.replace(name, value)
            })
        });
        let text = |key: &str| {
            let value = day[key].as_str().map(str::to_owned);
            value.with_context(|| format!("day.json: no `{key}`"))
        };
        Ok(Self {
            prompt: text("prompt")?,
            decision: text("decision")?,
            turns: day["turns"].as_array().cloned().unwrap_or_default(),
            files: day["files"].as_object().cloned().unwrap_or_default(),
        })
    }

    /// Puts the files that the day begins with into the project.
    pub(super) fn lay_out(&self, house: &ClientSandbox, project: &str) -> Result<()> {
        for (name, text) in &self.files {
            let text = text.as_str().context("a file's content must be a string")?;
            house.write_file(&format!("{project}/{name}"), text)?;
        }
        Ok(())
    }

    pub(super) fn list_calls(&self) -> Vec<ScriptedCall> {
        let turns = self.turns.iter();
        let tools = turns.filter_map(|turn| turn["tools"].as_array()).flatten();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        tools
            .map(|tool| ScriptedCall {
                id: text(&tool["id"]),
                name: text(&tool["name"]),
                find: tool["find"].as_str().map(str::to_owned),
            })
            .collect()
    }
}

/// What must not be found anywhere: the telling part of each secret.
pub(super) fn list_secrets() -> Vec<String> {
    let pem = build_pem();
    let body = pem.lines().filter(|line| !line.starts_with('-'));
    let mut all = vec![generate_letters(36, 7), build_password()];
    all.extend(body.map(str::to_owned));
    all
}

fn build_token() -> String {
    ["gh", "p_", &generate_letters(36, 7)].concat()
}

fn build_password() -> String {
    generate_letters(24, 11)
}

fn build_pem() -> String {
    let edge = |word: &str| format!("-----{word} RSA PRIVATE {}-----", "KEY");
    let mut lines = vec![edge("BEGIN")];
    lines.extend((0..6).map(|line| generate_letters(64, 100 + line)));
    lines.push(edge("END"));
    lines.join("\n")
}

/// Letters that look drawn by chance.
fn generate_letters(count: usize, seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let draw = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let index = usize::try_from(state >> 33).unwrap_or_default() % TOKEN_LETTERS.len();
        char::from(TOKEN_LETTERS[index])
    };
    std::iter::repeat_with(draw).take(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Or a search for them would find nothing whatever is stored.
    #[test]
    fn the_secrets_are_in_the_day_and_not_in_its_file() -> Result<()> {
        let day = ScriptedDay::read_day(Path::new("/project"), "tag")?;
        let played = format!("{:?}{:?}", day.turns, day.files);
        for secret in list_secrets() {
            assert!(played.contains(&secret), "{secret} is not played");
            assert!(!DAY_JSON.contains(&secret), "the file holds {secret}");
        }
        Ok(())
    }
}
