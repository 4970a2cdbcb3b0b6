//! The tables of secrets and of look-alikes, filled in by a seeded generator:
//! no secret stands in the repository.

use std::collections::BTreeMap;
use std::path::Path;

use remora_agents::field_roles;
use serde_json::Value;

use super::redactor;
use crate::{RedactionCounts, Redactor};

/// A set of secrets and look-alikes, with what it must reach.
struct Set {
    folder: &'static str,
    least_cases: usize,
    least_recall: f64,
    most_false: f64,
}

/// The first set grew with the rules; a set in a folder was written before the
/// rules saw it.
const SETS: &[Set] = &[
    Set {
        folder: ".",
        least_cases: 350,
        least_recall: 0.99,
        most_false: 0.01,
    },
    Set {
        folder: "fresh",
        least_cases: 150,
        least_recall: 0.97,
        most_false: 0.0,
    },
    Set {
        folder: "second",
        least_cases: 60,
        least_recall: 0.96,
        most_false: 0.0,
    },
];
/// A secret counts as caught if no piece of it of this length is left.
const PIECE: usize = 8;

/// A small generator; the same seed gives the same secrets on every machine.
pub(super) struct Seed(pub(super) u64);

impl Seed {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap_or(0)
    }

    fn pick(&mut self, from: &str, length: usize) -> String {
        let bytes = from.as_bytes();
        (0..length)
            .map(|_| char::from(bytes[self.below(bytes.len())]))
            .collect()
    }

    fn class(&mut self, name: &str, length: usize) -> Option<String> {
        const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
        const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        const DIGIT: &str = "0123456789";
        let alnum = format!("{LOWER}{UPPER}{DIGIT}");
        Some(match name {
            "hex" => self.pick("0123456789abcdef", length),
            "HEX" => self.pick("0123456789ABCDEF", length),
            "digit" => self.pick(DIGIT, length),
            "lower" => self.pick(LOWER, length),
            "upper" => self.pick(UPPER, length),
            "alnum" => self.pick(&alnum, length),
            "lownum" => self.pick(&format!("{LOWER}{DIGIT}"), length),
            "upnum" => self.pick(&format!("{UPPER}{DIGIT}"), length),
            "b32" => self.pick(&format!("{UPPER}234567"), length),
            "b64" => self.pick(&format!("{alnum}+/"), length),
            "url" => self.pick(&format!("{alnum}_-"), length),
            "word" => (0..length)
                .map(|at| self.pick(if at % 2 == 0 { "bdfglmnprst" } else { "aeiou" }, 1))
                .collect(),
            // As people are made to choose them: one of each sort.
            "pass" => {
                let body = self.pick(&format!("{alnum}!%^*_-+"), length.saturating_sub(3));
                format!(
                    "{}{}{body}{}",
                    self.pick(LOWER, 1),
                    self.pick(DIGIT, 1),
                    self.pick("!^*", 1)
                )
            }
            "basic" => {
                let pair = format!("svc:{}", self.pick(&alnum, length));
                base64(pair.as_bytes())
            }
            _ => return None,
        })
    }

    /// Fills in `{class:length}` and `{uuid}`; everything else stays.
    fn fill(&mut self, template: &str) -> String {
        let mut out = String::new();
        let mut rest = template;
        while let Some(open) = rest.find('{') {
            out.push_str(&rest[..open]);
            rest = &rest[open..];
            let filled = rest.find('}').and_then(|close| {
                let inner = &rest[1..close];
                let text = if inner == "uuid" {
                    let mut part = |length| self.pick("0123456789abcdef", length);
                    format!(
                        "{}-{}-4{}-a{}-{}",
                        part(8),
                        part(4),
                        part(3),
                        part(3),
                        part(12)
                    )
                } else {
                    let (name, length) = inner.split_once(':')?;
                    self.class(name, length.parse().ok()?)?
                };
                Some((text, close + 1))
            });
            if let Some((text, length)) = filled {
                out.push_str(&text);
                rest = &rest[length..];
            } else {
                out.push('{');
                rest = &rest[1..];
            }
        }
        out.push_str(rest);
        out
    }
}

fn base64(bytes: &[u8]) -> String {
    const SIGNS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let three = [0, 1, 2].map(|at| u32::from(chunk.get(at).copied().unwrap_or(0)));
        let bits = (three[0] << 16) | (three[1] << 8) | three[2];
        for at in 0..4 {
            let sign = SIGNS[(bits >> (18 - 6 * at)) as usize & 63];
            out.push(if at <= chunk.len() {
                char::from(sign)
            } else {
                '='
            });
        }
    }
    out
}

/// The lines of a table, without its comments.
fn table(folder: &str, name: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("cases")
        .join(folder)
        .join(name);
    let text = std::fs::read_to_string(&path).expect("the table is there");
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with("# "))
        .map(|line| {
            line.replace('␤', "\n")
                .replace('␉', "\t")
                .replace('␛', "\u{1b}")
        })
        .collect()
}

/// A secret in its text, and the mark it must leave.
pub(super) struct Case {
    pub(super) kind: String,
    pub(super) text: String,
    pub(super) secret: String,
}

pub(super) fn secrets(seed: u64) -> Vec<Case> {
    SETS.iter()
        .flat_map(|set| secrets_of(set.folder, seed))
        .collect()
}

fn secrets_of(folder: &str, seed: u64) -> Vec<Case> {
    table(folder, "secrets.tsv")
        .iter()
        .enumerate()
        .map(|(at, line)| {
            let (kind, template) = line.split_once('\t').expect("a kind and a text");
            let filled = Seed(seed ^ (at as u64) << 20).fill(template);
            let (before, rest) = filled.split_once('«').expect("a secret begins");
            let (secret, after) = rest.split_once('»').expect("a secret ends");
            Case {
                kind: kind.to_owned(),
                text: format!("{before}{secret}{after}"),
                secret: secret.to_owned(),
            }
        })
        .collect()
}

pub(super) fn lookalikes(seed: u64) -> Vec<String> {
    SETS.iter()
        .flat_map(|set| lookalikes_of(set.folder, seed))
        .collect()
}

fn lookalikes_of(folder: &str, seed: u64) -> Vec<String> {
    table(folder, "lookalikes.txt")
        .iter()
        .enumerate()
        .map(|(at, line)| Seed(seed ^ (at as u64) << 20).fill(line))
        .collect()
}

/// The text as it stands inside a JSON string.
fn escaped(text: &str) -> String {
    let quoted = Value::String(text.to_owned()).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Whether a piece of the secret is left.
fn survives(secret: &str, redacted: &str) -> bool {
    let chars: Vec<char> = secret.chars().collect();
    chars
        .windows(PIECE.min(chars.len()))
        .any(|piece| redacted.contains(&piece.iter().collect::<String>()))
}

#[expect(clippy::cast_precision_loss, reason = "a few hundred cases")]
fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

fn through(redactor: &Redactor, text: &str) -> String {
    redactor
        .redact_text(text, &mut RedactionCounts::new())
        .into_owned()
}

/// The secret's text in every form an event may hold it: alone, among other
/// text, quoted as JSON, and as a value of a JSON event.
fn redacted_forms(redactor: &Redactor, case: &Case) -> [(String, String); 4] {
    let long = "lorem ipsum dolor sit amet, ".repeat(20);
    let mut event = serde_json::json!({
        "tool_name": "Bash",
        "tool_response": {"stdout": case.text.clone(), "interrupted": false},
    });
    redactor.redact_json(
        &mut event,
        field_roles("agent"),
        &mut RedactionCounts::new(),
    );
    let walked = event["tool_response"]["stdout"]
        .as_str()
        .unwrap_or_default();
    [
        (through(redactor, &case.text), case.secret.clone()),
        (
            through(redactor, &format!("{long}\n{}\n{long}", case.text)),
            case.secret.clone(),
        ),
        (
            through(
                redactor,
                &format!("{{\"stdout\":\"{}\"}}", escaped(&case.text)),
            ),
            escaped(&case.secret),
        ),
        (walked.to_owned(), case.secret.clone()),
    ]
}

/// A case is caught if it is in every form and with every seed.
#[test]
fn secrets_are_caught() {
    let redactor = redactor();
    let mut short = Vec::new();
    for set in SETS {
        let mut missed = BTreeMap::new();
        let mut cases = 0;
        for seed in [1, 2] {
            let list = secrets_of(set.folder, seed);
            cases = list.len();
            for (at, case) in list.iter().enumerate() {
                for (form, (redacted, secret)) in redacted_forms(redactor, case).iter().enumerate()
                {
                    if survives(secret, redacted) {
                        missed
                            .entry(at)
                            .or_insert_with(|| format!("{form} {}: {redacted}", case.kind));
                    }
                }
            }
        }
        assert!(cases >= set.least_cases, "{}: {cases} secrets", set.folder);
        let recall = 1.0 - share(missed.len(), cases);
        if recall < set.least_recall {
            let lines: Vec<String> = missed.into_values().collect();
            short.push(format!(
                "{}: recall {recall:.3} of {cases}:\n{}",
                set.folder,
                lines.join("\n")
            ));
        }
    }
    assert!(short.is_empty(), "{}", short.join("\n\n"));
}

#[test]
fn marks_name_their_kind() {
    let redactor = redactor();
    let mut wrong = Vec::new();
    let cases = secrets_of(".", 3);
    for case in &cases {
        let mut marks = RedactionCounts::new();
        redactor.redact_text(&case.text, &mut marks);
        if marks.count(&case.kind) == 0 {
            let seen: Vec<&str> = marks.iter().map(|mark| mark.kind).collect();
            wrong.push(format!("{} is {seen:?}: {}", case.kind, case.text));
        }
    }
    assert!(
        share(wrong.len(), cases.len()) <= 0.02,
        "{}",
        wrong.join("\n")
    );
}

/// A look-alike is left if every form of it comes back as it was.
#[test]
fn lookalikes_are_left() {
    let redactor = redactor();
    let mut over = Vec::new();
    for set in SETS {
        let mut touched = BTreeMap::new();
        let mut cases = 0;
        for seed in [1, 2] {
            let list = lookalikes_of(set.folder, seed);
            cases = list.len();
            for (at, text) in list.into_iter().enumerate() {
                let around = format!("$ run --all\n{text}\nDone in 2.1s.\n");
                let nested = format!("{{\"stdout\":\"{}\"}}", escaped(&text));
                for form in [text, around, nested] {
                    let redacted = through(redactor, &form);
                    if redacted != form {
                        touched.entry(at).or_insert(redacted);
                    }
                }
            }
        }
        assert!(cases >= set.least_cases, "{}: {cases} texts", set.folder);
        let wrong = share(touched.len(), cases);
        if wrong > set.most_false {
            let lines: Vec<String> = touched.into_values().collect();
            over.push(format!(
                "{}: false marks {wrong:.3} of {cases}:\n{}",
                set.folder,
                lines.join("\n")
            ));
        }
    }
    assert!(over.is_empty(), "{}", over.join("\n\n"));
}
