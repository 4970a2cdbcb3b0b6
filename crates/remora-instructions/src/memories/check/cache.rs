//! Findings kept from one check to the next. The caller stores the bytes;
//! damaged or foreign bytes are an empty cache, never an error.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde::{Deserialize, Serialize};

use super::{Claim, ClaimKind, Files, Finding, Verdict, claims, place};

/// Changes whenever the same memory and tree would be judged differently.
const VERSION: u32 = 1;
/// Bytes beyond this are not one of ours.
const MOST_BYTES: usize = 64 << 20;

/// Findings by memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cached {
    entries: BTreeMap<String, Entry>,
}

#[derive(Serialize, Deserialize)]
struct Wire {
    version: u32,
    memories: BTreeMap<String, Entry>,
}

/// The findings on one memory, and the state they rest on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    tree: u64,
    /// Which of the named paths were on the disk, ignored ones included.
    disk: u64,
    findings: Vec<Row>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Row {
    /// The number of the claim in its memory, and its text against mix-ups.
    claim: usize,
    text: String,
    verdict: String,
    evidence: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    now: Option<String>,
}

impl Cached {
    /// Reads what [`Cached::save`] wrote; anything else is an empty cache.
    #[must_use]
    pub fn load(bytes: &[u8]) -> Self {
        if bytes.len() > MOST_BYTES {
            return Self::default();
        }
        match serde_json::from_slice::<Wire>(bytes) {
            Ok(wire) if wire.version == VERSION => Self {
                entries: wire.memories,
            },
            _ => Self::default(),
        }
    }

    /// The bytes to store.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let wire = Wire {
            version: VERSION,
            memories: self.entries.clone(),
        };
        serde_json::to_vec(&wire).unwrap_or_default()
    }

    /// The findings, when neither the memory nor the tree has changed.
    #[must_use]
    pub fn get(&self, body: &str, files: &Files) -> Option<Vec<Finding>> {
        self.known(body, &claims(body), files)
    }

    /// The same for a memory whose names are found already.
    pub(super) fn known(
        &self,
        body: &str,
        claims: &[Claim],
        files: &Files,
    ) -> Option<Vec<Finding>> {
        let entry = self.entries.get(&key(body))?;
        (entry.tree == files.fingerprint() && entry.disk == disk(claims, files))
            .then(|| findings(entry, claims.to_vec()))
            .flatten()
    }

    /// The findings of the last check, whatever has changed in the tree since:
    /// for showing beside a memory, where reading the tree would be too slow.
    #[must_use]
    pub fn last(&self, body: &str) -> Option<Vec<Finding>> {
        findings(self.entries.get(&key(body))?, claims(body))
    }

    /// Keeps the findings on a memory.
    pub fn put(&mut self, body: &str, files: &Files, found: &[Finding]) {
        self.keep(body, &claims(body), files, found);
    }

    /// The same for a memory whose names are found already.
    pub(super) fn keep(&mut self, body: &str, claims: &[Claim], files: &Files, found: &[Finding]) {
        let row = |finding: &Finding| {
            let claim = claims.iter().position(|c| *c == finding.claim)?;
            Some(Row {
                claim,
                text: finding.claim.text.clone(),
                verdict: finding.verdict.word().to_owned(),
                evidence: finding.evidence.clone(),
                now: finding.now.clone(),
            })
        };
        let entry = Entry {
            tree: files.fingerprint(),
            disk: disk(claims, files),
            findings: found.iter().filter_map(row).collect(),
        };
        self.entries.insert(key(body), entry);
    }

    /// Forgets all memories but these.
    pub fn keep_only(&mut self, bodies: &[&str]) {
        let keys: HashSet<String> = bodies.iter().map(|b| key(b)).collect();
        self.entries.retain(|k, _| keys.contains(k));
    }
}

fn key(body: &str) -> String {
    let mut hash = DefaultHasher::new();
    body.hash(&mut hash);
    format!("{:016x}-{:x}", hash.finish(), body.len())
}

/// Ignored files are not part of the listing, so they are asked for one by
/// one.
fn disk(claims: &[Claim], files: &Files) -> u64 {
    let mut hash = DefaultHasher::new();
    for claim in claims.iter().filter(|c| c.kind == ClaimKind::Path) {
        let path = place::normal(files.root(), &claim.text);
        let there = path.is_some_and(|p| files.root().join(p).symlink_metadata().is_ok());
        there.hash(&mut hash);
    }
    hash.finish()
}

fn findings(entry: &Entry, claims: Vec<Claim>) -> Option<Vec<Finding>> {
    let mut claims: Vec<Option<Claim>> = claims.into_iter().map(Some).collect();
    let finding = |row: &Row| {
        let claim = claims.get_mut(row.claim)?.take()?;
        let all = [
            Verdict::Holds,
            Verdict::CannotTell,
            Verdict::Moved,
            Verdict::Gone,
        ];
        let verdict = all.into_iter().find(|v| v.word() == row.verdict)?;
        (claim.text == row.text).then(|| Finding {
            claim,
            verdict,
            evidence: row.evidence.clone(),
            now: row.now.clone(),
        })
    };
    entry.findings.iter().map(finding).collect()
}
