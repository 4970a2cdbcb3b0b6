//! Takes secrets out of text before anything is stored: finds them by shape, by
//! the word next to them and by their place, and leaves a typed mark.
//!
//! Pure: no files, no clock, no environment. Must never put a secret into an
//! error, a log line or a `Debug` form, and never cost more than linear time.
//!
//! Shapes are data (`rules.toml`, in the rule format that secret scanners
//! share); places are small readers. [`private`] takes out what is no secret
//! and must still not be kept.
//!
//! It is a crate of its own because everything that stores, archives, buries or
//! logs needs it and nothing else of the memory, and because it alone compiles
//! a hundred regular expressions.
#![forbid(unsafe_code)]

mod address;
mod assign;
mod command;
mod files;
#[cfg(test)]
mod growth;
mod header;
mod json;
mod keyblock;
mod manifest;
mod names;
mod patch;
mod paths;
pub mod private;
mod prose;
mod rules;
mod scan;
mod shape;
mod table;
#[cfg(test)]
mod tests;
mod value;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use regex::Regex;
use remora_core::detail::ItemDetail;
use remora_core::field_roles::FieldRoles;
use serde_json::Value;

use paths::DenyPaths;
use scan::SecretScanner;

/// How every mark begins; the kind and a closing bracket follow.
const MARK_PREFIX: &str = "[redacted:";

/// Redacting makes room for a second look at what a mark has uncovered; two
/// looks are enough for all but contrived text.
const MAX_REDACTION_ROUNDS: usize = 6;

/// What the configuration adds to the built-in kinds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RedactionRules {
    /// Name and regular expression; the first group, if there is one, is the secret.
    pub patterns: Vec<(String, String)>,
    /// Globs as in `.gitignore`, of files whose contents are never kept.
    pub deny_paths: Vec<String>,
}

/// A rule of the configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RedactError {
    /// The regular expression does not compile or is too large.
    #[error("redaction pattern `{name}` is not a usable regular expression: {source}")]
    Pattern {
        /// The pattern's name in the configuration.
        name: String,
        /// What the expression's compiler said.
        source: regex::Error,
    },
    /// The pattern would mark the gaps between characters.
    #[error("redaction pattern `{name}` matches the empty text")]
    Empty {
        /// The pattern's name in the configuration.
        name: String,
    },
    /// A glob that cannot be understood.
    #[error("denied path `{glob}` is not a usable glob: {source}")]
    Glob {
        /// The glob as it was written.
        glob: String,
        /// What the translated expression's compiler said.
        source: regex::Error,
    },
    /// The search over the built-in words could not be built.
    #[error("the built-in redaction words cannot be compiled")]
    Words,
}

/// How many secrets of each kind were taken out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RedactionCounts {
    counts: BTreeMap<Cow<'static, str>, usize>,
}

impl RedactionCounts {
    /// No marks yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether nothing was taken out.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// All kinds together.
    pub fn total(&self) -> usize {
        self.counts.values().sum()
    }

    /// How many of this kind.
    pub fn count(&self, kind: &str) -> usize {
        self.counts.get(kind).copied().unwrap_or(0)
    }

    /// Every kind with its number, by name.
    pub fn iter(&self) -> impl Iterator<Item = RedactionMark<'_>> {
        self.counts.iter().map(|(kind, count)| RedactionMark {
            kind,
            count: *count,
        })
    }

    /// Adds what another text gave.
    pub fn merge_counts(&mut self, other: &Self) {
        for (kind, count) in &other.counts {
            *self.counts.entry(kind.clone()).or_default() += count;
        }
    }

    fn increment_kind(&mut self, kind: Cow<'static, str>) {
        *self.counts.entry(kind).or_default() += 1;
    }
}

/// One kind of secret, as a mark names it, and how often it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RedactionMark<'a> {
    /// For example `aws-access-key`, whose mark is `[redacted:aws-access-key]`.
    pub kind: &'a str,
    /// How many.
    pub count: usize,
}

/// The place of a secret; holds no part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The kind, as in [`RedactionMark`].
    pub kind: Cow<'static, str>,
    /// Byte range in the text, at character boundaries.
    pub range: Range<usize>,
    /// How sure the kind is; of overlapping findings the surest names the mark.
    rank: FindingRank,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum FindingRank {
    /// A pattern of the configuration.
    Custom,
    /// The secret's own shape tells.
    Shape,
    /// The syntax around it tells: an address, a header, a command line.
    Place,
    /// The word next to it tells.
    Word,
}

impl Finding {
    fn new(kind: impl Into<Cow<'static, str>>, range: Range<usize>, rank: FindingRank) -> Self {
        Self {
            kind: kind.into(),
            range,
            rank,
        }
    }
}

/// Finds secrets and replaces them with marks. Compiled once, used from any
/// number of threads.
#[derive(Debug)]
pub struct Redactor {
    scanner: SecretScanner,
    custom: Vec<(Cow<'static, str>, Regex)>,
    paths: DenyPaths,
}

impl Redactor {
    /// Compiles the rules; names the one that cannot be used.
    pub fn new(rules: &RedactionRules) -> Result<Self, RedactError> {
        let mut custom = Vec::with_capacity(rules.patterns.len());
        for (name, pattern) in &rules.patterns {
            let regex = regex::RegexBuilder::new(pattern)
                // A user's expression with large counters would take the
                // worker's memory.
                .size_limit(1 << 20)
                .build()
                .map_err(|source| RedactError::Pattern {
                    name: name.clone(),
                    source,
                })?;
            // It would put a mark between all characters of every text.
            if regex.is_match("") {
                return Err(RedactError::Empty { name: name.clone() });
            }
            custom.push((Cow::Owned(kind_of(name)), regex));
        }
        Ok(Self {
            scanner: SecretScanner::new().ok_or(RedactError::Words)?,
            custom,
            paths: DenyPaths::new(&rules.deny_paths)?,
        })
    }

    /// The text with every secret replaced; borrowed when there was none.
    pub fn redact_text<'a>(&self, text: &'a str, marks: &mut RedactionCounts) -> Cow<'a, str> {
        let mut current = Cow::Borrowed(text);
        for _ in 0..MAX_REDACTION_ROUNDS {
            let findings = self.find_secrets(&current);
            if findings.is_empty() {
                break;
            }
            current = Cow::Owned(replace_secrets(&current, &findings, marks));
        }
        current
    }

    /// Every string of the value in place, and keys that are secrets. Contents
    /// of denied files go whole, values of `.env` files one by one; `roles` says
    /// which keys name files and hold their text.
    pub fn redact_json(&self, value: &mut Value, roles: &FieldRoles, marks: &mut RedactionCounts) {
        json::redact_event(self, roles, value, marks);
    }

    /// Every text of a detail in place, as [`Self::redact_json`] does.
    pub fn redact_detail(
        &self,
        detail: &mut ItemDetail,
        roles: &FieldRoles,
        marks: &mut RedactionCounts,
    ) {
        let mut value = detail.to_value();
        self.redact_json(&mut value, roles, marks);
        *detail = value.into();
    }

    /// The text of the file at this path in place, as it would be redacted in an
    /// event that shows the file.
    pub fn redact_file_text(&self, path: &str, text: &mut String, marks: &mut RedactionCounts) {
        json::redact_file_text(self, path, text, marks);
    }

    /// The places of secrets, in order and without overlaps.
    pub fn find_secrets(&self, text: &str) -> Vec<Finding> {
        let (mut found, marks) = self.scanner.scan_text(text);
        for (kind, regex) in &self.custom {
            for captures in regex.captures_iter(text) {
                // The first group, as in the scanners' rules: users can match a
                // name and mark only its value.
                if let Some(hit) = captures.get(1).or_else(|| captures.get(0)) {
                    found.push(Finding::new(kind.clone(), hit.range(), FindingRank::Custom));
                }
            }
        }
        if found.is_empty() {
            return found;
        }
        merge_findings(found, &marks)
    }

    /// Whether the configuration denies this file's contents.
    pub fn denies_path(&self, path: &str) -> bool {
        self.paths.is_denied(path)
    }
}

/// A name as a mark may contain it.
fn kind_of(name: &str) -> String {
    let kind: String = name
        .trim()
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '-'
            }
        })
        .take(48)
        .collect();
    if kind.is_empty() {
        "custom".to_owned()
    } else {
        kind
    }
}

/// Orders findings, joins those that overlap and leaves older marks whole, so
/// that every round removes something and a settled text stays as it is.
fn merge_findings(mut found: Vec<Finding>, marks: &[Range<usize>]) -> Vec<Finding> {
    for finding in &mut found {
        let range = &mut finding.range;
        // Only the first and the last mark can be cut by the range.
        let from = marks.partition_point(|mark| mark.end <= range.start);
        let upto = marks.partition_point(|mark| mark.start < range.end);
        if let Some(touched) = marks.get(from..upto).filter(|touched| !touched.is_empty()) {
            let first = &touched[0];
            let last = &touched[touched.len() - 1];
            if first.start <= range.start && range.end <= first.end {
                // Inside an older mark there is only our own wording.
                range.end = range.start;
            } else {
                range.start = range.start.min(first.start);
                range.end = range.end.max(last.end);
            }
        }
    }
    found.retain(|finding| !finding.range.is_empty());
    found.sort_by_key(|finding| (finding.range.start, finding.rank));
    let mut settled: Vec<Finding> = Vec::with_capacity(found.len());
    for finding in found {
        match settled.last_mut() {
            Some(last) if finding.range.start < last.range.end => {
                last.range.end = last.range.end.max(finding.range.end);
                // The range is the union, so no rest of a secret stays; the
                // surest finding names it.
                if finding.rank < last.rank {
                    last.rank = finding.rank;
                    last.kind = finding.kind;
                }
            }
            _ => settled.push(finding),
        }
    }
    settled
}

fn replace_secrets(text: &str, findings: &[Finding], marks: &mut RedactionCounts) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for finding in findings {
        // Without slicing panics: a wrong range may cost text, never the
        // worker.
        out.push_str(text.get(at..finding.range.start).unwrap_or_default());
        out.push_str(MARK_PREFIX);
        out.push_str(&finding.kind);
        out.push(']');
        marks.increment_kind(finding.kind.clone());
        at = finding.range.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}
