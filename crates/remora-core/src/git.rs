//! What a repository's own files say, read from their text: remotes, branches,
//! worktrees. Pure; the caller reads the files. No `git` process is needed.

mod config;
mod remote;

use config::{ConfigEntry, parse_config};
pub use remote::remote_key;

/// The key of `origin` in a repository's `config`, else of the first remote
/// that has one: the address that git would fetch from. `pushurl` and included
/// files do not count; `insteadOf` of the same file does.
pub fn remote_of_config(config: &str) -> Option<String> {
    let entries = parse_config(config)?;
    let mut first = None;
    let mut met: Vec<&str> = Vec::new();
    for entry in &entries {
        if !is_url(entry) || met.contains(&entry.subsection.as_str()) {
            continue;
        }
        met.push(&entry.subsection);
        // Several sections of one file may hold addresses of the same remote.
        let urls = entries
            .iter()
            .filter(|other| is_url(other) && other.subsection == entry.subsection);
        let Some(key) =
            select_fetch_url(urls).and_then(|url| remote_key(&rewrite_url(url, &entries)))
        else {
            continue;
        };
        if entry.subsection == "origin" {
            return Some(key);
        }
        first.get_or_insert(key);
    }
    first
}

/// The working tree that a repository's `config` names, relative to the folder
/// of the repository.
pub fn worktree_of_config(config: &str) -> Option<String> {
    let entries = parse_config(config)?;
    let is_tree = |entry: &ConfigEntry| {
        entry.section == "core" && entry.subsection.is_empty() && entry.key == "worktree"
    };
    // Of several the last counts, as for every setting that has one value.
    let tree = entries.into_iter().rfind(is_tree)?.value;
    (!tree.is_empty()).then_some(tree)
}

fn is_url(entry: &ConfigEntry) -> bool {
    let is_remote = entry.section == "remote" && entry.key == "url";
    is_remote && !entry.subsection.is_empty()
}

/// Of several addresses git fetches from the first; an empty one takes those
/// before it back.
fn select_fetch_url<'a>(urls: impl Iterator<Item = &'a ConfigEntry>) -> Option<&'a str> {
    urls.fold(None, |first, entry| match entry.value.as_str() {
        "" => None,
        url => first.or(Some(url)),
    })
}

/// The address after `url.<base>.insteadOf`; the longest match wins.
fn rewrite_url(url: &str, entries: &[ConfigEntry]) -> String {
    entries
        .iter()
        .filter(|entry| entry.section == "url" && entry.key == "insteadof")
        .filter_map(|entry| Some((entry, url.strip_prefix(&entry.value)?)))
        .filter(|(entry, _)| !entry.value.is_empty())
        .min_by_key(|(_, rest)| rest.len())
        .map_or_else(
            || url.to_owned(),
            |(entry, rest)| format!("{}{rest}", entry.subsection),
        )
}

/// The branch that `HEAD` names; a detached one gives its short commit.
pub fn branch_of_head(head: &str) -> Option<String> {
    let head = head.trim();
    if let Some(name) = head.strip_prefix("ref:") {
        let name = name.trim();
        let name = name.strip_prefix("refs/heads/").unwrap_or(name);
        return (!name.is_empty()).then(|| name.to_owned());
    }
    // 40 digits of SHA-1 or 64 of SHA-256.
    let commit = head.len() >= 40 && head.bytes().all(|b| b.is_ascii_hexdigit());
    commit.then(|| format!("detached at {}", &head[..10]))
}

/// The folder that a worktree's or submodule's `.git` file points at.
pub fn parse_gitdir_pointer(text: &str) -> Option<&str> {
    let path = text.lines().next()?.strip_prefix("gitdir:")?.trim();
    (!path.is_empty()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Cases {
        addresses: Vec<(String, Option<String>, String)>,
        configs: Vec<(String, Option<String>, String)>,
    }

    fn cases() -> Cases {
        serde_json::from_str(include_str!("../cases/remotes.json")).unwrap()
    }

    #[test]
    fn an_address_has_the_key_of_the_server_that_git_would_ask() {
        for (address, key, why) in cases().addresses {
            assert_eq!(remote_key(&address), key, "{address:?}: {why}");
        }
    }

    #[test]
    fn a_configuration_is_read_as_git_reads_it() {
        for (config, key, why) in cases().configs {
            assert_eq!(remote_of_config(&config), key, "{config:?}: {why}");
        }
    }

    #[test]
    fn branches_and_pointers() {
        assert_eq!(
            branch_of_head("ref: refs/heads/feat/x\n").as_deref(),
            Some("feat/x")
        );
        assert_eq!(
            branch_of_head("0123456789abcdef0123456789abcdef01234567\n").as_deref(),
            Some("detached at 0123456789")
        );
        assert_eq!(branch_of_head("garbage"), None);
        assert_eq!(
            parse_gitdir_pointer("gitdir: /a/.git/worktrees/b\n"),
            Some("/a/.git/worktrees/b")
        );
        assert_eq!(parse_gitdir_pointer("gitdir:\n"), None);
        // Only the first line is the pointer, also where somebody wrote a second one.
        assert_eq!(parse_gitdir_pointer("gitdir: ../a\n../b\n"), Some("../a"));
        assert_eq!(parse_gitdir_pointer("\ngitdir: ../a\n"), None);
    }
}
