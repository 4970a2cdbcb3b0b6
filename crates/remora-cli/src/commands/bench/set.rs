//! The sets that are measured: where their files are and what they are called.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;

use crate::args::BenchRetrievalArgs;
use crate::error::CliError;

/// A corpus and questions about it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BenchSet {
    /// What tells it from the others.
    pub(super) name: String,
    pub(super) corpus: PathBuf,
    pub(super) queries: PathBuf,
    /// Where results go.
    pub(super) out: Option<PathBuf>,
}

/// A query and what should be found.
#[derive(Debug, Deserialize)]
pub(super) struct BenchQuery {
    pub(super) id: String,
    pub(super) conv: String,
    #[serde(default)]
    pub(super) category: String,
    pub(super) text: String,
    #[serde(default)]
    pub(super) relevant: Vec<String>,
}

/// The sets that the user named.
pub(super) fn list_sets(args: &BenchRetrievalArgs) -> Result<Vec<BenchSet>, CliError> {
    if args.corpus.len() != args.queries.len() {
        return Err(CliError::Usage(
            "--corpus and --queries must be given equally often".to_owned(),
        ));
    }
    let folders = args
        .set
        .iter()
        .map(|dir| (dir.join("corpus.jsonl"), dir.join("queries.jsonl")));
    let pairs = args
        .corpus
        .iter()
        .cloned()
        .zip(args.queries.iter().cloned());
    let files: Vec<(PathBuf, PathBuf)> = folders.chain(pairs).collect();
    let corpora: Vec<&Path> = files.iter().map(|(corpus, _)| corpus.as_path()).collect();
    let several = files.len() > 1;
    let names = derive_names(&corpora);
    let stems = derive_file_stems(&names);
    let sets = names.into_iter().zip(stems).zip(files);
    Ok(sets
        .map(|((name, stem), (corpus, queries))| BenchSet {
            out: args.out.as_ref().map(|out| {
                if several {
                    out.join(format!("{stem}.jsonl"))
                } else {
                    out.clone()
                }
            }),
            name,
            corpus,
            queries,
        })
        .collect())
}

/// The parts of each path that the others do not have at the same place from
/// the beginning or the end.
fn derive_names(paths: &[&Path]) -> Vec<String> {
    let split = |path: &Path| -> Vec<String> {
        let path = path.with_extension("");
        path.components()
            .filter_map(|part| match part {
                Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
                _ => None,
            })
            .collect()
    };
    let all: Vec<Vec<String>> = paths.iter().map(|path| split(path)).collect();
    let shared = |at: &dyn Fn(&[String], usize) -> Option<String>| {
        let same = |n: &usize| {
            let mut parts = all.iter().map(|parts| at(parts, *n));
            let first = parts.next().flatten();
            first.is_some() && parts.all(|part| part == first)
        };
        let most = all.iter().map(Vec::len).max().unwrap_or(0);
        (0..most).take_while(same).count()
    };
    let before = shared(&|parts, n| parts.get(n).cloned());
    let after = shared(&|parts, n| parts.iter().rev().nth(n).cloned());
    all.iter()
        .map(|parts| {
            let end = parts.len().saturating_sub(after);
            let own = parts.get(before..end).unwrap_or_default();
            if own.is_empty() { parts } else { own }.join("/")
        })
        .collect()
}

/// A file name for each, none twice and none hidden.
fn derive_file_stems(names: &[String]) -> Vec<String> {
    let mut taken = HashSet::new();
    names
        .iter()
        .map(|name| {
            let plain = name.replace(['/', '\\'], "-");
            let plain = match plain.trim_start_matches('.') {
                "" => "set",
                plain => plain,
            };
            let further = (2..).map(|n: u32| format!("{plain}-{n}"));
            // Some file systems take `A` and `a` for the same.
            let mut all = std::iter::once(plain.to_owned()).chain(further);
            let free = all.find(|stem| taken.insert(stem.to_lowercase()));
            free.unwrap_or_else(|| plain.to_owned())
        })
        .collect()
}

pub(super) fn read_queries(path: &Path) -> Result<Vec<BenchQuery>, CliError> {
    let fault = |source| CliError::File {
        path: path.to_path_buf(),
        source,
    };
    let file = fs::File::open(path).map_err(fault)?;
    let mut queries = Vec::new();
    for (at, line) in BufReader::new(file).lines().enumerate() {
        let line = line.map_err(fault)?;
        if !line.trim().is_empty() {
            let query = serde_json::from_str(&line).map_err(|e| {
                CliError::Usage(format!("{}:{}: not a query: {e}", path.display(), at + 1))
            })?;
            queries.push(query);
        }
    }
    Ok(queries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_what_differs() {
        let named = |paths: &[&str]| {
            let paths: Vec<&Path> = paths.iter().map(Path::new).collect();
            derive_names(&paths)
        };
        assert_eq!(
            named(&["/d/a/dev/corpus.jsonl", "/d/b/dev/corpus.jsonl"]),
            ["a", "b"]
        );
        assert_eq!(
            named(&["./one/c.jsonl", "two/sub/c.jsonl"]),
            ["one", "two/sub"]
        );
        assert_eq!(named(&["x/c.jsonl"]), ["x/c"]);
        assert_eq!(named(&["x/c.jsonl", "x/c.jsonl"]), ["x/c", "x/c"]);
        assert_eq!(named(&["c.jsonl", "x/c.jsonl"]), ["c", "x"]);
        assert_eq!(
            named(&["../a/dev/corpus.jsonl", "b/dev/corpus.jsonl"]),
            ["a", "b"]
        );
        assert_eq!(named(&["../c.jsonl", "../../c.jsonl"]), ["c", "c"]);
    }

    #[test]
    fn every_set_has_a_file_of_its_own() {
        let names = ["x/c", "x-c", "X/C", "x/c", "x-c-2", ".dots", ".."].map(str::to_owned);
        assert_eq!(
            derive_file_stems(&names),
            ["x-c", "x-c-2", "X-C-3", "x-c-4", "x-c-2-2", "dots", "set"]
        );
    }
}
