//! What a sentence asks for: for or against, which words, which number, which
//! of several things that exclude each other. English only; what is not
//! understood asks for nothing.

mod choice;
mod number;

use super::words::{self, List, Word, stem};

pub(super) use choice::Choice;
pub(super) use number::{Bound, Number};

/// For or against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Side {
    For,
    Against,
}

/// Whether a sentence holds always.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    Always,
    /// Only when or if something; the condition is not compared.
    Sometimes,
    /// With an exception.
    Mostly,
}

/// How much a sentence sounds like a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tone {
    /// It may tell about anything.
    Tale,
    /// It begins with the very thing, as an order without `use` does.
    Order,
    /// It says must, never, use, or names a thing and its value.
    Rule,
}

/// One thing that a sentence asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Claim {
    pub(super) side: Side,
    /// Weighty words, as stems, in order.
    pub(super) core: Vec<String>,
    /// What is to be done with them, by group: use, add, run.
    pub(super) verb: Option<&'static str>,
    pub(super) holds: Holds,
    /// `never` or `always`, or a word as strong.
    pub(super) strict: bool,
    /// How much the sentence sounds like a rule.
    pub(super) tone: Tone,
    /// Order of words matters: before, after, to.
    pub(super) ordered: bool,
    pub(super) number: Option<Number>,
    /// The word of a set of things that exclude each other.
    pub(super) choice: Option<Choice>,
}

/// Words that turn a sentence around.
static AGAINST: List = List::new(&[
    "never not no avoid forbid forbidden prohibit prohibited disallow disallowed ban banned cannot",
    "without stop refrain skip omit forget ignore disable exclude nor neither bypass",
]);
/// Those of them, and others, that leave no way out.
static STRICT: List = List::new(&["never always must forbidden prohibited banned every"]);
/// What tells of the past, or only shows an example.
static NOT_A_RULE: List = List::new(&[
    "previously formerly was were had deprecated migrated historically originally bad wrong",
    "incorrect example might perhaps maybe sometimes unclear considering todo fixme",
]);
/// Why something is so, which is not compared.
const REASONS: &[&str] = &["because", "since", "otherwise"];
const WHEN: &[&str] = &["when", "if", "whenever", "where", "while", "once"];
const EXCEPT: &[&str] = &["unless", "except", "until", "only"];
const MODALS: &[&str] = &["should", "shall", "only", "required", "allowed", "ensure"];
/// Before `not`, these tell how things are instead of forbidding them.
const TELLS: &[&str] = &[
    "does", "did", "is", "are", "has", "have", "will", "would", "could", "may", "it's",
];
const ORDERED: &[&str] = &[
    "before", "after", "to", "from", "into", "over", "then", "onto", "between",
];

const VERBS: &[(&str, &[&str])] = &[
    (
        "use",
        &[
            "use", "prefer", "favor", "favour", "choose", "employ", "adopt", "apply", "follow",
            "stick",
        ],
    ),
    (
        "add",
        &[
            "write", "add", "include", "put", "create", "insert", "place",
        ],
    ),
    ("run", &["run", "execute", "invoke"]),
    ("keep", &["keep", "leave", "limit"]),
];

/// What a sentence asks for.
pub(super) fn read(text: &str) -> Vec<Claim> {
    let text = without_brackets(text);
    let mut words = joined(words::split(&text));
    let past = words
        .windows(2)
        .any(|w| w[0].text == "used" && w[1].text == "to");
    if past
        || words
            .iter()
            .any(|w| !w.code && NOT_A_RULE.has(&stem(&w.text)))
    {
        return Vec::new();
    }
    if let Some(at) = words
        .iter()
        .position(|w| !w.code && REASONS.contains(&w.text.as_str()))
    {
        words.truncate(at);
    }
    let mut holds = Holds::Always;
    if words
        .iter()
        .any(|w| !w.code && EXCEPT.contains(&w.text.as_str()))
    {
        holds = Holds::Mostly;
    }
    if let Some(at) = words
        .iter()
        .position(|w| !w.code && WHEN.contains(&w.text.as_str()))
    {
        // "When x, do y" does not say where its condition ends.
        if at == 0 {
            return Vec::new();
        }
        words.truncate(at);
        if holds == Holds::Always {
            holds = Holds::Sometimes;
        }
    }
    // Behind an enumeration, `without` speaks of all of it.
    let listed = words.iter().any(|w| w.text == ",") && words.iter().any(|w| w.text == "without");
    if listed {
        holds = Holds::Mostly;
    }
    let rule = sounds_like_a_rule(&text, &words);
    let single = words.iter().filter(|w| number::is(w)).count() == 1;
    let mut claims: Vec<Claim> = Vec::new();
    for (at, (clause, contrast)) in clauses(&words).into_iter().enumerate() {
        let mut clause = clause.to_vec();
        let begins = clause.first().map(|w| stem(&w.text));
        // A number in an aside belongs to something else.
        let counts = single && at == 0 && !contrast;
        let number = if counts {
            number::take(&mut clause)
        } else {
            None
        };
        let Some(mut claim) = claim(&clause, holds, number) else {
            continue;
        };
        claim.tone = match begins {
            _ if rule => Tone::Rule,
            Some(root) if at == 0 && claim.core.first() == Some(&root) => Tone::Order,
            _ => Tone::Tale,
        };
        if contrast {
            claim.side = Side::Against;
        }
        if claim.verb.is_none() {
            claim.verb = claims.first().and_then(|first| first.verb);
        }
        claims.push(claim);
    }
    claims
}

/// Whether a sentence says must or never, begins with something to do, or
/// names a thing and its value.
fn sounds_like_a_rule(text: &str, words: &[Word]) -> bool {
    let said =
        |w: &Word| !w.code && (STRICT.has(&stem(&w.text)) || MODALS.contains(&w.text.as_str()));
    let mut first = words.iter().skip_while(|w| {
        ["please", "we", "you", "always", "never", "just"].contains(&w.text.as_str())
    });
    let verb = first.next().is_some_and(|w| {
        let root = stem(&w.text);
        AGAINST.has(&root)
            || VERBS
                .iter()
                .any(|(_, verbs)| verbs.iter().any(|v| stem(v) == root))
    });
    let label = text
        .split_once(": ")
        .is_some_and(|(label, _)| label.split_whitespace().count() <= 4);
    let forbids = words.iter().enumerate().any(|(at, w)| {
        let before = at.checked_sub(1).map_or("", |at| words[at].text.as_str());
        !w.code && w.text == "not" && !TELLS.contains(&before)
    });
    verb || label || forbids || words.iter().any(said)
}

/// The text without what stands in parentheses, and without what follows a
/// dash: both explain.
fn without_brackets(text: &str) -> String {
    let mut depth = 0_usize;
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => out.push(c),
            _ => {}
        }
    }
    for dash in [" \u{2014} ", " \u{2013} ", " - ", " -- "] {
        if let Some((head, _)) = out.split_once(dash)
            && head.split_whitespace().count() > 2
        {
            out = head.to_owned();
        }
    }
    out
}

/// Contractions taken apart, names of two words put together.
fn joined(words: Vec<Word>) -> Vec<Word> {
    let mut out: Vec<Word> = Vec::with_capacity(words.len());
    for mut word in words {
        if let Some(verb) = word.text.strip_suffix("n't") {
            let not = "not".to_owned();
            if verb == "do" || verb.is_empty() {
                word.text = not;
            } else {
                let text = verb.to_owned();
                out.push(Word {
                    text,
                    code: word.code,
                });
                word.text = not;
            }
        }
        let last = out.last().map(|w| w.text.as_str()).unwrap_or_default();
        let quote = stem(&word.text) == "quot";
        let case = word.text == "case";
        let joint = match last {
            "single" if quote => Some("singlequote"),
            "double" if quote => Some("doublequote"),
            "camel" if case => Some("camelcase"),
            "snake" if case => Some("snakecase"),
            "kebab" if case => Some("kebabcase"),
            "pascal" if case => Some("pascalcase"),
            _ => None,
        };
        if let Some(joint) = joint {
            out.pop();
            joint.clone_into(&mut word.text);
        }
        for (spelled, one) in [
            ("snake_case", "snakecase"),
            ("kebab-case", "kebabcase"),
            ("camel-case", "camelcase"),
            ("single-quote", "singlequote"),
            ("double-quote", "doublequote"),
            ("single-quotes", "singlequote"),
            ("double-quotes", "doublequote"),
            ("single-quoted", "singlequote"),
            ("double-quoted", "doublequote"),
        ] {
            if word.text == spelled {
                one.clone_into(&mut word.text);
            }
        }
        out.push(word);
    }
    out
}

/// The parts of a sentence, and whether each is what is NOT wanted: behind
/// `over`, `instead of`, `rather than`, `, not`.
fn clauses(words: &[Word]) -> Vec<(&[Word], bool)> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut contrast = false;
    let mut at = 0;
    let word = |at: usize| {
        words
            .get(at)
            .filter(|w| !w.code)
            .map_or("", |w| w.text.as_str())
    };
    while at < words.len() {
        let prefers = start == 0 && ["prefer", "favor", "favour", "choose"].contains(&word(0));
        let (skip, turns) = match (word(at), word(at + 1), word(at + 2)) {
            (",", "and" | "but", "not" | "never") => (3, true),
            ("instead", "of", _)
            | ("rather", "than", _)
            | (",", "not" | "never" | "no", _)
            | ("and" | "but", "not" | "never", _) => (2, true),
            ("over", ..) if prefers => (1, true),
            (",", "but" | "and", _) => (2, false),
            ("," | "but", ..) => (1, false),
            _ => (0, false),
        };
        if skip > 0 {
            out.push((&words[start..at], contrast));
            contrast = turns;
            start = at + skip;
            at = start;
        } else {
            at += 1;
        }
    }
    out.push((&words[start.min(words.len())..], contrast));
    out
}

fn claim(words: &[Word], holds: Holds, number: Option<Number>) -> Option<Claim> {
    let mut against = 0;
    let mut strict = false;
    let mut ordered = false;
    let mut verb = None;
    let mut core = Vec::new();
    let mut raw = Vec::new();
    for word in words {
        let root = stem(&word.text);
        if word.code {
            raw.push(word);
            core.push(root);
            continue;
        }
        strict |= STRICT.has(&root);
        ordered |= ORDERED.contains(&word.text.as_str());
        if AGAINST.has(&root) {
            against += 1;
            continue;
        }
        let group = VERBS
            .iter()
            .find(|(_, verbs)| verbs.iter().any(|v| stem(v) == root));
        if let Some((group, _)) = group {
            verb = verb.or(Some(*group));
            continue;
        }
        if words::is_empty(&root) || (ORDERED.contains(&word.text.as_str()) && word.text == "to") {
            continue;
        }
        raw.push(word);
        core.push(root);
    }
    if core.is_empty() && number.is_none() {
        return None;
    }
    // "to" alone orders nothing: "to install", "answer to".
    ordered &= words
        .iter()
        .any(|w| w.text != "to" && ORDERED.contains(&w.text.as_str()));
    let choice = choice::find(words, &raw, &core);
    Some(Claim {
        side: if against % 2 == 0 {
            Side::For
        } else {
            Side::Against
        },
        core,
        verb,
        holds,
        strict,
        tone: Tone::Tale,
        ordered,
        number,
        choice,
    })
}
