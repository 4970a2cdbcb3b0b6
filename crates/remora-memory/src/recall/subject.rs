//! Whether a prompt has a subject of its own, and which things it names. "Commit
//! this and open a PR" is the same in every session: what resembles it are other
//! commits, and none is useful.

use std::collections::HashSet;

use remora_core::text::cut_chars;

use super::card;
use super::relevance::is_common;
use crate::sentence::is_wide;
use crate::words::{self, is_stop};

/// Words about submitting work, which occur in every session.
const PROCESS_WORDS: &[&str] = &[
    "address",
    "again",
    "amend",
    "answer",
    "branch",
    "branches",
    "changelog",
    "changes",
    "check",
    "close",
    "comment",
    "comments",
    "commit",
    "commits",
    "committed",
    "describe",
    "description",
    "diff",
    "draft",
    "first",
    "fix",
    "git",
    "github",
    "gitlab",
    "good",
    "https",
    "issue",
    "issues",
    "last",
    "look",
    "main",
    "master",
    "meaningful",
    "merge",
    "merged",
    "message",
    "new",
    "next",
    "number",
    "ok",
    "okay",
    "one",
    "open",
    "option",
    "options",
    "points",
    "pr",
    "prs",
    "pull",
    "push",
    "pushed",
    "readme",
    "rebase",
    "rebased",
    "request",
    "requests",
    "review",
    "reviews",
    "run",
    "second",
    "short",
    "small",
    "squash",
    "summarize",
    "summary",
    "take",
    "tests",
    "thanks",
    "then",
    "third",
    "title",
    "two",
    "update",
    "write",
];
/// How many other words a prompt must have to be about something.
const MIN_SUBJECT_WORDS: usize = 2;
/// Words that a later prompt must have to be about something by itself.
const MIN_LATER_WORDS: usize = 3;

/// How long the common beginning of prompts is that a program writes, and how many
/// earlier ones must share it.
const TEMPLATE_CHARS: usize = 200;
const MIN_TEMPLATE_PROMPTS: usize = 3;

/// Whether the prompt is about nothing but submitting work.
pub(super) fn is_only_process(prompt: &str) -> bool {
    let words = prompt.split_whitespace();
    let words: Vec<&str> = words.filter(|word| !word.contains("://")).collect();
    let is_number = |term: &str| term.bytes().all(|byte| byte.is_ascii_digit());
    let is_subject = |term: &str| !is_number(term) && !PROCESS_WORDS.contains(&term);
    count_telling(&words.join(" "), is_subject) < MIN_SUBJECT_WORDS
}

/// Whether a prompt is so short that it refers to what was said just before: "let's
/// do 2", "can you commit?".
pub(super) fn is_reply(prompt: &str) -> bool {
    count_telling(prompt, |_| true) < MIN_LATER_WORDS
}

/// How many different words that are no stop words satisfy `counts`.
fn count_telling(text: &str, counts: impl Fn(&str) -> bool) -> usize {
    let mut shared = HashSet::new();
    words::for_each_term(text, |term, _| {
        // Words of scripts without spaces are read two characters at a time.
        let tells = term.chars().count() > 2 || term.chars().any(is_wide);
        if tells && counts(term) && !is_stop(term) && !is_common(term) {
            shared.insert(term.to_owned());
        }
    });
    shared.len()
}

/// Whether a program writes such prompts: several earlier ones have the same
/// beginning.
pub(super) fn is_template<'p>(prompt: &str, earlier: impl Iterator<Item = &'p str>) -> bool {
    let head = |text: &'p str| cut_chars(text.trim_start(), TEMPLATE_CHARS);
    let Some(own) = cut_chars(prompt.trim_start(), TEMPLATE_CHARS) else {
        return false;
    };
    earlier.filter(|text| head(text) == Some(own)).count() >= MIN_TEMPLATE_PROMPTS
}

/// Words of private life and of texts for it: somebody who needs a haiku or a line
/// to the landlord asks about nothing that the project knows, whatever words the
/// two share.
const PRIVATE_WORDS: &[&str] = &[
    "anniversary",
    "aunt",
    "birthday",
    "boyfriend",
    "brother",
    "christmas",
    "cousin",
    "dad",
    "daughter",
    "dentist",
    "doctor",
    "eulogy",
    "father",
    "flatmate",
    "girlfriend",
    "grandfather",
    "grandma",
    "grandmother",
    "grandpa",
    "haiku",
    "holiday",
    "homework",
    "husband",
    "joke",
    "kids",
    "landlord",
    "limerick",
    "mom",
    "mother",
    "mum",
    "nephew",
    "neighbor",
    "neighbour",
    "niece",
    "poem",
    "private",
    "school",
    "sister",
    "son",
    "toast",
    "uncle",
    "vacation",
    "wedding",
    "wife",
    "bruder",
    "ehefrau",
    "ehemann",
    "gedicht",
    "geburtstag",
    "hochzeit",
    "mutter",
    "nachbar",
    "privat",
    "schule",
    "schwester",
    "sohn",
    "tochter",
    "urlaub",
    "vater",
    "vermieter",
    "zahnarzt",
    "boda",
    "casero",
    "cumpleaños",
    "hermana",
    "hermano",
    "hija",
    "hijo",
    "poema",
    "vacaciones",
    "anniversaire",
    "fille",
    "fils",
    "frère",
    "mariage",
    "poème",
    "sœur",
];

/// Whether the prompt speaks of private life in a word that none of these texts has:
/// in a project about weddings a wedding is work.
pub(super) fn is_private(prompt: &str, texts: &[&str]) -> bool {
    let lower = prompt.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric());
    words.any(|word| {
        let is_known = |text: &&str| text.to_lowercase().contains(word);
        PRIVATE_WORDS.contains(&word) && !texts.iter().any(is_known)
    })
}

/// What stands before the verb of a request.
const REQUEST_OPENINGS: &[&str] = &[
    "please", "pls", "ok", "okay", "now", "just", "can", "could", "you", "and", "then", "also",
];
/// Verbs of everyday steps that need no memory. Not those of handing in: users have
/// rules about commits and branches.
const CHORE_VERBS: &[&str] = &[
    "build", "execute", "format", "lint", "list", "print", "rerun", "restart", "run", "show",
    "start",
];
/// Telling words that a request for such a step has at most; a longer one may well
/// touch something that was decided.
const MAX_CHORE_WORDS: usize = 7;

/// Whether the prompt asks for an everyday step: "run the tests", "show the log".
pub(super) fn is_chore(prompt: &str) -> bool {
    let lower = prompt.to_lowercase();
    let mut words = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    let verb = words.find(|word| !REQUEST_OPENINGS.contains(word));
    verb.is_some_and(|verb| CHORE_VERBS.contains(&verb))
        && count_telling(prompt, |_| true) <= MAX_CHORE_WORDS
}

/// Words that begin a question.
const QUESTION_WORDS: &[&str] = &[
    "are", "did", "do", "does", "how", "is", "what", "whats", "when", "where", "which", "who",
    "why", "was", "wann", "warum", "welche", "wer", "wie", "wo", "combien", "comment", "quand",
    "quel", "quelle", "cómo", "cuándo", "cuál", "dónde", "qué",
];
/// Words by which users speak of themselves and their project.
const OWN_WORDS: &[&str] = &[
    "our", "ours", "us", "we", "uns", "unser", "unsere", "unseren", "wir", "nos", "notre", "nous",
    "nosotros", "nuestra", "nuestro",
];

/// Whether a prompt asks what users do or have in their project: "how often do we
/// try?", "in which format do we deliver?". Silence is hardly ever right then.
pub(super) fn asks_about_own(prompt: &str) -> bool {
    let lower = prompt.to_lowercase();
    let mut words = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    let first = words.clone().find(|word| !REQUEST_OPENINGS.contains(word));
    let asks = card::only_asks(prompt) || first.is_some_and(|word| QUESTION_WORDS.contains(&word));
    asks && words.any(|word| OWN_WORDS.contains(&word))
}

/// Files that every project has: naming one says little.
const COMMON_FILES: &[&str] = &[
    "changelog.md",
    "readme.md",
    "claude.md",
    "agents.md",
    "main.go",
    "main.rs",
    "main.py",
    "index.ts",
    "index.js",
    "package.json",
    "cargo.toml",
    "go.mod",
    "makefile",
];
/// Characters that a name must have.
const MIN_NAME_CHARS: usize = 4;
/// Names of a prompt that are used; a pasted log has hundreds.
const MAX_NAMES: usize = 32;

/// The files, symbols, flags and error codes that a prompt names, in lower case,
/// known by a spelling that no ordinary word has.
pub(super) fn find_names(prompt: &str) -> Vec<String> {
    let is_around = |c: char| !c.is_alphanumeric() && !matches!(c, '_' | '/' | '-');
    let words = prompt
        .split_whitespace()
        .filter(|word| !word.contains("://"));
    let mut names = Vec::new();
    for word in words.map(|word| word.trim_matches(is_around)) {
        let file = word.rsplit('/').next().unwrap_or(word).to_lowercase();
        let is_known_everywhere = COMMON_FILES.contains(&file.as_str());
        if is_name(word) && !is_known_everywhere && !names.contains(&file) {
            names.push(file);
        }
        if names.len() == MAX_NAMES {
            break;
        }
    }
    names
}

fn is_name(word: &str) -> bool {
    if word.chars().count() < MIN_NAME_CHARS {
        return false;
    }
    let pairs = || word.chars().zip(word.chars().skip(1));
    let is_camel = pairs().any(|(one, next)| one.is_lowercase() && next.is_uppercase());
    let is_flag = word.starts_with("--");
    let is_dotted = word.rsplit_once('.').is_some_and(|(name, end)| {
        let letters = |text: &str| text.chars().any(char::is_alphabetic);
        letters(name) && letters(end) && end.chars().all(char::is_alphanumeric)
    });
    let is_code = word.chars().next().is_some_and(char::is_uppercase)
        && pairs().any(|(one, next)| one.is_uppercase() && next.is_ascii_digit());
    let is_snake = word.contains('_') || word.contains("::");
    is_camel || is_flag || is_dotted || is_code || is_snake
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_life_is_no_work_unless_the_project_knows_it() {
        let prompt = "a toast for my sister's wedding, please";
        assert!(is_private(prompt, &["seats of a hall"]));
        let plans = ["The wedding planner", "a toast to one's sister"];
        assert!(!is_private(prompt, &plans));
        assert!(!is_private("the parson sonnet", &[]));
    }

    #[test]
    fn everyday_steps_are_chores_and_larger_ones_are_not() {
        for prompt in [
            "run vitest pls",
            "Please run the whole build once and tell me whether it is green.",
            "can you restart the dev server",
        ] {
            assert!(is_chore(prompt), "{prompt}");
        }
        for prompt in [
            "runs are slow, look at the pool",
            "run the backfill of the refunds for 2024 right away so that it is there when Marit looks",
            "add a retry to the client",
        ] {
            assert!(!is_chore(prompt), "{prompt}");
        }
    }

    #[test]
    fn a_question_about_own_things_is_told_from_others() {
        for prompt in [
            "how often do we try before an event is dead",
            "What percentage do our sub-agents get?",
            "wie lange halten wir die Plätze?",
        ] {
            assert!(asks_about_own(prompt), "{prompt}");
        }
        for prompt in [
            "what does &. do in ruby again?",
            "we need a retry in the client",
        ] {
            assert!(!asks_about_own(prompt), "{prompt}");
        }
    }

    #[test]
    fn a_prompt_about_handing_in_has_no_subject() {
        for prompt in [
            "do 1, push, open an issue",
            "write a short PR description",
            "take a look at https://example.org/acme/app/pull/63",
            "new branch, meaningful commits",
            "fix 1, the small one first",
        ] {
            assert!(is_only_process(prompt), "{prompt}");
        }
        for prompt in [
            "push the retry limit to 5",
            "write the changelog entry of the parser rewrite",
            "review how refs are pruned in a fetch",
            "提交说明用中文写",
        ] {
            assert!(!is_only_process(prompt), "{prompt}");
        }
    }

    #[test]
    fn a_name_is_written_as_no_word_is() {
        let prompt = "In `src/sync/push.go` parseRefs() fails with E0502 when --all-refs is set, see \
                      README.md, https://example.org/a_b and e.g. max_batch; either/or, ok?";
        assert_eq!(
            find_names(prompt),
            ["push.go", "parserefs", "e0502", "--all-refs", "max_batch"]
        );
    }

    #[test]
    fn a_template_is_known_by_its_beginning() {
        let prompt =
            |end: &str| format!("{} {end}", "Check the state of the nightly job. ".repeat(6));
        let earlier: Vec<String> = ["a", "b", "c"].into_iter().map(prompt).collect();
        let texts = || earlier.iter().map(String::as_str);
        assert!(is_template(&prompt("d"), texts()));
        assert!(!is_template(&prompt("d"), texts().take(2)));
        assert!(!is_template("Check the state", texts()));
    }
}
