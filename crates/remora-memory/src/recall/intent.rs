//! What a person is after, by rule: a question about the past, going on, an
//! error to mend, new work; or nothing that memory could help with.

use super::change::proposes_change;
use crate::sentence::is_not_spoken;
use crate::words::is_stop;

/// What a prompt is after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intent {
    /// A question about what was done or decided.
    Past,
    /// Going on with what was begun.
    Continue,
    /// Something is broken.
    Mend,
    /// Anything else that asks for work.
    New,
    /// An answer, thanks, a greeting, or not a person's words at all.
    Trivial,
}

impl Intent {
    /// The words for it.
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

/// Words that say nothing on their own.
const EMPTY: &[&str] = &[
    "yes", "y", "yep", "yeah", "no", "n", "nope", "ok", "okay", "k", "sure", "thanks", "thank",
    "you", "thx", "please", "do", "it", "go", "ahead", "great", "nice", "good", "perfect", "cool",
    "fine", "right", "correct", "exactly", "done", "hi", "hello", "hey", "morning", "bye", "stop",
    "wait", "cancel", "lgtm", "approved", "approve", "looks", "that", "this", "works", "work",
    "sounds", "awesome", "well", "so", "and", "the", "all", "first", "second", "one", "option",
    "a", "b", "c", "both", "try", "again", "now", "just", "test", "ping", "commit", "push",
];

/// What a person says to go on.
const GOING_ON: &[&str] = &[
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

/// What a question about the past begins with or holds.
const PAST: &[&str] = &[
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

/// How a reason is asked for.
const WHY: &[&str] = &[
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
/// What begins like it and proposes something, or asks about a person.
const WHY_NOT: &[&str] = &[
    "why not",
    "why don't you",
    "why can't",
    "why would",
    "warum nicht",
    "pourquoi pas",
];

/// What is said of something broken.
const BROKEN: &[&str] = &[
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

/// What somebody says who wants something made, whatever else is told.
const BUILDING: &[&str] = &[
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
/// How new work begins, besides.
const BEGINNING: &[&str] = &["document", "show", "return", "let's add", "please add"];
/// What else is done, new or broken.
const DOING: &[&str] = &["make", "fix"];

/// How a question begins, with or without its mark.
const ASKING: &[&str] = &[
    "why", "what", "what's", "when", "how", "where", "who", "which", "did", "have", "had", "was",
    "remind",
];

/// What is mended without anything being broken.
const WORDING: &[&str] = &[
    "typo",
    "typos",
    "spelling",
    "wording",
    "grammar",
    "formatting",
    "indentation",
];

/// How a statement begins that could be taken for a question.
const STATING: &[&str] = &[
    "we decided",
    "we agreed",
    "we chose",
    "we settled",
    "i decided",
    "let's",
    "我们决定",
];

/// What is never said of new work.
const FAILING: &[&str] = &[
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

/// What the client says in a person's place, besides what no statement is
/// looked for in.
const CLIENT: &[&str] = &["<teammate-message", "<user-memory-input"];

/// Words that new work must be told in.
const TELLING: usize = 3;
/// The same of a change, whose verb tells much: "lower the limit".
const CHANGE_TELLING: usize = 2;
/// How far a prompt is looked at.
const LOOK: usize = 4_000;
/// A longer prompt does not just go on.
const SHORT: usize = 14;

/// What this prompt is after.
pub fn intent(prompt: &str) -> Intent {
    let text = &prompt[..prompt.floor_char_boundary(LOOK)];
    let text = text.trim();
    // Other tags are a person's: `<div>` may be what they ask about.
    let client = is_not_spoken(text) || CLIENT.iter().any(|tag| text.starts_with(tag));
    if client || is_command(text) {
        return Intent::Trivial;
    }
    let lower = text.to_lowercase().replace('’', "'");
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| !word.is_empty())
        .collect();
    let unspaced = lower.chars().filter(|c| is_unspaced(*c)).count();
    let says = |list: &[&str]| list.iter().any(|phrase| holds(&lower, phrase));
    if words.len() <= SHORT && unspaced <= SHORT * 2 && says(GOING_ON) && !says(BROKEN) {
        return Intent::Continue;
    }
    let empty = |word: &&str| EMPTY.contains(word) || word.chars().all(|c| c.is_ascii_digit());
    if unspaced < 4 && words.len() <= 8 && words.iter().all(empty) {
        return Intent::Trivial;
    }
    if unspaced > 0 && unspaced < 6 && words.len() <= 1 && !says(BROKEN) && !says(PAST) {
        return Intent::Trivial;
    }
    // Whoever states something asks nothing.
    if begins(&lower, STATING) && !lower.contains(['?', '？']) {
        return Intent::New;
    }
    // What else is told of the past asks nothing where something is to be done.
    let asks = lower.contains(['?', '？']) || begins(&lower, ASKING);
    let telling = words.iter().filter(|word| !empty(word) && !is_stop(word));
    let telling = telling.count();
    // `why` of nothing that is broken asks for the reason of a choice.
    let why = begins(&lower, WHY) && !begins(&lower, WHY_NOT) && !says(BROKEN) && telling > 0;
    let past = why || says(PAST) && (asks || !does(&lower));
    // A question about a failure of the past is a question about the past.
    if past && (lower.contains(['?', '？']) || begins(&lower, PAST) || unspaced > 0) {
        return Intent::Past;
    }
    let named =
        |word: &&str| word.len() > 8 && (word.ends_with("error") || word.ends_with("exception"));
    let rewords = begins(&lower, &["fix"]) && says(WORDING);
    let new = begins(&lower, BUILDING) || begins(&lower, BEGINNING) || rewords;
    let builds = new && !says(FAILING);
    if !builds && (says(BROKEN) || words.iter().any(named)) {
        return Intent::Mend;
    }
    if past {
        return Intent::Past;
    }
    // Nothing can be found by a word or two that every prompt has.
    let needed = if proposes_change(&lower) {
        CHANGE_TELLING
    } else {
        TELLING
    };
    if unspaced == 0 && !lower.contains('?') && telling < needed {
        return Intent::Trivial;
    }
    Intent::New
}

/// Whether a sentence of the text, or half of one, says what to do.
fn does(text: &str) -> bool {
    let sentences = text.split([';', '\n', '!']).flat_map(|s| s.split(". "));
    sentences
        .map(|sentence| sentence.trim().trim_start_matches("please "))
        .any(|sentence| begins(sentence, BUILDING) || begins(sentence, DOING))
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

/// Whether the phrase stands in the text, not in the middle of a word.
fn holds(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + phrase.len()..].chars().next();
        let apart = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() || is_unspaced(c));
        apart(before) && (apart(after) || phrase.chars().all(is_unspaced))
            || phrase.chars().all(is_unspaced)
    })
}

fn begins(text: &str, phrases: &[&str]) -> bool {
    let rest = phrases
        .iter()
        .filter_map(|phrase| text.strip_prefix(phrase));
    rest.into_iter()
        .any(|rest| !rest.starts_with(char::is_alphanumeric))
}

/// Of a script that is written without spaces.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_intent_is_told_by_its_words() {
        let cases = [
            ("yes", Intent::Trivial),
            ("run the tests", Intent::Trivial),
            ("ok, go ahead", Intent::Trivial),
            ("thanks!", Intent::Trivial),
            ("2", Intent::Trivial),
            ("好的", Intent::Trivial),
            ("", Intent::Trivial),
            ("/clear", Intent::Trivial),
            ("<task-notification>\n<task-id>a</task-id>", Intent::Trivial),
            (
                "<local-command-stdout>why is it 3?</local-command-stdout>",
                Intent::Trivial,
            ),
            ("<teammate-message from=\"a\">why is it 3?", Intent::Trivial),
            ("<div> is not closed, fix it", Intent::Mend),
            ("<Button> should take a size property too", Intent::New),
            ("why httpx?", Intent::Past),
            ("why Celery", Intent::Past),
            ("Warum PostgreSQL?", Intent::Past),
            ("pourquoi httpx et pas requests ?", Intent::Past),
            ("なぜSQLiteですか", Intent::Past),
            ("why?", Intent::New),
            ("why not use a queue for the exporter?", Intent::New),
            ("why won't the server start", Intent::Mend),
            ("continue", Intent::Continue),
            ("please carry on with the migration", Intent::Continue),
            ("where were we?", Intent::Continue),
            ("继续", Intent::Continue),
            ("why is the retry limit 3?", Intent::Past),
            ("why did we drop the connection pool?", Intent::Past),
            ("What was the reason for pinning tokio?", Intent::Past),
            ("remind me how releases are cut", Intent::Past),
            ("上次为什么换成 SQLite？", Intent::Past),
            ("cargo test fails with E0502 in retry.rs", Intent::Mend),
            ("the login page is broken again", Intent::Mend),
            ("构建报错了，帮我看看", Intent::Mend),
            ("add a --json flag to the list command", Intent::New),
            ("/home/me/app/src/x.rs needs a doc comment", Intent::New),
            ("Add error handling to the exporter", Intent::New),
            (
                "vitest says ReferenceError: document is not defined",
                Intent::Mend,
            ),
            ("Which state library do we use and why?", Intent::Past),
            ("Add metrics; we decided to name them app_", Intent::New),
            ("rename recall() to fetch()", Intent::New),
            (
                "earlier tests pass; implement the new login form",
                Intent::New,
            ),
            (
                "I used to like this; please add a dark theme to the settings page",
                Intent::New,
            ),
            (
                "Add a retry to the fetcher, and why not a cache too",
                Intent::New,
            ),
            ("Fix the typo in README", Intent::New),
            ("Update the error message of the importer", Intent::New),
            ("Fix the login, we decided it must hold a day", Intent::Mend),
            ("fix the build", Intent::Mend),
            (
                "Add a cache here. What did we decide about its size?",
                Intent::Past,
            ),
            ("show me what we decided about retries", Intent::Past),
            (
                "remind me what we decided. Add it to the docs",
                Intent::Past,
            ),
            ("We decided to use sqlite because it is small", Intent::New),
            ("Increase how often we try again", Intent::New),
            ("drop it", Intent::Trivial),
            ("debug output should go to stderr", Intent::New),
            ("给导出命令加一个进度条", Intent::New),
        ];
        for (prompt, wanted) in cases {
            assert_eq!(intent(prompt), wanted, "{prompt}");
        }
    }
}
