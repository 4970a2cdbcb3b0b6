//! The request, from the prompts: their first meaningful sentences, without pasted
//! code and logs.

use remora_core::text::{collapse_whitespace, truncate_bytes};

use super::MAX_REQUEST_CHARS;
use crate::sentence::{self, one_line, strip_markup};

/// Between the requests of several prompts.
pub(super) const REQUEST_SEPARATOR: &str = " · ";
/// The most prompts that are quoted.
const MAX_PROMPTS: usize = 3;

/// Answers that ask for nothing new.
const TRIVIAL_ANSWERS: &[&str] = &[
    "ok",
    "okay",
    "k",
    "yes",
    "y",
    "yeah",
    "yep",
    "yup",
    "no",
    "n",
    "nope",
    "sure",
    "thanks",
    "thank you",
    "thx",
    "great",
    "good",
    "nice",
    "perfect",
    "cool",
    "continue",
    "go on",
    "go ahead",
    "proceed",
    "go",
    "next",
    "done",
    "please continue",
    "keep going",
    "do it",
    "yes please",
    "sounds good",
    "looks good",
    "lgtm",
    "hi",
    "hello",
    "hey",
    "please",
    "carry on",
    "resume",
    "yes do it",
    "ok thanks",
    "ok continue",
    "great thanks",
    "please proceed",
    "yes continue",
    "yes go ahead",
    "ok go ahead",
    "good job",
    "well done",
    "exit",
    "quit",
    "好",
    "好的",
    "是",
    "是的",
    "对",
    "继续",
    "可以",
    "行",
    "嗯",
    "谢谢",
    "不用了",
    "请继续",
    "没问题",
    "没有",
    "不",
    "ok继续",
    "好的继续",
    "继续吧",
    "好谢谢",
    "好的谢谢",
    "你好",
    "开始",
    "开始吧",
    "はい",
    "続けて",
    "ありがとう",
    "ja",
    "danke",
    "weiter",
    "sí",
    "gracias",
    "oui",
    "merci",
];

/// Words of an answer that only agrees with a proposal.
const ASSENT_WORDS: &[&str] = &[
    "agree",
    "agreed",
    "ahead",
    "all",
    "approve",
    "approved",
    "awesome",
    "by",
    "carry",
    "confirm",
    "confirmed",
    "continue",
    "cool",
    "correct",
    "do",
    "exactly",
    "excellent",
    "fine",
    "for",
    "go",
    "good",
    "great",
    "i",
    "i'm",
    "is",
    "it",
    "let's",
    "lets",
    "lgtm",
    "look",
    "looks",
    "me",
    "nice",
    "ok",
    "okay",
    "on",
    "perfect",
    "please",
    "pls",
    "proceed",
    "right",
    "ship",
    "sound",
    "sounds",
    "sure",
    "thank",
    "thanks",
    "that",
    "that's",
    "thats",
    "this",
    "to",
    "with",
    "works",
    "yeah",
    "yep",
    "yes",
    "you",
    "yup",
    "einverstanden",
    "genau",
    "ja",
    "klar",
    "passt",
    "bitte",
];
/// The most words of such an answer.
const MAX_ASSENT_WORDS: usize = 8;
/// Words around the letter or number of a choice.
const CHOICE_WORDS: &[&str] = &[
    "and", "both", "choose", "let's", "number", "option", "options", "pick", "take", "the", "then",
    "variant",
];

/// Whether a text only agrees, or only names what it chooses.
fn only_answers(text: &str) -> bool {
    if text.contains(['?', '？', '`', '/']) || text.chars().count() > 60 {
        return false;
    }
    let lower = text.to_lowercase().replace('’', "'");
    let words: Vec<&str> = lower
        .split(|c: char| !(c.is_alphanumeric() || c == '\''))
        .filter(|word| !word.is_empty())
        .collect();
    let is_label = |word: &str| matches!(word.as_bytes(), [b'a'..=b'h' | b'1'..=b'9']);
    let answers =
        |word: &&str| is_label(word) || ASSENT_WORDS.contains(word) || CHOICE_WORDS.contains(word);
    !words.is_empty() && words.len() <= MAX_ASSENT_WORDS && words.iter().all(answers)
}

/// Slash commands that control the client and ask for no work.
const CLIENT_COMMANDS: &[&str] = &[
    "/clear",
    "/compact",
    "/model",
    "/help",
    "/exit",
    "/quit",
    "/login",
    "/logout",
    "/config",
    "/status",
    "/cost",
    "/resume",
    "/memory",
    "/permissions",
    "/hooks",
    "/mcp",
    "/agents",
    "/doctor",
    "/fast",
    "/effort",
    "/context",
    "/usage",
    "/add-dir",
    "/vim",
    "/theme",
];

/// Whether a text has nothing to remember.
pub(crate) fn is_trivial(text: &str) -> bool {
    let mut spoken: String = text
        .trim()
        .chars()
        .take(40)
        .flat_map(char::to_lowercase)
        .filter(|c| c.is_alphanumeric() || c.is_whitespace())
        .collect();
    spoken = collapse_whitespace(&spoken);
    spoken.is_empty()
        || only_answers(text)
        || TRIVIAL_ANSWERS.contains(&spoken.as_str()) && text.chars().count() < 60
}

/// The request of all prompts, one line.
pub(super) fn extract_request(prompts: &[&str]) -> String {
    let mut parts: Vec<String> = Vec::new();
    for prompt in prompts {
        if let Some(part) = extract_prompt_request(prompt)
            && !parts.contains(&part)
        {
            parts.push(part);
        }
    }
    // The first prompt set the task, the last ones show where it has come to.
    if parts.len() > MAX_PROMPTS {
        parts.drain(1..parts.len() - (MAX_PROMPTS - 1));
    }
    let gaps = REQUEST_SEPARATOR.chars().count() * parts.len().saturating_sub(1);
    let Some(share) = (MAX_REQUEST_CHARS - gaps).checked_div(parts.len()) else {
        return String::new();
    };
    // What short parts leave unused goes to longer ones.
    let mut unused = parts
        .iter()
        .map(|p| share.saturating_sub(p.chars().count()))
        .sum::<usize>();
    let shown: Vec<String> = parts
        .iter()
        .map(|part| {
            let wanted = part.chars().count().saturating_sub(share);
            let extra = wanted.min(unused);
            unused -= extra;
            one_line(part, share + extra)
        })
        .collect();
    shown.join(REQUEST_SEPARATOR)
}

/// The subject of a request: its first sentence.
pub(super) fn find_subject(request: &str) -> &str {
    let first = request.split(REQUEST_SEPARATOR).next().unwrap_or_default();
    sentence::split_sentences(first)
        .first()
        .copied()
        .unwrap_or_default()
        .trim_end_matches(['.', '。', ':', '：', '!', '！'])
}

fn extract_prompt_request(prompt: &str) -> Option<String> {
    if sentence::is_not_spoken(prompt) {
        return None;
    }
    let text = sentence::without_tagged(truncate_bytes(prompt, 20_000));
    let text = text.trim();
    if let Some(command) = text.strip_prefix('/')
        && command.starts_with(|c: char| c.is_ascii_alphabetic())
    {
        let name = text.split_whitespace().next().unwrap_or_default();
        // A path also begins with a slash.
        if !name[1..].contains('/') {
            return (!CLIENT_COMMANDS.contains(&name))
                .then(|| one_line(&strip_markup(text), MAX_REQUEST_CHARS));
        }
    }
    if is_trivial(text) {
        return None;
    }
    let mut out = String::new();
    for block in sentence::parse_blocks(text) {
        let item = matches!(block.kind, sentence::BlockKind::Item { .. });
        for spoken in sentence::split_sentences(&block.text) {
            if is_trivial(spoken) || is_greeting(spoken) {
                continue;
            }
            let ended = out.ends_with([':', '：', '.', '。', '?', '？', '!', '！']);
            if item && !out.is_empty() && !ended {
                out.push_str("; ");
            } else if out.ends_with(|c| !sentence::is_wide(c)) {
                out.push(' ');
            }
            out.push_str(&strip_markup(spoken));
            if out.chars().count() > MAX_REQUEST_CHARS {
                return Some(one_line(&out, MAX_REQUEST_CHARS));
            }
        }
    }
    if out.is_empty() {
        return summarise_pasted_text(text);
    }
    Some(one_line(&out, MAX_REQUEST_CHARS))
}

fn is_greeting(spoken: &str) -> bool {
    let lower = spoken.to_lowercase();
    spoken.chars().count() < 24
        && [
            "hi ",
            "hey ",
            "hello ",
            "thanks ",
            "thank you",
            "你好",
            "谢谢",
            "辛苦",
        ]
        .iter()
        .any(|g| lower.starts_with(g))
        && !lower.contains(',')
}

/// A prompt of nothing but pasted output is represented by its first line about an
/// error.
fn summarise_pasted_text(text: &str) -> Option<String> {
    let mut lines = text
        .lines()
        .map(str::trim)
        .filter(|l| l.chars().filter(|c| c.is_alphabetic()).count() >= 4 && !l.starts_with("```"));
    let first = lines.clone().next()?;
    let telling = lines
        .find(|l| {
            let lower = l.to_lowercase();
            [
                "error",
                "panicked",
                "failed",
                "exception",
                "fatal",
                "错误",
                "失败",
            ]
            .iter()
            .any(|w| lower.contains(w))
        })
        .unwrap_or(first);
    Some(one_line(&format!("Pasted: {telling}"), MAX_REQUEST_CHARS))
}
