//! Findings kept from one check to the next. The caller stores the bytes;
//! damaged or foreign bytes are an empty cache, never an error.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde::{Deserialize, Serialize};

use super::{Claim, ClaimFinding, ClaimKind, ClaimVerdict, TreeListing, list_claims, place};

/// Changes whenever the same memory and tree would be judged differently.
const CACHE_VERSION: u32 = 1;
/// Bytes beyond this are not one of ours.
const MAX_CACHE_BYTES: usize = 64 << 20;

/// Findings by memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckCache {
    entries: BTreeMap<String, CachedCheck>,
}

#[derive(Serialize, Deserialize)]
struct Wire {
    version: u32,
    memories: BTreeMap<String, CachedCheck>,
}

/// The findings on one memory, and the state they rest on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct CachedCheck {
    tree: u64,
    /// Which of the named paths were on the disk, ignored ones included.
    disk: u64,
    findings: Vec<CachedFinding>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct CachedFinding {
    /// The number of the claim in its memory, and its text against mix-ups.
    claim: usize,
    text: String,
    verdict: String,
    evidence: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    now: Option<String>,
}

impl CheckCache {
    /// Reads what [`CheckCache::save`] wrote; anything else is an empty cache.
    #[must_use]
    pub fn load(bytes: &[u8]) -> Self {
        if bytes.len() > MAX_CACHE_BYTES {
            return Self::default();
        }
        // A cache is never an error. What cannot be read, or is of another version, is
        // checked again.
        match serde_json::from_slice::<Wire>(bytes) {
            Ok(wire) if wire.version == CACHE_VERSION => Self {
                entries: wire.memories,
            },
            _ => Self::default(),
        }
    }

    /// The bytes to store.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let wire = Wire {
            version: CACHE_VERSION,
            memories: self.entries.clone(),
        };
        serde_json::to_vec(&wire).unwrap_or_default()
    }

    /// The findings, when neither the memory nor the tree has changed.
    #[must_use]
    pub fn get(&self, body: &str, files: &TreeListing) -> Option<Vec<ClaimFinding>> {
        self.get_with_claims(body, &list_claims(body), files)
    }

    /// The same for a memory whose names are found already.
    pub(super) fn get_with_claims(
        &self,
        body: &str,
        claims: &[Claim],
        files: &TreeListing,
    ) -> Option<Vec<ClaimFinding>> {
        let entry = self.entries.get(&hash_body(body))?;
        (entry.tree == files.fingerprint() && entry.disk == hash_disk_state(claims, files))
            .then(|| restore_findings(entry, claims.to_vec()))
            .flatten()
    }

    /// The findings of the last check, whatever has changed in the tree since: for
    /// showing next to a memory, where reading the tree would be too slow.
    #[must_use]
    pub fn last_findings(&self, body: &str) -> Option<Vec<ClaimFinding>> {
        restore_findings(self.entries.get(&hash_body(body))?, list_claims(body))
    }

    /// Keeps the findings on a memory.
    pub fn insert_findings(&mut self, body: &str, files: &TreeListing, found: &[ClaimFinding]) {
        self.insert_with_claims(body, &list_claims(body), files, found);
    }

    /// The same for a memory whose names are found already.
    pub(super) fn insert_with_claims(
        &mut self,
        body: &str,
        claims: &[Claim],
        files: &TreeListing,
        found: &[ClaimFinding],
    ) {
        let to_cached = |finding: &ClaimFinding| {
            let claim = claims.iter().position(|c| *c == finding.claim)?;
            Some(CachedFinding {
                claim,
                text: finding.claim.text.clone(),
                verdict: finding.verdict.as_str().to_owned(),
                evidence: finding.evidence.clone(),
                now: finding.now.clone(),
            })
        };
        let entry = CachedCheck {
            tree: files.fingerprint(),
            disk: hash_disk_state(claims, files),
            findings: found.iter().filter_map(to_cached).collect(),
        };
        self.entries.insert(hash_body(body), entry);
    }

    /// Forgets all memories but these.
    pub fn keep_only(&mut self, bodies: &[&str]) {
        let keys: HashSet<String> = bodies.iter().map(|b| hash_body(b)).collect();
        self.entries.retain(|k, _| keys.contains(k));
    }
}

fn hash_body(body: &str) -> String {
    // Not stable across versions of Rust; a changed hash only means one more check.
    let mut hash = DefaultHasher::new();
    body.hash(&mut hash);
    format!("{:016x}-{:x}", hash.finish(), body.len())
}

/// Ignored files are not part of the listing and its fingerprint, so the named
/// paths are looked up one by one.
fn hash_disk_state(claims: &[Claim], files: &TreeListing) -> u64 {
    let mut hash = DefaultHasher::new();
    for claim in claims.iter().filter(|c| c.kind == ClaimKind::Path) {
        let path = place::normalise_claimed_path(files.root(), &claim.text);
        let there = path.is_some_and(|p| files.root().join(p).symlink_metadata().is_ok());
        there.hash(&mut hash);
    }
    hash.finish()
}

fn restore_findings(entry: &CachedCheck, claims: Vec<Claim>) -> Option<Vec<ClaimFinding>> {
    let mut claims: Vec<Option<Claim>> = claims.into_iter().map(Some).collect();
    let finding = |cached: &CachedFinding| {
        let claim = claims.get_mut(cached.claim)?.take()?;
        let all = [
            ClaimVerdict::Holds,
            ClaimVerdict::CannotTell,
            ClaimVerdict::Moved,
            ClaimVerdict::Gone,
        ];
        let verdict = all.into_iter().find(|v| v.as_str() == cached.verdict)?;
        // Found by position. If the rules for reading claims have changed, that may be
        // another one.
        (claim.text == cached.text).then(|| ClaimFinding {
            claim,
            verdict,
            evidence: cached.evidence.clone(),
            now: cached.now.clone(),
        })
    };
    entry.findings.iter().map(finding).collect()
}
