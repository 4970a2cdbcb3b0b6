//! The tables of secrets and of look-alikes, filled in by a seeded generator:
//! no secret stands in the repository.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::redactor;
use crate::redact::{Marks, Redactor};

const LEAST_RECALL: f64 = 0.98;
const MOST_FALSE: f64 = 0.02;
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
fn table(name: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("cases/redact")
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
    table("secrets.tsv")
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
    table("lookalikes.txt")
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
    redactor.text(text, &mut Marks::new()).into_owned()
}

#[test]
fn secrets_are_caught() {
    let redactor = redactor();
    let mut missed = Vec::new();
    let mut tried = 0;
    let mut kinds = BTreeSet::new();
    for seed in [1, 2] {
        for case in secrets(seed) {
            let long = "lorem ipsum dolor sit amet, ".repeat(20);
            let event = serde_json::json!({
                "tool_name": "Bash",
                "tool_response": {"stdout": case.text.clone(), "interrupted": false},
            });
            let inner = escaped(&case.text);
            let nested = escaped(&case.secret);
            let mut walked = event.clone();
            redactor.json(&mut walked, &mut Marks::new());
            let forms = [
                (through(redactor, &case.text), &case.secret),
                (
                    through(redactor, &format!("{long}\n{}\n{long}", case.text)),
                    &case.secret,
                ),
                (
                    through(redactor, &format!("{{\"stdout\":\"{inner}\"}}")),
                    &nested,
                ),
                (
                    walked["tool_response"]["stdout"]
                        .as_str()
                        .unwrap_or_default()
                        .to_owned(),
                    &case.secret,
                ),
            ];
            for (form, (redacted, secret)) in forms.iter().enumerate() {
                tried += 1;
                if survives(secret, redacted) {
                    missed.push(format!("{form} {}: {} -> {redacted}", case.kind, case.text));
                }
            }
            kinds.insert(case.kind);
        }
    }
    assert!(
        tried >= 400 && kinds.len() >= 50,
        "{tried} secrets of {} kinds",
        kinds.len()
    );
    let recall = 1.0 - share(missed.len(), tried);
    assert!(
        recall >= LEAST_RECALL,
        "recall {recall:.4} of {tried}:\n{}",
        missed.join("\n")
    );
}

#[test]
fn marks_name_their_kind() {
    let redactor = redactor();
    let mut wrong = Vec::new();
    let cases = secrets(3);
    for case in &cases {
        let mut marks = Marks::new();
        redactor.text(&case.text, &mut marks);
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

#[test]
fn lookalikes_are_left() {
    let redactor = redactor();
    let mut touched = Vec::new();
    let mut tried = 0;
    for seed in [1, 2] {
        for text in lookalikes(seed) {
            let around = format!("$ run --all\n{text}\nDone in 2.1s.\n");
            let nested = format!("{{\"stdout\":\"{}\"}}", escaped(&text));
            for form in [text, around, nested] {
                tried += 1;
                let redacted = through(redactor, &form);
                if redacted != form {
                    touched.push(format!("{form} -> {redacted}"));
                }
            }
        }
    }
    assert!(tried >= 300, "{tried} look-alikes");
    let wrong = share(touched.len(), tried);
    assert!(
        wrong <= MOST_FALSE,
        "false marks {wrong:.4} of {tried}:\n{}",
        touched.join("\n")
    );
}
