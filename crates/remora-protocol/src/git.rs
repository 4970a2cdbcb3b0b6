//! What a repository's own files say, read from their text: remotes, branches,
//! worktrees. Pure; the caller reads the files. No `git` process is needed.

/// A remote's address in the form that all ways of writing it share:
/// `host/path`, without scheme, user, password, port or `.git`. An absolute
/// path on this machine stays a path. `None` for anything relative or empty.
pub fn normal_remote(address: &str) -> Option<String> {
    let address = address.trim();
    let tail = |path: &str| {
        let path = path.trim_matches('/');
        path.strip_suffix(".git").unwrap_or(path).to_owned()
    };
    if let Some((scheme, rest)) = address.split_once("://") {
        let (authority, path) = rest.split_once('/')?;
        if scheme.eq_ignore_ascii_case("file") {
            return Some(format!("/{}", tail(path))).filter(|p| p.len() > 1);
        }
        let host = authority.rsplit_once('@').map_or(authority, |(_, h)| h);
        let host = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
            _ => host,
        };
        let path = tail(path);
        let known = !host.is_empty() && !path.is_empty();
        return known.then(|| format!("{}/{path}", host.to_lowercase()));
    }
    if address.starts_with('/') {
        return Some(format!("/{}", tail(address))).filter(|p| p.len() > 1);
    }
    let (host, path) = address.split_once(':')?;
    let host = host.rsplit_once('@').map_or(host, |(_, h)| h);
    let path = tail(path);
    let plain = !host.is_empty() && !host.contains(['/', '\\']) && host.len() > 1;
    (plain && !path.is_empty()).then(|| format!("{}/{path}", host.to_lowercase()))
}

/// The address of `origin` in a repository's `config`, else of the first
/// remote that has one, normalised.
pub fn remote_of_config(config: &str) -> Option<String> {
    let mut remote = None;
    let mut first = None;
    for line in config.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            let name = section.split(']').next().unwrap_or_default();
            remote = name
                .trim()
                .strip_prefix("remote")
                .and_then(|rest| rest.trim().strip_prefix('"')?.strip_suffix('"'));
        } else if let Some(name) = remote
            && let Some((key, value)) = line.split_once('=')
            && key.trim().eq_ignore_ascii_case("url")
            && let Some(found) = normal_remote(value.trim().trim_matches('"'))
        {
            if name == "origin" {
                return Some(found);
            }
            first.get_or_insert(found);
        }
    }
    first
}

/// The branch that `HEAD` names; a detached one gives its short commit.
pub fn branch_of_head(head: &str) -> Option<String> {
    let head = head.trim();
    if let Some(name) = head.strip_prefix("ref:") {
        let name = name.trim();
        let name = name.strip_prefix("refs/heads/").unwrap_or(name);
        return (!name.is_empty()).then(|| name.to_owned());
    }
    let commit = head.len() >= 40 && head.bytes().all(|b| b.is_ascii_hexdigit());
    commit.then(|| format!("detached at {}", &head[..10]))
}

/// The folder that a worktree's or submodule's `.git` file points at.
pub fn pointer(text: &str) -> Option<&str> {
    let path = text.lines().next()?.strip_prefix("gitdir:")?.trim();
    (!path.is_empty()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_remote_however_it_is_written() {
        for address in [
            "https://github.com/acme/app.git",
            "https://github.com/acme/app",
            "https://someone:word@GitHub.com/acme/app.git/",
            "ssh://git@github.com:22/acme/app.git",
            "git@github.com:acme/app.git",
            "github.com:acme/app",
            "git://github.com/acme/app",
        ] {
            assert_eq!(
                normal_remote(address).as_deref(),
                Some("github.com/acme/app"),
                "{address}"
            );
        }
        assert_eq!(
            normal_remote("/srv/git/app.git").as_deref(),
            Some("/srv/git/app")
        );
        assert_eq!(
            normal_remote("file:///srv/git/app.git").as_deref(),
            Some("/srv/git/app")
        );
        for address in [
            "",
            "../app",
            "app",
            "https://",
            "https://host",
            "C:\\app",
            ":x",
        ] {
            assert_eq!(normal_remote(address), None, "{address}");
        }
    }

    #[test]
    fn origin_wins_over_other_remotes() {
        let config = "[core]\n\tbare = false\n[remote \"fork\"]\n\turl = git@h.org:me/app.git\n\
                      [remote \"origin\"]\n\tURL = https://h.org/acme/app.git\n\tfetch = +x\n";
        assert_eq!(remote_of_config(config).as_deref(), Some("h.org/acme/app"));
        let fork = config.split("[remote \"origin\"]").next().unwrap_or("");
        assert_eq!(remote_of_config(fork).as_deref(), Some("h.org/me/app"));
        assert_eq!(remote_of_config("[branch \"main\"]\n\turl = x:y\n"), None);
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
            pointer("gitdir: /a/.git/worktrees/b\n"),
            Some("/a/.git/worktrees/b")
        );
        assert_eq!(pointer("gitdir:\n"), None);
    }
}
