//! What was said: prompts, the assistant's last message, subagents' results,
//! and the checkpoints made from them.

use remora_protocol::record::Kind;
use serde_json::json;

use super::{Work, item};
use crate::about::is_role;
use crate::capture::Captured;
use crate::episode::{self, field};
use crate::output;
use crate::overrides::{CLAIMS, statement_key};
use crate::recall::ASSISTANT;
use crate::recall::later::{TAKES_BACK, reversal};
use crate::recall::said::Said;
use crate::sentence;
use crate::session::{OFFERED, State};
use crate::statement::{self, ON_PURPOSE, Speaker, Statement, StatementKind, options};
use crate::store::{Filter, Page, Write};
use crate::summary::Summary;

/// Characters of a prompt that are kept.
const PROMPT: usize = 6000;
/// Characters of a message or summary that are kept.
const MESSAGE: usize = 4000;
/// Characters of a session's title.
const TITLE: usize = 80;
/// Statements of the project that an agent's words are compared with.
const KNOWN_CLAIMS: usize = 200;
/// A claim's key must be so long to be known at the end of a sentence, and what
/// leads up to it no longer.
const ECHO_BYTES: usize = 20;
/// How the client tells that a background task is done.
const NOTIFICATION: &str = "<task-notification>";

impl Work<'_> {
    pub(super) fn prompt(&mut self, event: &Captured, state: &mut State) -> Option<&'static str> {
        let prompt = event.text("prompt");
        if prompt.trim_start().starts_with(NOTIFICATION) {
            return Some("a task notification, not the user's words");
        }
        if prompt.trim().is_empty() {
            return Some("empty");
        }
        state.session.prompts += 1;
        if state.session.title.is_empty() {
            state.session.title = item::one_line(prompt, TITLE);
        }
        let offered = state.offered.clone();
        let mut row = item::of(event, state, 0, Kind::Prompt, prompt);
        row.text = item::shorten(prompt, PROMPT);
        row.speaker = Some("user".into());
        self.add(item::weigh(row), state);
        let stated = options::stated_in(prompt, &offered);
        self.statements(event, state, prompt, stated, Speaker::User);
        None
    }

    /// Decisions, preferences and corrections of a text, as rows of their own.
    fn statements(
        &mut self,
        event: &Captured,
        state: &mut State,
        text: &str,
        stated: Vec<Statement>,
        speaker: Speaker,
    ) {
        if stated.is_empty() {
            return;
        }
        let reversal = reversal(text);
        let known = match speaker {
            Speaker::Assistant => self.known_claims(event.project()),
            Speaker::User => Vec::new(),
        };
        let subject = state.request();
        let files = state.changed_files();
        for (n, said) in stated.into_iter().enumerate() {
            if is_echo(&said.text, &known) {
                continue;
            }
            let kind = match said.kind {
                StatementKind::Decision => Kind::Decision,
                StatementKind::Preference => Kind::Preference,
                StatementKind::Correction => Kind::Correction,
            };
            let told = said.told();
            let mut row = item::of(event, state, 1 + n, kind, &told);
            row.text = told;
            row.facts = said
                .reason
                .iter()
                .map(|r| format!("because: {r}"))
                .collect();
            row.speaker = Some(
                match speaker {
                    Speaker::User => "user",
                    Speaker::Assistant => ASSISTANT,
                }
                .into(),
            );
            let mut detail = json!({ "confidence": said.confidence, "reason": said.reason });
            if let Some(sentence) = &reversal {
                detail[TAKES_BACK] = json!(sentence);
            }
            if !subject.is_empty() {
                detail["subject"] = json!(subject);
            }
            if !files.is_empty() {
                detail["files"] = json!(files);
            }
            if said.on_purpose {
                detail[ON_PURPOSE] = json!(true);
            }
            row.detail = Some(detail);
            if self.add(item::weigh(row), state) {
                state.statements.push(said);
            }
        }
    }

    /// What the project's last statements claim, as keys.
    fn known_claims(&self, project: &str) -> Vec<String> {
        let filter = Filter {
            project: Some(project.to_owned()),
            kinds: CLAIMS.to_vec(),
            ..Filter::default()
        };
        // A store that cannot be read cannot be written either, which is told.
        let stored = self.store.list(&filter, Page::newest(KNOWN_CLAIMS));
        let stored = stored.unwrap_or_default();
        let waiting = self.batch.items.iter().filter_map(|write| match write {
            Write::Add(item) if item.project == project && CLAIMS.contains(&item.kind) => {
                Some(item)
            }
            _ => None,
        });
        let titles = stored.iter().chain(waiting).map(|item| &item.title);
        titles.map(|title| statement_key(title)).collect()
    }

    pub(super) fn stop(&mut self, event: &Captured, state: &mut State) -> Option<&'static str> {
        let message = event.text("last_assistant_message");
        let concluded = options::without_offered(message);
        let stated = statement::find(&concluded, Speaker::Assistant);
        self.statements(event, state, &concluded, stated, Speaker::Assistant);
        self.checkpoint(event, state, Some(message).filter(|m| !m.trim().is_empty()));
        None
    }

    fn checkpoint(&mut self, event: &Captured, state: &mut State, message: Option<&str>) {
        if let Some(summary) = state.checkpoint(message) {
            let mut row = item::of(event, state, 0, Kind::Summary, &summary.title);
            row.text = item::shorten(&told(&summary), MESSAGE);
            let (changed, read) = summary.files.split_at(summary.changed);
            row.files_modified = changed.to_vec();
            row.files_read = read.to_vec();
            let mut detail = json!({
                "request": summary.request,
                "investigated": summary.investigated,
                "learned": summary.learned,
                "completed": summary.completed,
                "next_steps": summary.next_steps,
                "failing": summary.failing,
                "passed": summary.passed,
                "files": summary.files,
                "notes": summary.notes,
                field::ASKED: summary.asked,
                field::SAID: summary.said,
                field::CONCLUSION: summary.conclusion,
            });
            let given_up = episode::given_up(&summary.asked, &summary.conclusion);
            if !given_up.is_empty() {
                detail[field::GIVES_UP] = json!(given_up);
            }
            if episode::takes_turn(&summary.asked, &summary.conclusion) {
                detail[field::TURNS] = json!(true);
            }
            let lines = state.changed_lines();
            for (name, prints) in [
                (field::ADDED_LINES, lines.added),
                (field::REMOVED_LINES, lines.removed),
            ] {
                if !prints.is_empty() {
                    detail[name] = json!(prints);
                }
            }
            let offered = message.map(options::offered).unwrap_or_default();
            if !offered.is_empty() {
                // For an answer that says no more than which one.
                detail[OFFERED] = options::to_json(&offered);
            }
            row.detail = Some(detail);
            self.add(item::weigh(row), state);
        }
    }

    pub(super) fn end(&mut self, event: &Captured, state: &mut State) {
        self.checkpoint(event, state, None);
        // After a clear the work goes on under another session.
        let reason = event.text("reason");
        if reason != "clear" {
            state.session.end_reason = Some(reason.to_owned());
        }
    }

    pub(super) fn broken(&mut self, event: &Captured, state: &mut State) -> Option<&'static str> {
        let title = format!("The turn broke off: {}", event.text("error"));
        let mut row = item::of(event, state, 0, Kind::Failure, &title);
        row.text = item::shorten(event.text("last_assistant_message"), MESSAGE);
        self.add(item::weigh(row), state);
        None
    }

    pub(super) fn subagent(&mut self, event: &Captured, state: &mut State) -> Option<&'static str> {
        let kind = event.text("agent_type");
        if kind.is_empty() {
            return Some("the client's own compaction");
        }
        let message = event.text("last_assistant_message");
        if message.trim().is_empty() {
            return Some("empty");
        }
        let lead = lead(message);
        let mut row = item::of(
            event,
            state,
            0,
            Kind::Task,
            &format!("Subagent {kind}: {lead}"),
        );
        row.text = item::shorten(message, MESSAGE);
        // Whatever a subagent is called, it does not speak as the user.
        let role = if is_role(kind) { "assistant" } else { kind };
        row.speaker = Some(role.to_owned());
        self.add(item::weigh(row), state);
        let stated = statement::find(message, Speaker::Assistant);
        self.statements(event, state, message, stated, Speaker::Assistant);
        None
    }

    pub(super) fn compacted(
        &mut self,
        event: &Captured,
        state: &mut State,
    ) -> Option<&'static str> {
        let text = untagged(&concluded(event.text("compact_summary")));
        if text.trim().is_empty() {
            return Some("empty");
        }
        let lead = lead(&text);
        let mut row = item::of(
            event,
            state,
            0,
            Kind::Summary,
            &format!("Compacted: {lead}"),
        );
        row.text = item::shorten(&output::compact(&text, MESSAGE), MESSAGE);
        self.add(item::weigh(row), state);
        None
    }
}

/// Whether an agent says what is known: it was given that, and who repeats a
/// claim adds nothing to it. A few words before it make no other claim.
fn is_echo(said: &str, known: &[String]) -> bool {
    let said = statement_key(said);
    known.iter().any(|claim| {
        let lead = said.len().saturating_sub(claim.len());
        let long = claim.len() >= ECHO_BYTES && lead <= ECHO_BYTES;
        said == *claim || long && said.ends_with(claim.as_str())
    })
}

/// The first line of prose, else the first heading, without Markdown.
fn lead(text: &str) -> String {
    let marks = |c: char| c.is_whitespace() || "#*->`_|=".contains(c);
    let says = |line: &&str| !line.trim_matches(marks).is_empty();
    let prose = |line: &&str| !line.starts_with('#') && says(line);
    let line = text.lines().find(prose).or_else(|| text.lines().find(says));
    let line = line.unwrap_or("").trim();
    let bullet = |c: char| c.is_whitespace() || "#->|=".contains(c);
    sentence::plain(line.strip_prefix("* ").unwrap_or(line).trim_matches(bullet))
}

/// A summary without the thoughts that led to it.
fn concluded(text: &str) -> String {
    const OPEN: &str = "<analysis>";
    const CLOSE: &str = "</analysis>";
    match (text.find(OPEN), text.find(CLOSE)) {
        (Some(open), Some(close)) if open < close => {
            format!("{}{}", &text[..open], &text[close + CLOSE.len()..])
        }
        _ => text.to_owned(),
    }
}

/// The client wraps parts of its summary in tags; the words are what counts.
fn untagged(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('<') {
        out.push_str(&rest[..open]);
        let after = &rest[open + 1..];
        let name = after.strip_prefix('/').unwrap_or(after);
        let end = name.find('>').filter(|end| {
            *end > 0
                && *end < 40
                && name[..*end]
                    .bytes()
                    .all(|b| b.is_ascii_alphabetic() || b == b'_' || b == b'-')
        });
        if let Some(end) = end {
            rest = &name[end + 1..];
        } else {
            out.push('<');
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

/// A summary as text: what was said, in full, then what was asked, and of what
/// was done only what nobody said.
fn told(summary: &Summary) -> String {
    let mut lines = summary.said.clone();
    match summary.asked.as_slice() {
        [] if summary.request.is_empty() => {}
        [] => lines.push(format!("Request: {}", summary.request)),
        asked => lines.extend(asked.iter().map(|prompt| format!("Request: {prompt}"))),
    }
    let spoken = Said::of(&lines.join("\n"));
    let lists: [(&str, &[String]); 5] = [
        ("Notes", &summary.notes),
        ("Learned", &summary.learned),
        ("Completed", &summary.completed),
        ("Next steps", &summary.next_steps),
        ("Investigated", &summary.investigated),
    ];
    for (name, entries) in lists {
        let mut unsaid = entries
            .iter()
            .filter(|entry| !spoken.says(entry))
            .peekable();
        if unsaid.peek().is_some() {
            lines.push(format!("{name}:"));
            lines.extend(unsaid.map(|entry| format!("- {entry}")));
        }
    }
    lines.join("\n")
}
