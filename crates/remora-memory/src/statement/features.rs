//! The features of a sentence for the classifier: names with a value each. The
//! same code computes them when the model is fitted and when it predicts. The
//! model file is keyed by these names, so a changed name needs a new fit.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::words::{StatementWord, is_in_list, split_words};
use super::{RuleMatch, Speaker, StatementKind, judge};
use crate::sentence;

/// A sentence with its context.
#[derive(Debug, Clone, Copy)]
pub(super) struct SentenceContext<'a> {
    pub(super) text: &'a str,
    pub(super) speaker: Speaker,
    /// Which sentence of the text it is, and how many there are.
    pub(super) place: (usize, usize),
    /// The word rule that matches it.
    pub(super) hit: Option<RuleMatch>,
}

/// Receives features by name, with their values; a name may come twice and counts
/// twice.
pub(super) trait FeatureSink: FnMut(&str, f32) {}
impl<F: FnMut(&str, f32)> FeatureSink for F {}

const LEXICON_TEXT: &str = include_str!("lexicon.txt");
/// Function words that keep their own name among the classes: they carry the
/// structure of an English sentence.
const FRAME_WORDS: &str = "the a an of in on for to with at by from and or this that these those it its it's they he she \
    there here be been have has had is are was were do does did will can when while until after before as so then \
    one own same such more less much too very also just out up off into per";
/// Words of a phrase in the lexicon.
const MAX_PHRASE_WORDS: usize = 3;

static TOPIC_FEATURE_NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
    (0..remora_embed::STATIC_EMBEDDING_DIMS)
        .map(|at| format!("gist={at}"))
        .collect()
});

struct Lexicon {
    /// Words and phrases of languages with spaces, and their classes.
    spaced: HashMap<String, Vec<&'static str>>,
    wide: Vec<(&'static str, &'static str)>,
}

static WORD_CLASSES: LazyLock<Lexicon> = LazyLock::new(|| {
    let mut spaced: HashMap<String, Vec<&'static str>> = HashMap::new();
    let mut wide = Vec::new();
    for line in LEXICON_TEXT.lines().filter(|line| !line.starts_with('#')) {
        let Some((class, entries)) = line.split_once(": ") else {
            continue;
        };
        for entry in entries.split_ascii_whitespace() {
            if entry.contains(is_unspaced) {
                wide.push((entry, class));
            } else {
                let classes = spaced.entry(entry.replace('_', " ")).or_default();
                if !classes.contains(&class) {
                    classes.push(class);
                }
            }
        }
    }
    Lexicon { spaced, wide }
});

/// Computes the features of a sentence.
pub(super) fn extract_features(sentence: &SentenceContext<'_>, mut take: impl FeatureSink) {
    let list = split_words(sentence.text);
    take_shape(sentence, &list, &mut take);
    take_rules(sentence.hit, &mut take);
    let wide = sentence.text.chars().filter(|c| is_unspaced(*c)).count() >= 2;
    if wide {
        take_unspaced(sentence.text, &mut take);
    } else {
        take_words(&list, &mut take);
    }
    take_topic(sentence.text, &mut take);
}

fn is_unspaced(c: char) -> bool {
    sentence::is_wide(c) && c.is_alphanumeric()
}

fn take_shape(sentence: &SentenceContext<'_>, list: &[StatementWord], take: &mut impl FeatureSink) {
    let text = sentence.text;
    let end = text.trim_end();
    let (at, count) = sentence.place;
    let named = |word: &StatementWord| word.name && !word.quoted && word.start > 0;
    let path = |word: &StatementWord| word.quoted || word.text.contains(['/', '_', '.']);
    let flags = [
        ("asks", judge::is_question(list, text)),
        ("ends?", end.ends_with(['?', '？'])),
        ("ends!", end.ends_with(['!', '！'])),
        ("ends:", end.ends_with([':', '：'])),
        ("user", sentence.speaker == Speaker::User),
        ("code", text.contains('`')),
        ("quote", text.contains(['"', '“', '「'])),
        ("digit", text.contains(|c: char| c.is_ascii_digit())),
        ("colon", text.contains(": ")),
        ("semicolon", text.contains("; ")),
        ("dash", text.contains(" - ") || text.contains(['—', '–'])),
        ("comma", text.contains([',', '，', '、'])),
        ("name", list.iter().any(named)),
        ("path", list.iter().any(path)),
        ("whole", count <= 1),
        ("first", count > 1 && at == 0),
        ("last", count > 1 && at + 1 == count),
        ("middle", at > 0 && at + 1 < count),
    ];
    for (name, _) in flags.into_iter().filter(|(_, set)| *set) {
        take(name, 1.0);
    }
    let length = match list.len() {
        0..=2 => "length=2",
        3..=4 => "length=4",
        5..=7 => "length=7",
        8..=12 => "length=12",
        13..=20 => "length=20",
        21..=35 => "length=35",
        _ => "length=more",
    };
    take(length, 1.0);
}

/// The rules as features: fitting weighs them with everything else, although in the
/// product the model is asked only where no rule matches.
fn take_rules(hit: Option<RuleMatch>, take: &mut impl FeatureSink) {
    let Some(hit) = hit else {
        return take("rule=none", 1.0);
    };
    let kind = match hit.kind {
        StatementKind::Decision => "rule=decision",
        StatementKind::Preference => "rule=preference",
        StatementKind::Correction => "rule=correction",
    };
    take(kind, 1.0);
    let sure = match hit.confidence {
        ..70 => "rule=low",
        70..80 => "rule=middle",
        _ => "rule=high",
    };
    take(sure, 1.0);
}

/// Words, classes and structure of a sentence with spaces.
fn take_words(list: &[StatementWord], take: &mut impl FeatureSink) {
    let mut raw: Vec<&str> = Vec::with_capacity(list.len());
    let mut build: Vec<String> = Vec::with_capacity(2 * list.len() + 2);
    let mut classes: Vec<&str> = Vec::new();
    build.push("^".to_owned());
    for (at, word) in list.iter().enumerate() {
        if word.quoted {
            raw.push("`");
            build.push("`".to_owned());
        } else {
            let of_word = classes_at(list, at);
            raw.push(&word.text);
            build.push(match of_word.first() {
                Some(class) => (*class).to_uppercase(),
                None if is_in_list(&word.text, FRAME_WORDS) => word.text.clone(),
                None if word.text.starts_with(|c: char| c.is_ascii_digit()) => "#".to_owned(),
                None => "_".to_owned(),
            });
            classes.extend(of_word);
        }
        if let Some(mark) = word.after {
            build.push(mark.to_string());
        }
    }
    build.push("$".to_owned());
    let mut name = String::new();
    take_runs("word=", &raw, &[1], 1.0, &mut name, take);
    take_runs("pair=", &raw, &[2], 1.0, &mut name, take);
    let build: Vec<&str> = build.iter().map(String::as_str).collect();
    // The structure of a sentence says more than its words.
    take_runs("build=", &build, &[2, 3], 2.0, &mut name, take);
    take_classes(classes, take);
}

/// All runs of these lengths. Their values are divided by the root of their number,
/// so that together they weigh the same in a long sentence and in a short one.
fn take_runs(
    prefix: &str,
    parts: &[&str],
    lengths: &[usize],
    weight: f32,
    name: &mut String,
    take: &mut impl FeatureSink,
) {
    let runs = || lengths.iter().flat_map(|length| parts.windows(*length));
    let share = weight / count_to_f32(runs().count()).sqrt();
    for run in runs() {
        name.clear();
        name.push_str(prefix);
        for (at, part) in run.iter().enumerate() {
            if at > 0 {
                name.push(' ');
            }
            name.push_str(part);
        }
        take(name, share);
    }
}

fn take_classes(mut classes: Vec<&str>, take: &mut impl FeatureSink) {
    classes.sort_unstable();
    classes.dedup();
    for class in classes {
        take(&format!("class={class}"), 1.0);
    }
}

/// The classes of the phrase or the word that begins here, the longest first.
fn classes_at(list: &[StatementWord], at: usize) -> Vec<&'static str> {
    let mut found: Vec<&'static str> = Vec::new();
    let mut phrase = String::new();
    for (nth, word) in list[at..].iter().take(MAX_PHRASE_WORDS).enumerate() {
        if nth > 0 {
            phrase.push(' ');
        }
        phrase.push_str(&word.text);
        if let Some(classes) = WORD_CLASSES.spaced.get(&phrase) {
            found.splice(0..0, classes.iter().copied());
        }
        if word.after.is_some() || word.quoted {
            break;
        }
    }
    found
}

/// Classes and pairs of characters of a text without spaces.
fn take_unspaced(text: &str, take: &mut impl FeatureSink) {
    let chars: Vec<String> = text
        .chars()
        .filter(|c| is_unspaced(*c))
        .map(String::from)
        .collect();
    let chars: Vec<&str> = chars.iter().map(String::as_str).collect();
    take_runs("han=", &chars, &[2], 1.0, &mut String::new(), take);
    let hits = WORD_CLASSES
        .wide
        .iter()
        .filter(|(entry, _)| text.contains(entry));
    take_classes(hits.map(|(_, class)| *class).collect(), take);
    take("unspaced", 1.0);
}

/// The topic: the components of the static embedding.
fn take_topic(text: &str, take: &mut impl FeatureSink) {
    let Some(gist) = remora_embed::embed_static(text) else {
        return;
    };
    let bytes = gist.to_bytes();
    let Some((head, steps)) = bytes.split_first_chunk::<4>() else {
        return;
    };
    let scale = f32::from_le_bytes(*head);
    for (name, step) in TOPIC_FEATURE_NAMES.iter().zip(steps) {
        take(name, scale * f32::from(step.cast_signed()));
    }
}

/// A count as a number, at least one.
fn count_to_f32(count: usize) -> f32 {
    f32::from(u16::try_from(count.max(1)).unwrap_or(u16::MAX))
}
