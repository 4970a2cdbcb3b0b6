//! What the store says, against what the client's own witness saw.
//!
//! The witness is a hook beside ours, for the same events, that writes down its payloads:
//! so "every event exactly once" is not judged by the program under test.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Map, Value, json};

use super::day::ScriptedCall;
use super::house::ClientSandbox;

/// A handful of items has its embeddings long before; the worker begins when it has been idle.
const EMBEDDING_TIMEOUT: Duration = Duration::from_mins(1);
/// Kinds of items that repeat what others say.
const REPEATING_KINDS: [&str; 4] = ["prompt", "message", "summary", "decision"];

/// One line of the worker's log about an event.
pub(super) struct LoggedLine {
    pub(super) id: String,
    /// Empty for an event that was stored before.
    pub(super) name: String,
    pub(super) fate: String,
}

impl ClientSandbox {
    /// A settings file with the witness beside each hook of ours that these settings hold.
    pub(super) fn write_witness(&self, settings: &Path) -> Result<String> {
        let text = fs::read_to_string(settings)
            .with_context(|| format!("cannot read {}", settings.display()))?;
        let installed: Value = serde_json::from_str(&text)?;
        let folder = self.path("witness");
        let script = format!(
            "#!/bin/sh\nexec cat >\"$(mktemp '{}/XXXXXXXXXX')\"\n",
            folder.display()
        );
        let command = self.write_script("bin/witness", &script)?;
        let ours = self.remora_path().display().to_string();
        let mut hooks = Map::new();
        for (event, groups) in installed["hooks"].as_object().into_iter().flatten() {
            for group in groups.as_array().into_iter().flatten() {
                if !group.to_string().contains(&ours) {
                    continue;
                }
                let mut second_group = group.clone();
                second_group["hooks"] = json!([
                    {"type": "command", "command": command, "args": [], "timeout": 30},
                ]);
                let list = hooks.entry(event.clone()).or_insert_with(|| json!([]));
                list.as_array_mut().context("a list")?.push(second_group);
            }
        }
        self.write_file("witness.json", &json!({ "hooks": hooks }).to_string())?;
        Ok(self.path("witness.json").display().to_string())
    }

    /// The payloads that the witness has so far; it forgets them.
    pub(super) fn drain_fired(&self) -> Result<Vec<Value>> {
        let mut events = Vec::new();
        for entry in fs::read_dir(self.path("witness"))? {
            let path = entry?.path();
            let text = fs::read_to_string(&path)?;
            let event = serde_json::from_str(&text)
                .with_context(|| format!("the witness was killed while writing: {text}"))?;
            events.push(event);
            fs::remove_file(&path)?;
        }
        Ok(events)
    }

    pub(super) fn drain_spool(&self) -> Result<()> {
        self.run_remora("project", &["worker", "drain"]).map(drop)
    }

    /// Waits until every item has its embedding and the worker has loaded the encoder, as it has on
    /// any day but the first.
    pub(super) fn wait_for_encoder(&self) -> Result<()> {
        self.drain_spool()?;
        let end = Instant::now() + EMBEDDING_TIMEOUT;
        loop {
            let status = self.run_remora_json("project", &["status", "--json"])?;
            let asked =
                self.run_remora_json("project", &["context", "--json", "--prompt", "encoder"])?;
            let has_vectors = status["vectors"]["waiting"] == 0;
            // Anybody else loads an encoder of their own.
            let why = asked["tier_why"].as_str().unwrap_or_default();
            if has_vectors && asked["tier"] == "full" && why.contains("worker") {
                return Ok(());
            }
            ensure!(
                Instant::now() < end,
                "no vectors after {EMBEDDING_TIMEOUT:?}: {} and {why}",
                status["vectors"]
            );
            thread::park_timeout(Duration::from_millis(200));
        }
    }

    /// Every event that the worker speaks of.
    pub(super) fn read_logged(&self) -> Result<Vec<LoggedLine>> {
        let text = self.run_remora("project", &["worker", "logs", "--lines", "100000"])?;
        Ok(parse_log(&text))
    }

    pub(super) fn search_items(&self, project: &str, words: &str) -> Result<Vec<Value>> {
        let mut args = vec!["search", "--json", "--limit", "100"];
        args.extend(words.split_whitespace());
        let found = self.run_remora_json(project, &args)?;
        let items = found["results"].as_array();
        Ok(items
            .context("`remora search --json` has no results")?
            .clone())
    }

    /// The items that hold all of these words, without those that repeat others.
    pub(super) fn find_matching_items(&self, project: &str, words: &str) -> Result<Vec<Value>> {
        let mut items = self.search_items(project, words)?;
        let all = words.to_lowercase();
        items.retain(|item| {
            let text = item.to_string().to_lowercase();
            let repeats = REPEATING_KINDS.iter().any(|kind| item["kind"] == *kind);
            !repeats && all.split_whitespace().all(|word| text.contains(word))
        });
        Ok(items)
    }

    /// What is found by these words, in full.
    pub(super) fn find_items(&self, project: &str, words: &str) -> Result<Vec<Value>> {
        let items = self.search_items(project, words)?;
        let ids: Vec<String> = items.iter().map(|item| item["id"].to_string()).collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let mut args = vec!["show", "--json"];
        args.extend(ids.iter().map(String::as_str));
        let shown = self.run_remora_json(project, &args)?;
        let items = shown["items"].as_array();
        Ok(items.context("`remora show --json` has no items")?.clone())
    }

    /// Calls that are not found by their words, or have more than one item.
    pub(super) fn not_found(&self, project: &str, calls: &[ScriptedCall]) -> Result<Vec<String>> {
        let mut problems = Vec::new();
        for call in calls {
            let Some(words) = &call.find else { continue };
            let items = self.find_items(project, words)?;
            let own = items.iter().filter(|item| item["tool_use_id"] == call.id);
            if own.count() != 1 {
                problems.push(format!(
                    "{} ({}): `remora search {words}` should find its one item, found {}",
                    call.name,
                    call.id,
                    format_items(&items)
                ));
            }
        }
        Ok(problems)
    }

    /// How the worker's account differs from the witness's: each event exactly once.
    pub(super) fn find_unaccounted(&self, fired: &[Value]) -> Result<Vec<String>> {
        let mut problems = compare_logged(&self.read_logged()?, fired);
        for folder in ["spool", "dead"] {
            let path = self.data_dir().join(folder);
            let files = fs::read_dir(&path).into_iter().flatten().flatten();
            let names: Vec<_> = files.map(|file| file.file_name()).collect();
            if !names.is_empty() {
                problems.push(format!("{} is not empty: {names:?}", path.display()));
            }
        }
        Ok(problems)
    }

    /// Files of the data directory that hold one of these texts, compressed ones read through
    /// the program.
    pub(super) fn places_of(&self, texts: &[String]) -> Result<Vec<String>> {
        let mut found = Vec::new();
        let mut check_bytes = |what: &str, bytes: &[u8]| {
            let hit = |text: &&String| {
                let needle = text.as_bytes();
                bytes.windows(needle.len()).any(|part| part == needle)
            };
            let hits = texts.iter().filter(hit).count();
            if hits > 0 {
                found.push(format!("{what} holds {hits} of the secrets"));
            }
        };
        let mut folders = vec![self.data_dir()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder)?.flatten() {
                let path = entry.path();
                let kind = entry.file_type()?;
                if kind.is_dir() {
                    folders.push(path);
                } else if kind.is_file() {
                    check_bytes(&path.display().to_string(), &fs::read(&path)?);
                }
            }
        }
        for args in [["export"].as_slice(), &["export", "--events"]] {
            let text = self.run_remora("project", args)?;
            check_bytes(&format!("`remora {}`", args.join(" ")), text.as_bytes());
        }
        Ok(found)
    }
}

/// The lines of the worker's log that name an event.
fn parse_log(text: &str) -> Vec<LoggedLine> {
    let lines = text.lines().filter_map(|line| line.split_once(" event "));
    let event = |(_, line): (&str, &str)| {
        let (head, fate) = line.split_once(": ")?;
        let (id, name) = head.split_once(' ').unwrap_or((head, ""));
        Some(LoggedLine {
            id: id.to_owned(),
            name: name.to_owned(),
            fate: fate.to_owned(),
        })
    };
    lines.filter_map(event).collect()
}

/// What the worker took more than once, gave up, or took another number of times than it fired.
fn compare_logged(logged: &[LoggedLine], fired: &[Value]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for event in logged {
        *times.entry(&event.id).or_default() += 1;
        if event.name.is_empty() && event.fate != "stored before" {
            problems.push(format!("event {}: {}", event.id, event.fate));
        }
    }
    let twice = times.iter().filter(|(_, times)| **times > 1);
    problems.extend(twice.map(|(id, times)| format!("event {id} was ingested {times} times")));
    let mut balance: BTreeMap<&str, i64> = BTreeMap::new();
    for event in fired {
        let name = event["hook_event_name"].as_str().unwrap_or("?");
        *balance.entry(name).or_default() += 1;
    }
    for event in logged.iter().filter(|event| !event.name.is_empty()) {
        *balance.entry(&event.name).or_default() -= 1;
    }
    for (name, left) in balance {
        if left > 0 {
            problems.push(format!("{name}: {left} fired and not stored"));
        } else if left < 0 {
            problems.push(format!("{name}: {} stored that did not fire", -left));
        }
    }
    problems
}

/// Rows in a line.
pub(super) fn format_items(items: &[Value]) -> String {
    let lines = items.iter().take(8);
    let lines = lines.map(|item| format!("[#{} {} {}]", item["id"], item["kind"], item["title"]));
    lines.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_difference_is_told() {
        let log = "T event 1 Stop: read 9 bytes, archived, stored 1 item\n\
                   T worker 0.1.0 started\n\
                   T event 2 Stop: read 9 bytes, skipped (another event tells it)\n\
                   T event 2 Stop: read 9 bytes, archived, stored 0 items\n\
                   T event 3: stored before\n\
                   T event 4: dead letter, not JSON\n";
        let stop = json!({"hook_event_name": "Stop"});
        let start = json!({"hook_event_name": "SessionStart"});
        assert_eq!(
            compare_logged(&parse_log(log), &[stop.clone(), stop, start]),
            [
                "event 4: dead letter, not JSON",
                "event 2 was ingested 2 times",
                "SessionStart: 1 fired and not stored",
                "Stop: 1 stored that did not fire",
            ]
        );
    }
}
