//! Whether a prompt has a subject of its own. "Commit this and open a PR" is the
//! same in every session: what is like it are other commits, and none is of use.

use std::collections::HashSet;

use super::relevance::is_common;
use crate::sentence::is_wide;
use crate::words::{self, is_stop};

/// Words of how work is handed in, of every session.
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
/// Words beside them that a prompt must have to be about something.
const MIN_SUBJECT_WORDS: usize = 2;

/// How much of a prompt is alike where a program writes it, and how many earlier
/// ones must be.
const TEMPLATE_CHARS: usize = 200;
const MIN_TEMPLATE_PROMPTS: usize = 3;

/// Whether all that the prompt speaks of is how work is handed in.
pub(super) fn is_only_process(prompt: &str) -> bool {
    let text: String = prompt
        .split_whitespace()
        .filter(|word| !word.contains("://"))
        .collect::<Vec<_>>()
        .join(" ");
    let mut told = HashSet::new();
    words::each(&text, |term, _| {
        let is_number = term.bytes().all(|byte| byte.is_ascii_digit());
        let tells = !is_number && (term.chars().count() > 2 || term.chars().any(is_wide));
        let is_process = PROCESS_WORDS.contains(&term);
        if tells && !is_process && !is_stop(term) && !is_common(term) {
            told.insert(term.to_owned());
        }
    });
    told.len() < MIN_SUBJECT_WORDS
}

/// Whether a program writes such prompts: the beginning is the same as that of
/// several earlier ones.
pub(super) fn is_template<'p>(prompt: &str, earlier: impl Iterator<Item = &'p str>) -> bool {
    let head = |text: &'p str| {
        text.trim_start()
            .char_indices()
            .nth(TEMPLATE_CHARS)
            .map(|(end, _)| &text.trim_start()[..end])
    };
    let prompt = prompt.trim_start();
    let Some((end, _)) = prompt.char_indices().nth(TEMPLATE_CHARS) else {
        return false;
    };
    let own = &prompt[..end];
    earlier.filter(|text| head(text) == Some(own)).count() >= MIN_TEMPLATE_PROMPTS
}

#[cfg(test)]
mod tests {
    use super::*;

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
