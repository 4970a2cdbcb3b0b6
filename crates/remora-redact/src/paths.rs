//! The sensitivity of files: denied by the configuration, full of settings that
//! are secrets, or keys.

use regex::{RegexSet, RegexSetBuilder};

use super::RedactError;

/// How the contents of a file are treated; the later, the stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PathSensitivity {
    /// Like any other text.
    Plain,
    /// A key or token: long runs of base64 go.
    Key,
    /// `NAME=value`: every value goes.
    Settings,
    /// Nothing is kept.
    Denied,
}

/// The globs of the configuration.
#[derive(Debug)]
pub(super) struct DenyPaths {
    globs: RegexSet,
    /// For each glob, whether it denies or, with `!`, allows again.
    denies: Vec<bool>,
}

const EXAMPLE_ENDINGS: &[&str] = &[
    "example", "sample", "template", "tmpl", "dist", "defaults", "schema", "md",
];

const KEY_FILE_ENDINGS: &[&str] = &[
    "pem", "key", "p8", "pk8", "p12", "pfx", "jks", "ppk", "kdbx", "keystore", "gpg", "asc", "age",
];

const KEY_FILE_NAMES: &[&str] = &[
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_ecdsa_sk",
    "id_ed25519_sk",
    ".vault-token",
    ".git-credentials",
    "identity",
    ".htpasswd",
];

impl DenyPaths {
    pub(super) fn new(globs: &[String]) -> Result<Self, RedactError> {
        let mut patterns = Vec::new();
        let mut denies = Vec::new();
        for glob in globs {
            let line = glob.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (line, deny) = line
                .strip_prefix('!')
                .map_or((line, true), |rest| (rest, false));
            let pattern = translate_glob(line);
            // One by one first, so that the error names the glob.
            compile_globs(std::slice::from_ref(&pattern)).map_err(|source| RedactError::Glob {
                glob: glob.clone(),
                source,
            })?;
            patterns.push(pattern);
            denies.push(deny);
        }
        let globs = compile_globs(&patterns).map_err(|source| RedactError::Glob {
            glob: "all together".to_owned(),
            source,
        })?;
        Ok(Self { globs, denies })
    }

    /// As in `.gitignore`, the last glob that matches decides.
    pub(super) fn is_denied(&self, path: &str) -> bool {
        if self.denies.is_empty() || path.is_empty() {
            return false;
        }
        let path = path.replace('\\', "/");
        let last = self.globs.matches(&path).iter().next_back();
        last.is_some_and(|at| self.denies[at])
    }

    pub(super) fn any_denied(&self) -> bool {
        !self.denies.is_empty()
    }

    pub(super) fn classify_path(&self, path: &str) -> PathSensitivity {
        if self.is_denied(path) {
            return PathSensitivity::Denied;
        }
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let name = name.to_ascii_lowercase();
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        let settings = name == ".env"
            || name.starts_with(".env.")
            || name.starts_with(".env-")
            || ending == "env"
            || matches!(
                name.as_str(),
                ".envrc" | ".flaskenv" | ".dev.vars" | ".secrets"
            );
        // `.env.example` is documentation: its placeholders are what users want
        // to find again.
        if settings && !EXAMPLE_ENDINGS.contains(&ending) {
            PathSensitivity::Settings
        } else if KEY_FILE_ENDINGS.contains(&ending) || KEY_FILE_NAMES.contains(&name.as_str()) {
            PathSensitivity::Key
        } else {
            PathSensitivity::Plain
        }
    }
}

fn compile_globs(patterns: &[String]) -> Result<RegexSet, regex::Error> {
    // Denying too much in a system that tells cases apart is the smaller harm.
    RegexSetBuilder::new(patterns)
        .case_insensitive(true)
        .size_limit(4 << 20)
        .build()
}

/// A glob as an expression over paths with `/`. Where the project's root is
/// unknown, a glob may match from any folder on.
fn translate_glob(glob: &str) -> String {
    let glob = glob.replace("\\ ", " ");
    let body = glob.trim_start_matches("~/").trim_start_matches('/');
    let body = body.trim_end_matches('/');
    let mut out = String::from("(?:^|/)");
    let chars: Vec<char> = body.chars().collect();
    let mut at = 0;
    while at < chars.len() {
        match chars[at] {
            '*' if chars.get(at + 1) == Some(&'*') => {
                at += 1;
                if chars.get(at + 1) == Some(&'/') {
                    at += 1;
                    out.push_str("(?:.*/)?");
                } else {
                    out.push_str(".*");
                }
            }
            '*' => out.push_str("[^/]*"),
            '?' => out.push_str("[^/]"),
            '[' => {
                let close = chars[at + 1..].iter().skip(1).position(|c| *c == ']');
                if let Some(close) = close {
                    let inner: String = chars[at + 1..at + 2 + close].iter().collect();
                    let inner = inner
                        .replace('\\', "\\\\")
                        .replace('[', "\\[")
                        .replace("&&", "&");
                    out.push('[');
                    if let Some(rest) = inner.strip_prefix('!') {
                        out.push('^');
                        out.push_str(rest);
                    } else {
                        out.push_str(&inner);
                    }
                    out.push(']');
                    at += close + 2;
                } else {
                    out.push_str("\\[");
                }
            }
            c => out.push_str(&regex::escape(&c.to_string())),
        }
        at += 1;
    }
    // A folder denies what lies in it.
    out.push_str("(?:/.*)?$");
    out
}
