//! What a prompt asks for, by rule: the past, to continue, to fix an error, new
//! work, or nothing that memory could help with.

use super::change::proposes_change;
use crate::sentence::is_not_spoken;
use crate::words::is_stop;

/// What a prompt asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptIntent {
    /// A question about what was done or decided.
    Past,
    /// Continuing what was begun.
    Continue,
    /// Something is broken.
    Mend,
    /// Anything else that asks for work.
    New,
    /// An answer, thanks, a greeting, or not the user's words at all.
    Trivial,
}

impl PromptIntent {
    /// Its name in reasons that users read.
    pub fn name(self) -> &'static str {
        match self {
            Self::Past => "a question about the past",
            Self::Continue => "going on",
            Self::Mend => "an error to mend",
            Self::New => "new work",
            Self::Trivial => "nothing to recall for",
        }
    }
}

/// Words that say nothing by themselves.
const FILLER_WORDS: &[&str] = &[
    "yes", "y", "yep", "yeah", "no", "n", "nope", "ok", "okay", "k", "sure", "thanks", "thank",
    "you", "thx", "please", "do", "it", "go", "ahead", "great", "nice", "good", "perfect", "cool",
    "fine", "right", "correct", "exactly", "done", "hi", "hello", "hey", "morning", "bye", "stop",
    "wait", "cancel", "lgtm", "approved", "approve", "looks", "that", "this", "works", "work",
    "sounds", "awesome", "well", "so", "and", "the", "all", "first", "second", "one", "option",
    "a", "b", "c", "both", "try", "again", "now", "just", "test", "ping", "commit", "push",
];

/// Phrases that ask to continue.
const CONTINUE_PHRASES: &[&str] = &[
    "continue",
    "go on",
    "carry on",
    "keep going",
    "proceed",
    "resume",
    "what's next",
    "whats next",
    "what is next",
    "next step",
    "where were we",
    "where did we leave",
    "where we left",
    "pick up where",
    "back to it",
    "finish what",
    "what's left",
    "what is left",
    "remaining work",
    "still open",
    "weiter",
    "继续",
    "接着",
    "下一步",
    "接下来",
    "还剩",
];

/// Phrases of a question about the past.
const PAST_PHRASES: &[&str] = &[
    "why did",
    "why is",
    "why are",
    "why does",
    "why do we",
    "why are we",
    "why have we",
    "why don't we",
    "why is our",
    "why was",
    "why were",
    "did we",
    "did i",
    "did you",
    "have we",
    "had we",
    "what did",
    "what was",
    "what were",
    "what have we",
    "what made",
    "what happened",
    "when did",
    "when was",
    "how did",
    "how was",
    "how do we",
    "where did",
    "where do we",
    "which did",
    "who decided",
    "last time",
    "last week",
    "yesterday",
    "remember",
    "recall",
    "previously",
    "earlier",
    "we decided",
    "we agreed",
    "we settled",
    "we chose",
    "we tried",
    "was it that",
    "used to",
    "remind me",
    "what came of",
    "last attempt",
    "do we use",
    "do we keep",
    "and why",
    "what's our",
    "what is our",
    "what are our",
    "do we have a rule",
    "为什么",
    "上次",
    "之前",
    "记得",
    "当时",
    "以前",
    "怎么定",
    "决定的",
    "是什么来着",
    "なぜ",
    "どうして",
];

/// Phrases that ask for a reason.
const WHY_PHRASES: &[&str] = &[
    "why",
    "warum",
    "wieso",
    "weshalb",
    "pourquoi",
    "por qué",
    "perché",
    "waarom",
    "почему",
];
/// Phrases that begin alike but propose something or address the agent.
const PROPOSING_WHY_PHRASES: &[&str] = &[
    "why not",
    "why don't you",
    "why can't",
    "why would",
    "warum nicht",
    "pourquoi pas",
];

/// Phrases about something broken.
const BROKEN_PHRASES: &[&str] = &[
    "error",
    "exception",
    "traceback",
    "panic",
    "fail",
    "fails",
    "failing",
    "failed",
    "failure",
    "broken",
    "crash",
    "segfault",
    "doesn't work",
    "does not work",
    "not working",
    "stopped working",
    "won't start",
    "won't build",
    "doesn't build",
    "doesn't compile",
    "flaky",
    "hangs",
    "times out",
    "timed out",
    "timeout again",
    "is red",
    "regression",
    "bug",
    "fix",
    "wrong result",
    "complains",
    "mend",
    "says:",
    "won't",
    "duplicates",
    "报错",
    "失败",
    "错误",
    "修复",
    "崩溃",
    "异常",
    "挂了",
    "不工作",
];

/// Phrases that ask for something to be made, whatever else is said.
const BUILD_PHRASES: &[&str] = &[
    "add",
    "write",
    "implement",
    "create",
    "build",
    "introduce",
    "support",
    "rename",
    "move",
    "extend",
    "update",
    "remove",
    "refactor",
];
/// Other beginnings of new work.
const NEW_WORK_PHRASES: &[&str] = &["document", "show", "return", "let's add", "please add"];
/// Verbs for new work and for repairs alike.
const ACTION_VERBS: &[&str] = &["make", "fix"];

/// Beginnings of a question, with or without a question mark.
const QUESTION_PHRASES: &[&str] = &[
    "why", "what", "what's", "when", "how", "where", "who", "which", "did", "have", "had", "was",
    "remind",
];

/// What is "fixed" without anything being broken.
const WORDING_NOUNS: &[&str] = &[
    "typo",
    "typos",
    "spelling",
    "wording",
    "grammar",
    "formatting",
    "indentation",
];

/// Beginnings of a statement that could be mistaken for a question.
const STATEMENT_PHRASES: &[&str] = &[
    "we decided",
    "we agreed",
    "we chose",
    "we settled",
    "i decided",
    "let's",
    "我们决定",
];

/// Phrases that never describe new work.
const FAILURE_PHRASES: &[&str] = &[
    "fails",
    "failing",
    "failed",
    "is broken",
    "crashes",
    "doesn't work",
    "does not work",
    "not working",
    "报错",
    "失败",
    "崩溃",
];

/// Tags of text that the client submits in the user's place, besides those of
/// `is_not_spoken`.
const CLIENT_TAGS: &[&str] = &["<teammate-message", "<user-memory-input"];

/// Words that a request for new work must have.
const MIN_NEW_WORK_WORDS: usize = 3;
/// The same for a change, whose verb says much: "lower the limit".
const MIN_CHANGE_WORDS: usize = 2;
/// How much of a prompt is read.
const MAX_PROMPT_BYTES: usize = 4_000;
/// A longer prompt asks for more than to continue.
const MAX_CONTINUE_WORDS: usize = 14;

/// What this prompt asks for. The order of the tests decides between several.
pub fn classify_intent(prompt: &str) -> PromptIntent {
    let text = &prompt[..prompt.floor_char_boundary(MAX_PROMPT_BYTES)];
    let text = text.trim();
    // Other tags are the user's: `<div>` may be what they ask about.
    let client = is_not_spoken(text) || CLIENT_TAGS.iter().any(|tag| text.starts_with(tag));
    if client || is_command(text) {
        return PromptIntent::Trivial;
    }
    let lower = text.to_lowercase().replace('’', "'");
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| !word.is_empty())
        .collect();
    let unspaced = lower.chars().filter(|c| is_unspaced(*c)).count();
    let says = |list: &[&str]| list.iter().any(|phrase| contains_phrase(&lower, phrase));
    if words.len() <= MAX_CONTINUE_WORDS
        && unspaced <= MAX_CONTINUE_WORDS * 2
        && says(CONTINUE_PHRASES)
        && !says(BROKEN_PHRASES)
    {
        return PromptIntent::Continue;
    }
    let empty =
        |word: &&str| FILLER_WORDS.contains(word) || word.chars().all(|c| c.is_ascii_digit());
    if unspaced < 4 && words.len() <= 8 && words.iter().all(empty) {
        return PromptIntent::Trivial;
    }
    if unspaced > 0
        && unspaced < 6
        && words.len() <= 1
        && !says(BROKEN_PHRASES)
        && !says(PAST_PHRASES)
    {
        return PromptIntent::Trivial;
    }
    // A statement asks nothing, even if it mentions the past.
    if starts_with_phrase(&lower, STATEMENT_PHRASES) && !lower.contains(['?', '？']) {
        return PromptIntent::New;
    }
    // A mention of the past is background where the prompt says what to do.
    let asks = lower.contains(['?', '？']) || starts_with_phrase(&lower, QUESTION_PHRASES);
    let telling = words.iter().filter(|word| !empty(word) && !is_stop(word));
    let telling = telling.count();
    // "Why" without anything broken asks for the reason of a choice.
    let why = starts_with_phrase(&lower, WHY_PHRASES)
        && !starts_with_phrase(&lower, PROPOSING_WHY_PHRASES)
        && !says(BROKEN_PHRASES)
        && telling > 0;
    let past = why || says(PAST_PHRASES) && (asks || !has_instruction(&lower));
    // A question about a failure of the past is a question about the past.
    if past
        && (lower.contains(['?', '？']) || starts_with_phrase(&lower, PAST_PHRASES) || unspaced > 0)
    {
        return PromptIntent::Past;
    }
    let named =
        |word: &&str| word.len() > 8 && (word.ends_with("error") || word.ends_with("exception"));
    let rewords = starts_with_phrase(&lower, &["fix"]) && says(WORDING_NOUNS);
    let new = starts_with_phrase(&lower, BUILD_PHRASES)
        || starts_with_phrase(&lower, NEW_WORK_PHRASES)
        || rewords;
    let builds = new && !says(FAILURE_PHRASES);
    if !builds && (says(BROKEN_PHRASES) || words.iter().any(named)) {
        return PromptIntent::Mend;
    }
    if past {
        return PromptIntent::Past;
    }
    // One or two words that every prompt has find nothing.
    let needed = if proposes_change(&lower) {
        MIN_CHANGE_WORDS
    } else {
        MIN_NEW_WORK_WORDS
    };
    if unspaced == 0 && !lower.contains('?') && telling < needed {
        return PromptIntent::Trivial;
    }
    PromptIntent::New
}

/// Whether a sentence or clause of the text says what to do.
fn has_instruction(text: &str) -> bool {
    let sentences = text.split([';', '\n', '!']).flat_map(|s| s.split(". "));
    sentences
        .map(|sentence| sentence.trim().trim_start_matches("please "))
        .any(|sentence| {
            starts_with_phrase(sentence, BUILD_PHRASES)
                || starts_with_phrase(sentence, ACTION_VERBS)
        })
}

/// `/name` at the very beginning; a path has more slashes.
fn is_command(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('/') else {
        return false;
    };
    let name = rest.split_whitespace().next().unwrap_or("");
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':');
    !name.is_empty() && name.chars().all(plain)
}

/// Whether the text contains the phrase, not in the middle of a word.
fn contains_phrase(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + phrase.len()..].chars().next();
        let apart = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() || is_unspaced(c));
        apart(before) && (apart(after) || phrase.chars().all(is_unspaced))
            || phrase.chars().all(is_unspaced)
    })
}

fn starts_with_phrase(text: &str, phrases: &[&str]) -> bool {
    let rest = phrases
        .iter()
        .filter_map(|phrase| text.strip_prefix(phrase));
    rest.into_iter()
        .any(|rest| !rest.starts_with(char::is_alphanumeric))
}

/// Whether it belongs to a script without spaces.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_intent_is_told_by_its_words() {
        use PromptIntent::{Continue, Mend, New, Past, Trivial};
        let cases = [
            ("yes", Trivial),
            ("run the tests", Trivial),
            ("ok, go ahead", Trivial),
            ("thanks!", Trivial),
            ("2", Trivial),
            ("好的", Trivial),
            ("", Trivial),
            ("/clear", Trivial),
            ("<task-notification>\n<task-id>a</task-id>", Trivial),
            (
                "<local-command-stdout>why is it 3?</local-command-stdout>",
                Trivial,
            ),
            ("<teammate-message from=\"a\">why is it 3?", Trivial),
            ("<div> is not closed, fix it", Mend),
            ("<Button> should take a size property too", New),
            ("why httpx?", Past),
            ("why Celery", Past),
            ("Warum PostgreSQL?", Past),
            ("pourquoi httpx et pas requests ?", Past),
            ("なぜSQLiteですか", Past),
            ("why?", New),
            ("why not use a queue for the exporter?", New),
            ("why won't the server start", Mend),
            ("continue", Continue),
            ("please carry on with the migration", Continue),
            ("where were we?", Continue),
            ("继续", Continue),
            ("why is the retry limit 3?", Past),
            ("why did we drop the connection pool?", Past),
            ("What was the reason for pinning tokio?", Past),
            ("remind me how releases are cut", Past),
            ("上次为什么换成 SQLite？", Past),
            ("cargo test fails with E0502 in retry.rs", Mend),
            ("the login page is broken again", Mend),
            ("构建报错了，帮我看看", Mend),
            ("add a --json flag to the list command", New),
            ("/home/me/app/src/x.rs needs a doc comment", New),
            ("Add error handling to the exporter", New),
            ("vitest says ReferenceError: document is not defined", Mend),
            ("Which state library do we use and why?", Past),
            ("Add metrics; we decided to name them app_", New),
            ("rename recall() to fetch()", New),
            ("earlier tests pass; implement the new login form", New),
            (
                "I used to like this; please add a dark theme to the settings page",
                New,
            ),
            ("Add a retry to the fetcher, and why not a cache too", New),
            ("Fix the typo in README", New),
            ("Update the error message of the importer", New),
            ("Fix the login, we decided it must hold a day", Mend),
            ("fix the build", Mend),
            ("Add a cache here. What did we decide about its size?", Past),
            ("show me what we decided about retries", Past),
            ("remind me what we decided. Add it to the docs", Past),
            ("We decided to use sqlite because it is small", New),
            ("Increase how often we try again", New),
            ("drop it", Trivial),
            ("debug output should go to stderr", New),
            ("给导出命令加一个进度条", New),
        ];
        for (prompt, wanted) in cases {
            assert_eq!(classify_intent(prompt), wanted, "{prompt}");
        }
    }
}
