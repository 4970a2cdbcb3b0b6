//! What was said: prompts, the assistant's last message, subagents' results,
//! and the checkpoints made from them.

use remora_core::agent_event::{EventKind, PromptOrigin};
use remora_core::detail::{DetailFlag, DetailList, DetailNumber, DetailText, ItemDetail};
use remora_core::record::Kind;

use super::{BatchBuilder, item};
use crate::capture::CapturedEvent;
use crate::embedding_text::is_role;
use crate::episode::{self};
use crate::output;
use crate::overrides::{CLAIM_KINDS, statement_key};
use crate::recall::ASSISTANT_SPEAKER;
use crate::recall::supersession::find_withdrawal;
use crate::recall::word_set::WordSet;
use crate::sentence;
use crate::session::SessionState;
use crate::statement::options::{self, OfferedChoice};
use crate::statement::{self, Speaker, Statement, StatementKind};
use crate::store::{Filter, ItemWrite, PageRequest, Store};
use crate::summary::Summary;

/// Characters of a prompt that are kept.
const MAX_PROMPT_BYTES: usize = 6000;
/// Characters of a message or summary that are kept.
const MAX_MESSAGE_BYTES: usize = 4000;
/// Characters of a session's title.
const MAX_SESSION_TITLE_CHARS: usize = 80;
/// Statements of the project that an agent's words are compared with.
const MAX_KNOWN_CLAIMS: usize = 200;
/// A claim's key must be so long to be known at the end of a sentence, and what
/// leads up to it no longer.
const ECHO_BYTES: usize = 20;

impl BatchBuilder<'_> {
    pub(super) fn extract_prompt(
        &mut self,
        event: &CapturedEvent,
        state: &mut SessionState,
    ) -> Option<&'static str> {
        let EventKind::PromptSubmitted(prompt) = &event.event.kind else {
            return Some("empty");
        };
        match prompt.origin {
            PromptOrigin::User => {}
            PromptOrigin::Client => return Some("a task notification, not the user's words"),
            PromptOrigin::SubagentTask => return Some("a subagent's task, not the user's words"),
        }
        let prompt = prompt.text.as_str();
        if prompt.trim().is_empty() {
            return Some("empty");
        }
        state.session.prompts += 1;
        if state.session.title.is_empty() {
            state.session.title = item::one_line(prompt, MAX_SESSION_TITLE_CHARS);
        }
        let offered = state.offered.clone();
        let mut row = item::build_item(event, state, 0, Kind::Prompt, prompt);
        row.text = item::truncate_middle(prompt, MAX_PROMPT_BYTES);
        row.speaker = Some("user".into());
        self.add_item(item::with_token_count(row), state);
        let stated = options::stated_in(prompt, &offered);
        self.add_statements(event, state, prompt, stated, Speaker::User);
        None
    }

    /// Decisions, preferences and corrections of a text, as rows of their own.
    fn add_statements(
        &mut self,
        event: &CapturedEvent,
        state: &mut SessionState,
        text: &str,
        stated: Vec<Statement>,
        speaker: Speaker,
    ) {
        if stated.is_empty() {
            return;
        }
        let reversal = find_withdrawal(text);
        let known = match speaker {
            Speaker::Assistant => self.known_claims(event.project()),
            Speaker::User => Vec::new(),
        };
        let echoes: Vec<bool> = stated
            .iter()
            .map(|said| is_echo(&said.text, &known))
            .collect();
        let subject = state.last_request();
        let files = state.changed_files();
        for ((n, said), is_echo) in stated.into_iter().enumerate().zip(echoes) {
            if is_echo {
                continue;
            }
            let kind = match said.kind {
                StatementKind::Decision => Kind::Decision,
                StatementKind::Preference => Kind::Preference,
                StatementKind::Correction => Kind::Correction,
            };
            let quoted = said.to_text();
            let mut row = item::build_item(event, state, 1 + n, kind, &quoted);
            row.text = quoted;
            row.facts = said
                .reason
                .iter()
                .map(|r| format!("because: {r}"))
                .collect();
            row.speaker = Some(
                match speaker {
                    Speaker::User => "user",
                    Speaker::Assistant => ASSISTANT_SPEAKER,
                }
                .into(),
            );
            let mut detail = ItemDetail::new()
                .with_number(DetailNumber::Confidence, said.confidence)
                .with_text(DetailText::Reason, said.reason.as_deref());
            if let Some(sentence) = &reversal {
                detail.set_text(DetailText::TakesBack, sentence);
            }
            if !subject.is_empty() {
                detail.set_text(DetailText::Subject, &subject);
            }
            if !files.is_empty() {
                detail.set_list(DetailList::Files, &files);
            }
            if said.on_purpose {
                detail.set_flag(DetailFlag::OnPurpose, true);
            }
            row.detail = Some(detail);
            if self.add_item(item::with_token_count(row), state) {
                state.statements.push(said);
            }
        }
    }

    /// What the project's last statements claim, as keys.
    fn known_claims(&mut self, project: &str) -> Vec<&str> {
        let Self {
            store,
            batch,
            claims,
            ..
        } = self;
        for write in &batch.items[claims.looked_through..] {
            if let ItemWrite::Add(item) = write
                && CLAIM_KINDS.contains(&item.kind)
            {
                let claim = (item.project.clone(), statement_key(&item.title));
                claims.of_batch.push(claim);
            }
        }
        claims.looked_through = batch.items.len();
        let stored = claims
            .of_store
            .entry(project.into())
            .or_insert_with(|| list_stored_claims(*store, project));
        let waiting = claims.of_batch.iter().filter(|(of, _)| *of == project);
        let waiting = waiting.map(|(_, claim)| claim);
        stored.iter().chain(waiting).map(String::as_str).collect()
    }

    pub(super) fn stop(
        &mut self,
        event: &CapturedEvent,
        state: &mut SessionState,
    ) -> Option<&'static str> {
        let message = event.event.last_message();
        let concluded = options::without_offered(message);
        let stated = statement::find_statements(&concluded, Speaker::Assistant);
        self.add_statements(event, state, &concluded, stated, Speaker::Assistant);
        self.add_checkpoint(event, state, Some(message).filter(|m| !m.trim().is_empty()));
        None
    }

    fn add_checkpoint(
        &mut self,
        event: &CapturedEvent,
        state: &mut SessionState,
        message: Option<&str>,
    ) {
        if let Some(summary) = state.build_summary(message) {
            let mut row = item::build_item(event, state, 0, Kind::Summary, &summary.title);
            row.text = item::truncate_middle(&render_summary(&summary), MAX_MESSAGE_BYTES);
            let (changed, read) = summary.files.split_at(summary.changed);
            row.files_modified = changed.to_vec();
            row.files_read = read.to_vec();
            let mut detail = ItemDetail::new()
                .with_text(DetailText::Request, Some(&summary.request))
                .with_list(DetailList::Investigated, &summary.investigated)
                .with_list(DetailList::Learned, &summary.learned)
                .with_list(DetailList::Completed, &summary.completed)
                .with_list(DetailList::OpenSteps, &summary.next_steps)
                .with_list(DetailList::Failing, &summary.failing)
                .with_list(DetailList::Passed, &summary.passed)
                .with_list(DetailList::Files, &summary.files)
                .with_list(DetailList::Notes, &summary.notes)
                .with_list(DetailList::Asked, &summary.asked)
                .with_list(DetailList::Said, &summary.said)
                .with_list(DetailList::Conclusion, &summary.conclusion);
            let given_up = episode::given_up(&summary.asked, &summary.conclusion);
            if !given_up.is_empty() {
                detail.set_list(DetailList::GivesUp, given_up);
            }
            if episode::takes_turn(&summary.asked, &summary.conclusion) {
                detail.set_flag(DetailFlag::Turns, true);
            }
            let lines = state.changed_lines();
            for (list, prints) in [
                (DetailList::AddedLines, lines.added),
                (DetailList::RemovedLines, lines.removed),
            ] {
                if !prints.is_empty() {
                    detail.set_list(list, prints);
                }
            }
            let offered = message
                .map(options::parse_offered_choices)
                .unwrap_or_default();
            if !offered.is_empty() {
                // For an answer that says no more than which one.
                detail.set_offered(offered.iter().map(OfferedChoice::as_pair));
            }
            row.detail = Some(detail);
            self.add_item(item::with_token_count(row), state);
        }
    }

    pub(super) fn end_session(&mut self, event: &CapturedEvent, state: &mut SessionState) {
        self.add_checkpoint(event, state, None);
        // After a clear the work goes on under another session.
        if let EventKind::SessionEnded { reason } = &event.event.kind
            && reason != "clear"
        {
            state.session.end_reason = Some(reason.clone());
        }
    }

    pub(super) fn extract_broken_turn(
        &mut self,
        event: &CapturedEvent,
        state: &mut SessionState,
    ) -> Option<&'static str> {
        let error = match &event.event.kind {
            EventKind::TurnFailed { error, .. } => error.as_str(),
            _ => "",
        };
        let title = format!("The turn broke off: {error}");
        let mut row = item::build_item(event, state, 0, Kind::Failure, &title);
        row.text = item::truncate_middle(event.event.last_message(), MAX_MESSAGE_BYTES);
        self.add_item(item::with_token_count(row), state);
        None
    }

    pub(super) fn extract_subagent_result(
        &mut self,
        event: &CapturedEvent,
        state: &mut SessionState,
    ) -> Option<&'static str> {
        let subagent = event.event.subagent.as_ref();
        let Some(kind) = subagent.and_then(|subagent| subagent.kind.as_deref()) else {
            return Some("the client's own compaction");
        };
        let message = event.event.last_message();
        if message.trim().is_empty() {
            return Some("empty");
        }
        let lead = find_lead_line(message);
        let mut row = item::build_item(
            event,
            state,
            0,
            Kind::Task,
            &format!("Subagent {kind}: {lead}"),
        );
        row.text = item::truncate_middle(message, MAX_MESSAGE_BYTES);
        // Whatever a subagent is called, it does not speak as the user.
        let role = if is_role(kind) { "assistant" } else { kind };
        row.speaker = Some(role.to_owned());
        self.add_item(item::with_token_count(row), state);
        let stated = statement::find_statements(message, Speaker::Assistant);
        self.add_statements(event, state, message, stated, Speaker::Assistant);
        None
    }

    pub(super) fn extract_compaction(
        &mut self,
        event: &CapturedEvent,
        state: &mut SessionState,
    ) -> Option<&'static str> {
        let summary = match &event.event.kind {
            EventKind::CompactionFinished { summary } => summary.as_str(),
            _ => "",
        };
        let text = strip_tags(&strip_analysis(summary));
        if text.trim().is_empty() {
            return Some("empty");
        }
        let lead = find_lead_line(&text);
        let mut row = item::build_item(
            event,
            state,
            0,
            Kind::Summary,
            &format!("Compacted: {lead}"),
        );
        row.text = item::truncate_middle(
            &output::compact_output(&text, MAX_MESSAGE_BYTES),
            MAX_MESSAGE_BYTES,
        );
        self.add_item(item::with_token_count(row), state);
        None
    }
}

/// Whether an agent says what is known: it was given that, and who repeats a
/// claim adds nothing to it. A few words before it make no other claim.
fn is_echo(said: &str, known: &[&str]) -> bool {
    let said = statement_key(said);
    known.iter().any(|claim| {
        let lead = said.len().saturating_sub(claim.len());
        let long = claim.len() >= ECHO_BYTES && lead <= ECHO_BYTES;
        said == *claim || long && said.ends_with(claim)
    })
}

/// What the store's last statements of a project claim.
fn list_stored_claims(store: &dyn Store, project: &str) -> Vec<String> {
    let filter = Filter {
        project: Some(project.into()),
        kinds: CLAIM_KINDS.to_vec(),
        ..Filter::default()
    };
    // A store that cannot be read cannot be written either, which is told.
    let stored = store.list_items(&filter, PageRequest::newest(MAX_KNOWN_CLAIMS));
    let stored = stored.unwrap_or_default();
    stored
        .iter()
        .map(|item| statement_key(&item.title))
        .collect()
}

/// The first line of prose, else the first heading, without Markdown.
fn find_lead_line(text: &str) -> String {
    let marks = |c: char| c.is_whitespace() || "#*->`_|=".contains(c);
    let says = |line: &&str| !line.trim_matches(marks).is_empty();
    let prose = |line: &&str| !line.starts_with('#') && says(line);
    let line = text.lines().find(prose).or_else(|| text.lines().find(says));
    let line = line.unwrap_or("").trim();
    let bullet = |c: char| c.is_whitespace() || "#->|=".contains(c);
    sentence::strip_markup(line.strip_prefix("* ").unwrap_or(line).trim_matches(bullet))
}

/// A summary without the thoughts that led to it.
fn strip_analysis(text: &str) -> String {
    const ANALYSIS_OPEN_TAG: &str = "<analysis>";
    const ANALYSIS_CLOSE_TAG: &str = "</analysis>";
    match (text.find(ANALYSIS_OPEN_TAG), text.find(ANALYSIS_CLOSE_TAG)) {
        (Some(open), Some(close)) if open < close => {
            format!(
                "{}{}",
                &text[..open],
                &text[close + ANALYSIS_CLOSE_TAG.len()..]
            )
        }
        _ => text.to_owned(),
    }
}

/// The client wraps parts of its summary in tags; the words are what counts.
fn strip_tags(text: &str) -> String {
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
fn render_summary(summary: &Summary) -> String {
    let mut lines = summary.said.clone();
    match summary.asked.as_slice() {
        [] if summary.request.is_empty() => {}
        [] => lines.push(format!("Request: {}", summary.request)),
        asked => lines.extend(asked.iter().map(|prompt| format!("Request: {prompt}"))),
    }
    let spoken = WordSet::from_text(&lines.join("\n"));
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
            .filter(|entry| !spoken.covers_text(entry))
            .peekable();
        if unsaid.peek().is_some() {
            lines.push(format!("{name}:"));
            lines.extend(unsaid.map(|entry| format!("- {entry}")));
        }
    }
    lines.join("\n")
}
