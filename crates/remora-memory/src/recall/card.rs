//! A card: a turn as the model reads it, with what was asked, the sentences of the
//! outcome that fit the prompt, and what was left open. Always worded as a record,
//! never as something to do.

use std::borrow::Cow;

use remora_core::detail::DetailList;
use remora_core::record::{Item, Kind};
use remora_core::time::format_date;

use super::sanitize::sanitize_line;
use super::subject::is_only_process;
use super::word_set::{WordSet, telling_words};
use super::{RecallContext, is_untrusted, name_of, other_branch};
use crate::end_date::{ended_on, without_ended};
use crate::episode::{CharBudget, join_sentences, rank_sentences, weigh_sentence};
use crate::sentence::split_sentences;
use crate::statement::options;

/// Characters of what was asked and of what was concluded.
const ASKED_BUDGET: CharBudget = CharBudget {
    max_chars: 260,
    filled_chars: 260,
};
const SAID_BUDGET: CharBudget = CharBudget {
    max_chars: 420,
    filled_chars: 280,
};
/// The same for the most probable card: a decision in all its parts.
const BEST_SAID_BUDGET: CharBudget = CharBudget {
    max_chars: 900,
    filled_chars: 280,
};
/// Characters of a line at most, whatever the budgets say.
const MAX_LINE_CHARS: usize = 1_000;
/// Open steps that are listed where work is continued.
const MAX_STEPS: usize = 4;
const MAX_STEP_CHARS: usize = 160;

/// Which part of a turn the card is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CardFocus<'a> {
    /// What it says about this prompt.
    About(&'a str),
    /// The same at greater length.
    Best(&'a str),
    /// The state of the work: the outcome and what was left open.
    Standing(&'a str),
}

/// Whether an item is a turn's checkpoint that has what was said.
pub(super) fn has_said(item: &Item) -> bool {
    item.has_listed(DetailList::Said) || item.has_listed(DetailList::Asked)
}

/// Commands that say nothing beyond what was asked for.
const ROUTINE_COMMANDS: &[&str] = &["git push", "git pull", "git fetch", "git status"];

/// Whether a checkpoint only repeats what was asked: the request was acknowledged,
/// and nothing else is known.
pub(super) fn tells_nothing(item: &Item) -> bool {
    if item.kind != Kind::Summary || item.detail.is_none() || !item.files_modified.is_empty() {
        return false;
    }
    let lists = [
        DetailList::Learned,
        DetailList::OpenSteps,
        DetailList::Notes,
        DetailList::Investigated,
        DetailList::Conclusion,
    ];
    let is_routine = |deed: &str| {
        ROUTINE_COMMANDS
            .iter()
            .any(|routine| deed.starts_with(routine))
    };
    // A request may contain a rule or a reason of its own. An unanswered question is
    // not empty either: other code rejects it with its own reason.
    let concludes = |asked: &str| {
        split_sentences(asked)
            .into_iter()
            .any(|said| weigh_sentence(said) >= 1.0)
    };
    lists.into_iter().all(|list| !item.has_listed(list))
        && item.detail_list(DetailList::Completed).all(is_routine)
        && rank_sentences(&collect_lines(item, DetailList::Said), "", SAID_BUDGET).is_empty()
        && !item
            .detail_list(DetailList::Asked)
            .any(|asked| concludes(asked) || only_asks(asked))
}

fn collect_lines(item: &Item, list: DetailList) -> Vec<String> {
    item.detail_list(list).map(str::to_owned).collect()
}

/// Whether everything a turn was asked is past its end date: then so is its
/// outcome.
pub(super) fn has_ended(item: &Item, now: i64) -> bool {
    if !item.has_listed(DetailList::Asked) {
        return ended_on(&item.title, item.time, now).is_some();
    }
    lines_in_force(item, DetailList::Asked, now).is_empty()
}

/// The lines of a list, without what is past its end date.
pub(super) fn lines_in_force(item: &Item, list: DetailList, now: i64) -> Vec<String> {
    let lines = item
        .detail_list(list)
        .map(|line| without_ended(line, item.time, now));
    let lines = lines.filter(|line| !line.is_empty());
    lines.map(Cow::into_owned).collect()
}

/// Whether a text only asks something.
pub(super) fn only_asks(text: &str) -> bool {
    text.trim_end().ends_with(['?', '？'])
}

/// The card, without what `known` says already; `None` if nothing would be left:
/// all of it is known, or a question got no answer. `asked` is the id of the prompt
/// where that is cited by itself.
pub(super) fn render_card(
    item: &Item,
    asked: Option<&str>,
    focus: CardFocus<'_>,
    known: &[WordSet],
    scene: &RecallContext<'_>,
) -> Option<String> {
    let about = match focus {
        CardFocus::About(text) | CardFocus::Best(text) | CardFocus::Standing(text) => text,
    };
    if has_ended(item, scene.now) {
        return None;
    }
    let list = |name| lines_in_force(item, name, scene.now);
    let tell = |mut sentences: Vec<String>| {
        if !known.is_empty() {
            sentences.retain(|sentence| {
                let words = telling_words(sentence);
                !known.iter().any(|said| said.says_words(&words))
            });
        }
        sanitize_line(&join_sentences(&sentences), MAX_LINE_CHARS)
    };
    let mut request = rank_sentences(&list(DetailList::Asked), about, ASKED_BUDGET);
    if request.is_empty() {
        request.extend(list(DetailList::Asked).into_iter().next());
    }
    let request = tell(request);
    // An interrupted turn has no last message, only what was done until then.
    let mut said = list(DetailList::Said);
    if said.is_empty() {
        said = list(DetailList::Completed);
    }
    // Options that the agent only offered are no outcome.
    let offered = options::read_offered(item);
    said.retain(|line| !offered.iter().any(|choice| choice.is_in(line)));
    // Steps that are left to do are no outcome either.
    let left: Vec<&str> = item.detail_list(DetailList::OpenSteps).collect();
    said.retain(|line| !left.iter().any(|step| is_step(line, step)));
    let room = match focus {
        CardFocus::Best(_) => BEST_SAID_BUDGET,
        CardFocus::About(_) | CardFocus::Standing(_) => SAID_BUDGET,
    };
    let concluded = rank_sentences(&said, about, room);
    let has_outcome = !concluded.is_empty();
    let outcome = tell(concluded);
    let source = asked.map_or_else(String::new, |name| format!(" ({name})"));
    let mut parts = Vec::new();
    if !outcome.is_empty() {
        parts.push(format!("outcome: {outcome}"));
    }
    if let CardFocus::Standing(_) = focus {
        for step in left.into_iter().take(MAX_STEPS) {
            let step = sanitize_line(step, MAX_STEP_CHARS);
            if !outcome.contains(&step) {
                parts.push(format!("left open: {step}"));
            }
        }
    }
    let is_unanswered = parts.is_empty() && only_asks(&request);
    // A request without a new outcome is worth a line only if it is cited by itself.
    let is_outcome_known = parts.is_empty() && has_outcome && asked.is_none();
    // There is no outcome, and the prompt asks the same again.
    let is_echo =
        || parts.is_empty() && WordSet::from_text(about).says_all(&telling_words(&request));
    // "Commit it" and "Committed as 749b51f" are useful to no later session.
    let is_status = || asked.is_none() && is_only_process(&format!("{request} {outcome}"));
    let is_empty = match focus {
        CardFocus::Standing(_) => is_unanswered,
        CardFocus::About(_) | CardFocus::Best(_) => is_unanswered || is_outcome_known || is_echo(),
    };
    if !matches!(focus, CardFocus::Standing(_)) && is_status() {
        return None;
    }
    if !request.is_empty() && !is_empty {
        parts.insert(0, format!("asked{source}: {request}"));
    }
    // Only where no request is known: otherwise the title is the request, and would
    // be shown as if the agent had said it.
    let is_asked = || item.has_listed(DetailList::Asked);
    if parts.is_empty() && !has_outcome && !is_asked() {
        parts.push(sanitize_line(&item.title, MAX_LINE_CHARS));
    }
    let mark = if is_untrusted(item) { "~" } else { "" };
    let branch = other_branch(item, scene).map_or_else(String::new, |branch| {
        format!(" [branch {}]", sanitize_line(branch, 60))
    });
    let head = format!(
        "{}{mark} {}{branch}",
        name_of(item),
        format_date(item.time.max(item.last_time)),
    );
    (!parts.is_empty()).then(|| format!("{head} {}", parts.join("\n  ")))
}

/// Whether a line of a message is this open step.
fn is_step(line: &str, step: &str) -> bool {
    let line = line.strip_prefix("- ").unwrap_or(line);
    let bare = |text: &str| text.trim_end_matches(['.', ';', '…']).to_lowercase();
    let (line, step) = (bare(line), bare(step));
    !step.is_empty() && line.starts_with(&step)
}
