//! Everything the working tree and its history say about the wanted names,
//! read once for all memories.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use super::files::{FileNameIndex, TreeListing};
use super::git::{Git, PathHistory, RemovedWords};
use super::place::{self, PathIndex, PathStatus};
use super::tasks::ProjectTasks;
use super::words::{self, MatchContext, WordHit};
use super::{Claim, ClaimKind, Confidence, list_claims, token};

/// The names to look for, collected from all memories first.
#[derive(Debug, Clone, Default)]
pub struct WantedNames {
    paths: BTreeSet<String>,
    words: BTreeSet<String>,
    /// Words whose absence is evidence.
    specific: BTreeSet<String>,
}

impl WantedNames {
    /// Adds what a memory names.
    pub fn add_body(&mut self, body: &str) {
        self.add_claims(&list_claims(body));
    }

    pub(super) fn add_claims(&mut self, claims: &[Claim]) {
        for claim in claims {
            self.add_claim(claim);
        }
    }

    fn add_claim(&mut self, claim: &Claim) {
        match claim.kind {
            ClaimKind::Path => {
                self.paths.insert(claim.text.clone());
            }
            ClaimKind::Symbol => {
                let parts = token::split_qualified_name(&claim.text);
                self.words.extend(parts.iter().map(|p| (*p).to_owned()));
                let specific = parts
                    .iter()
                    .filter(|p| claim.weight > Confidence::Loose && token::is_specific(p));
                self.specific.extend(specific.map(|p| (*p).to_owned()));
                // The prefix shows whether the project has variables of this family at all.
                self.words.extend(find_variable_prefix(&claim.text));
            }
            ClaimKind::Flag => self.words.extend(list_spellings(&claim.text)),
            ClaimKind::Command => {}
        }
    }
}

/// The beginning that variables of one project share.
pub(super) fn find_variable_prefix(text: &str) -> Option<String> {
    let (first, _) = text.split_once('_')?;
    (token::is_variable(text) && first.len() >= 3).then(|| format!("{first}_"))
}

/// How sources may spell a flag: as it is, as a field, as a property, and
/// without the `no-` that many parsers add by themselves.
pub(super) fn list_spellings(flag: &str) -> Vec<String> {
    let name = flag.trim_start_matches('-');
    let mut list = Vec::new();
    for base in [Some(name), name.strip_prefix("no-")].into_iter().flatten() {
        let mut camel = String::new();
        for (at, part) in base.split('-').enumerate() {
            let mut letters = part.chars();
            match letters.next() {
                Some(first) if at > 0 => camel.extend(first.to_uppercase()),
                Some(first) => camel.push(first),
                None => {}
            }
            camel.push_str(letters.as_str());
        }
        list.extend([base.to_owned(), base.replace('-', "_"), camel]);
    }
    list.retain(|spelling| !spelling.is_empty());
    list
}

/// What was found in a working tree.
#[derive(Debug)]
pub struct TreeEvidence {
    fates: HashMap<String, PathStatus>,
    hits: HashMap<String, WordHit>,
    asked: HashSet<String>,
    /// Files that hits point to, by number.
    paths: HashMap<usize, String>,
    /// Stems of files and names of folders that are roots of wanted names.
    own: HashSet<String>,
    pub(super) tasks: ProjectTasks,
    pub(super) read: usize,
    pub(super) too_large: usize,
    pub(super) removed: RemovedWords,
}

impl TreeEvidence {
    /// Lists and reads the tree below `root`; see [`TreeEvidence::from_listing`].
    #[must_use]
    pub fn from_root(
        root: &Path,
        wanted: &WantedNames,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Self {
        Self::from_listing(
            &TreeListing::list_files(root, &[]),
            wanted,
            &Git::default(),
            progress,
        )
    }

    /// Reads a listed tree: all wanted words in one pass over the files, and in
    /// parallel the history of the paths that are missing.
    #[must_use]
    pub fn from_listing(
        files: &TreeListing,
        wanted: &WantedNames,
        git: &Git,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Self {
        let index = FileNameIndex::new(files);
        let mut places = PathIndex::new(files, &index);
        let mut fates = HashMap::new();
        let mut missing = HashSet::new();
        for text in &wanted.paths {
            match places.find_local_status(text) {
                Some(fate) => {
                    fates.insert(text.clone(), fate);
                }
                None => missing.extend(place::normalise_claimed_path(files.root(), text)),
            }
        }
        let words: Vec<String> = wanted.words.iter().cloned().collect();
        // Git runs in a process of its own, so it costs nothing to ask it meanwhile.
        let (history, found, tasks) = std::thread::scope(|scope| {
            let history = scope.spawn(|| PathHistory::from_repository(files.root(), git, &missing));
            let tasks = ProjectTasks::read_tasks(files);
            let found = words::find_words(files.root(), files.entries(), &words, progress);
            (
                history
                    .join()
                    .unwrap_or_else(|_| PathHistory::without_repository()),
                found,
                tasks,
            )
        });
        let occurs_in_code = |word: &str| {
            found
                .hits
                .get(word)
                .is_some_and(|h| h.place.is_some_and(|p| p.0 != MatchContext::Prose))
        };
        // Only words that are gone from the code are worth a search of the history, which is the
        // slowest step.
        let lost: HashSet<&str> = wanted
            .specific
            .iter()
            .map(String::as_str)
            .filter(|w| !occurs_in_code(w))
            .collect();
        let removed = RemovedWords::from_repository(files.root(), git, &lost);
        for text in &wanted.paths {
            if !fates.contains_key(text) {
                fates.insert(text.clone(), places.find_history_status(text, &history));
            }
        }
        let places = found
            .hits
            .values()
            .flat_map(|h| [h.place, h.flag])
            .flatten();
        let paths = places
            .filter_map(|(_, file, _)| Some((file, files.entries().get(file)?.path.clone())))
            .collect();
        let is_own = |word: &&String| {
            let dashed = word.replace('_', "-");
            [word.as_str(), dashed.as_str()]
                .into_iter()
                .any(|w| !index.files_with_stem(w).is_empty() || !index.folders_named(w).is_empty())
        };
        Self {
            own: words.iter().filter(is_own).cloned().collect(),
            asked: words.into_iter().collect(),
            fates,
            hits: found.hits,
            paths,
            tasks,
            read: found.read,
            too_large: found.too_large,
            removed,
        }
    }

    pub(super) fn path_status(&self, path: &str) -> Option<&PathStatus> {
        self.fates.get(path)
    }

    pub(super) fn was_asked(&self, word: &str) -> bool {
        self.asked.contains(word)
    }

    pub(super) fn find_hit(&self, word: &str) -> Option<&WordHit> {
        self.hits.get(word)
    }

    /// Whether a file or folder of the project bears the name.
    pub(super) fn is_own(&self, word: &str) -> bool {
        self.own.contains(word)
    }

    /// A place in words: `src/a.rs:12`.
    pub(super) fn format_location(&self, (_, file, line): (MatchContext, usize, usize)) -> String {
        let path = self.paths.get(&file).map_or("", String::as_str);
        format!("{path}:{line}")
    }
}
