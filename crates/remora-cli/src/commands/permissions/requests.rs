//! What was asked and what became of it, from the event log. A request
//! carries no id of its call, so it is held against the calls that follow it in
//! its session by what both are about. Pure.

use std::collections::{BTreeMap, HashMap};

use remora_core::EventName;
use remora_core::ids::SessionId;
use remora_core::record::LoggedEvent;

/// Requests of one session that wait for their answer at most.
const MAX_PENDING_REQUESTS: usize = 256;
/// Different calls that are kept apart at most.
const MAX_DISTINCT_CALLS: usize = 20_000;
/// A session without a user ends with this word.
const UNATTENDED_END_REASON: &str = "other";

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequestOutcome {
    /// The call was made.
    Allowed,
    /// It was not made, and the turn went on or ended.
    Refused,
    /// The client itself said no.
    Denied,
    /// Nobody was there to answer, or the answer is not known.
    Unanswered,
}

/// The answers to one call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct AnswerStats {
    pub(super) allowed: u32,
    pub(super) refused: u32,
    pub(super) denied: u32,
    pub(super) unanswered: u32,
    /// The first and the last time, in milliseconds since 1970.
    pub(super) first: i64,
    pub(super) last: i64,
    /// What the client said last.
    pub(super) reason: Option<String>,
}

impl AnswerStats {
    pub(super) fn request_count(&self) -> u32 {
        self.allowed + self.refused + self.denied + self.unanswered
    }

    fn record_answer(&mut self, answer: RequestOutcome, time: i64) {
        if self.request_count() == 0 {
            self.first = time;
            self.last = time;
        }
        self.first = self.first.min(time);
        self.last = self.last.max(time);
        *self.counter_mut(answer) += 1;
    }

    fn counter_mut(&mut self, answer: RequestOutcome) -> &mut u32 {
        match answer {
            RequestOutcome::Allowed => &mut self.allowed,
            RequestOutcome::Refused => &mut self.refused,
            RequestOutcome::Denied => &mut self.denied,
            RequestOutcome::Unanswered => &mut self.unanswered,
        }
    }

    pub(super) fn add_counts(&mut self, other: &Self) {
        if self.request_count() == 0 {
            (self.first, self.last) = (other.first, other.last);
        }
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.allowed += other.allowed;
        self.refused += other.refused;
        self.denied += other.denied;
        self.unanswered += other.unanswered;
        if other.reason.is_some() {
            self.reason.clone_from(&other.reason);
        }
    }
}

/// A session as far as it is read.
#[derive(Debug, Default)]
struct SessionRequests {
    waiting: Vec<(String, i64)>,
    refused: Vec<String>,
    prompts: u32,
}

/// Everything that was asked, by the call.
#[derive(Debug, Default)]
pub(super) struct PermissionRequests {
    pub(super) calls: BTreeMap<String, AnswerStats>,
    sessions: HashMap<SessionId, SessionRequests>,
}

impl PermissionRequests {
    /// Adds the next entry; entries come in the order of time.
    pub(super) fn record_event(&mut self, row: &LoggedEvent) {
        let Some(name) = EventName::parse(&row.name) else {
            return;
        };
        match name {
            EventName::UserPromptSubmit => {
                self.resolve_pending(&row.session, RequestOutcome::Refused);
                self.session_mut(&row.session).prompts += 1;
            }
            EventName::Stop | EventName::StopFailure => {
                self.resolve_pending(&row.session, RequestOutcome::Refused);
            }
            EventName::PermissionRequest if !row.label.is_empty() => {
                let waiting = &mut self.session_mut(&row.session).waiting;
                if waiting.len() < MAX_PENDING_REQUESTS {
                    waiting.push((row.label.clone(), row.time));
                }
            }
            EventName::PostToolUse => self.record_allowed(row, |asked| asked == row.label),
            EventName::PostToolUseFailure => self.record_allowed(row, |asked| {
                let rest = row.label.strip_prefix(asked);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(": "))
            }),
            EventName::PermissionDenied if !row.label.is_empty() => self.record_denied(row),
            EventName::SessionEnd => self.record_session_end(row),
            _ => {}
        }
    }

    /// What still waits at the end of the ledger has no answer.
    pub(super) fn into_calls(mut self) -> BTreeMap<String, AnswerStats> {
        let sessions: Vec<SessionId> = self.sessions.keys().cloned().collect();
        for session in sessions {
            self.resolve_pending(&session, RequestOutcome::Unanswered);
        }
        self.calls
    }

    fn session_mut(&mut self, id: &SessionId) -> &mut SessionRequests {
        self.sessions.entry(id.clone()).or_default()
    }

    fn record_allowed(&mut self, row: &LoggedEvent, is_it: impl Fn(&str) -> bool) {
        if let Some((call, time)) = self.remove_pending(&row.session, is_it) {
            self.record_answer(call, RequestOutcome::Allowed, time);
        }
    }

    fn remove_pending(
        &mut self,
        session: &str,
        is_it: impl Fn(&str) -> bool,
    ) -> Option<(String, i64)> {
        let waiting = &mut self.sessions.get_mut(session)?.waiting;
        let at = waiting.iter().position(|(asked, _)| is_it(asked))?;
        Some(waiting.remove(at))
    }

    fn record_denied(&mut self, row: &LoggedEvent) {
        let (call, reason) = match row.label.rfind("): ") {
            Some(at) => (&row.label[..=at], &row.label[at + 3..]),
            None if row.label.contains('(') => (row.label.as_str(), ""),
            None => row.label.split_once(": ").unwrap_or((&row.label, "")),
        };
        let asked = self.remove_pending(&row.session, |asked| asked == call);
        let time = asked.map_or(row.time, |(_, time)| time);
        if let Some(tally) = self.record_answer(call.to_owned(), RequestOutcome::Denied, time)
            && !reason.is_empty()
        {
            tally.reason = Some(reason.to_owned());
        }
    }

    fn record_session_end(&mut self, row: &LoggedEvent) {
        self.resolve_pending(&row.session, RequestOutcome::Unanswered);
        let Some(session) = self.sessions.remove(&row.session) else {
            return;
        };
        // One prompt and no goodbye: the client ran by itself and refused what
        // it could not ask a user about. That says nothing of what the user wants.
        if session.prompts > 1 || row.label != UNATTENDED_END_REASON {
            return;
        }
        for call in session.refused {
            if let Some(tally) = self.calls.get_mut(&call) {
                tally.refused = tally.refused.saturating_sub(1);
                tally.unanswered += 1;
            }
        }
    }

    fn resolve_pending(&mut self, session: &str, answer: RequestOutcome) {
        let Some(running) = self.sessions.get_mut(session) else {
            return;
        };
        let waiting = std::mem::take(&mut running.waiting);
        if answer == RequestOutcome::Refused {
            let calls = waiting.iter().map(|(call, _)| call.clone());
            running.refused.extend(calls);
        }
        for (call, time) in waiting {
            self.record_answer(call, answer, time);
        }
    }

    fn record_answer(
        &mut self,
        call: String,
        answer: RequestOutcome,
        time: i64,
    ) -> Option<&mut AnswerStats> {
        if self.calls.len() >= MAX_DISTINCT_CALLS && !self.calls.contains_key(&call) {
            return None;
        }
        let tally = self.calls.entry(call).or_default();
        tally.record_answer(answer, time);
        Some(tally)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries as `session event label`, one at a time.
    fn asked(rows: &[(&str, &str, &str)]) -> Vec<(String, [u32; 4])> {
        let mut asked = PermissionRequests::default();
        for (at, (session, name, label)) in rows.iter().enumerate() {
            asked.record_event(&LoggedEvent {
                id: format!("e{at}"),
                call: None,
                name: (*name).to_owned(),
                session: (*session).into(),
                time: i64::try_from(at).unwrap(),
                label: (*label).to_owned(),
            });
        }
        let calls = asked.into_calls().into_iter();
        calls
            .map(|(call, t)| (call, [t.allowed, t.refused, t.denied, t.unanswered]))
            .collect()
    }

    fn one(call: &str, counts: [u32; 4]) -> Vec<(String, [u32; 4])> {
        vec![(call.to_owned(), counts)]
    }

    #[test]
    fn a_call_that_follows_was_allowed_whether_it_failed_or_not() {
        let call = "Bash(make)";
        let rows = [
            ("s", "UserPromptSubmit", ""),
            ("s", "PermissionRequest", call),
            ("t", "PostToolUse", call),
            ("s", "PostToolUse", "Bash(make x)"),
            ("s", "PostToolUse", call),
            ("s", "PermissionRequest", call),
            ("s", "PostToolUseFailure", "Bash(make): Exit code 2"),
            ("s", "PostToolUse", call),
            ("s", "Stop", ""),
        ];
        assert_eq!(asked(&rows), one(call, [2, 0, 0, 0]));
    }

    #[test]
    fn no_call_before_the_next_prompt_or_stop_was_a_no() {
        let call = "Edit(a.rs)";
        let rows = [
            ("s", "UserPromptSubmit", ""),
            ("s", "PermissionRequest", call),
            ("s", "UserPromptSubmit", ""),
            ("s", "PostToolUse", call),
            ("s", "PermissionRequest", call),
            ("s", "Stop", ""),
            ("s", "SessionEnd", "prompt_input_exit"),
        ];
        assert_eq!(asked(&rows), one(call, [0, 2, 0, 0]));
    }

    #[test]
    fn nobody_there_is_not_a_no() {
        let call = "Edit(a.rs)";
        let alone = [
            ("s", "UserPromptSubmit", ""),
            ("s", "PermissionRequest", call),
            ("s", "Stop", ""),
            ("s", "SessionEnd", "other"),
        ];
        assert_eq!(asked(&alone), one(call, [0, 0, 0, 1]));
        let open = [("s", "PermissionRequest", call)];
        assert_eq!(asked(&open), one(call, [0, 0, 0, 1]));
        let quit = [
            ("s", "PermissionRequest", call),
            ("s", "SessionEnd", "prompt_input_exit"),
        ];
        assert_eq!(asked(&quit), one(call, [0, 0, 0, 1]));
    }

    #[test]
    fn the_client_said_no() {
        let rows = [
            ("s", "PermissionDenied", "Bash(curl x): not now"),
            ("s", "PermissionRequest", "Bash(curl x)"),
            ("s", "PermissionDenied", "Bash(curl x)"),
            ("s", "Stop", ""),
        ];
        assert_eq!(asked(&rows), one("Bash(curl x)", [0, 0, 2, 0]));
        let bare = [("s", "PermissionDenied", "mcp__a__b: no")];
        assert_eq!(asked(&bare), one("mcp__a__b", [0, 0, 1, 0]));
    }

    #[test]
    fn rows_without_words_and_unknown_events_are_passed_over() {
        let rows = [
            ("s", "PermissionRequest", ""),
            ("s", "PermissionDenied", ""),
            ("s", "SomethingNew", "Bash(x)"),
            ("s", "PostToolUse", ""),
        ];
        assert_eq!(asked(&rows), []);
    }
}
