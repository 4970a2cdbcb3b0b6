//! Dependencies in manifests: which came, which went, which changed version.

use super::cut::one_line;
use super::detail;
use super::patch::{DiffSide, PatchLine};
use crate::symbols::lexing::{is_name, parse_quoted};

/// A dependency that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Dependency {
    pub(super) name: String,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
    /// What else changed about it.
    pub(super) note: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Manifest {
    /// `name = "1"` or `"name": "1"` under a section of dependencies.
    Keys,
    /// As `Keys`, and lists of requirements.
    Python,
    /// `name==1`, one a line.
    Requirements,
    /// `path v1.2.3`.
    Go,
    /// `gem 'name', '1'`.
    Gem,
    None,
}

struct DependencyEntry {
    name: String,
    version: String,
    text: String,
}

/// Collects the dependencies among changed lines.
pub(super) struct DependencyChanges {
    manifest: Manifest,
    gone: Vec<DependencyEntry>,
    come: Vec<DependencyEntry>,
}

impl DependencyChanges {
    pub(super) fn new(path: &str) -> Self {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let manifest = match name {
            "Cargo.toml" | "package.json" | "composer.json" | "pubspec.yaml" | "Pipfile" => {
                Manifest::Keys
            }
            "pyproject.toml" => Manifest::Python,
            "go.mod" => Manifest::Go,
            "Gemfile" => Manifest::Gem,
            _ if is_requirements(name) => Manifest::Requirements,
            _ => Manifest::None,
        };
        Self {
            manifest,
            gone: Vec::new(),
            come: Vec::new(),
        }
    }

    /// Whether the line was a dependency.
    pub(super) fn add_line(&mut self, line: &PatchLine<'_>) -> bool {
        let Some((name, version)) = self.parse(line) else {
            return false;
        };
        let text = line.text.trim().to_owned();
        let found = DependencyEntry {
            name,
            version,
            text,
        };
        if line.side == DiffSide::Gone {
            self.gone.push(found);
        } else {
            self.come.push(found);
        }
        true
    }

    fn parse(&self, line: &PatchLine<'_>) -> Option<(String, String)> {
        let text = line.text.trim();
        match self.manifest {
            Manifest::None => None,
            Manifest::Keys => parse_keyed_entry(line, text),
            Manifest::Python => parse_keyed_entry(line, text).or_else(|| {
                let holder = line.holder.as_ref()?;
                // Strings elsewhere in the file, such as classifiers, look like
                // requirements too.
                let listed = holder.name.contains("dependencies") && line.declares.is_none();
                parse_requirement(parse_quoted(text).filter(|_| listed)?)
            }),
            Manifest::Requirements => parse_requirement(text.split('#').next()?.trim()),
            Manifest::Go => {
                let text = text.strip_prefix("require ").unwrap_or(text);
                let (name, version) = text.split_once(' ')?;
                let version = version.split(" //").next()?.trim();
                (name.contains('.') && version.starts_with('v'))
                    .then(|| (name.to_owned(), version.to_owned()))
            }
            Manifest::Gem => {
                let rest = text.strip_prefix("gem ")?;
                let name = parse_quoted(rest)?;
                let version = rest
                    .split_once(',')
                    .and_then(|(_, v)| parse_quoted(v.trim_start()));
                Some((name.to_owned(), version.unwrap_or("").to_owned()))
            }
        }
    }

    pub(super) fn into_dependencies(self) -> Vec<Dependency> {
        let mut found: Vec<Dependency> = Vec::new();
        let mut come = self.come;
        for old in self.gone {
            // The same name on both sides is one dependency that changed,
            // wherever its line went.
            let Some(at) = come.iter().position(|c| c.name == old.name) else {
                found.push(Dependency {
                    name: old.name,
                    before: Some(old.version),
                    after: None,
                    note: None,
                });
                continue;
            };
            let new = come.remove(at);
            // JSON adds a comma to a line when another one follows it.
            let same = old.text.trim_end_matches(',') == new.text.trim_end_matches(',');
            if same {
                continue;
            }
            let note =
                (old.version == new.version).then(|| detail::describe_pair(&old.text, &new.text));
            found.push(Dependency {
                name: old.name,
                before: Some(old.version),
                after: Some(new.version),
                note,
            });
        }
        found.extend(come.into_iter().map(|new| Dependency {
            name: new.name,
            before: None,
            after: Some(new.version),
            note: None,
        }));
        found
    }
}

/// Whether a path is a lock file, which tools write and users do not read.
pub(super) fn is_lock(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    matches!(
        name,
        "Cargo.lock"
            | "package-lock.json"
            | "yarn.lock"
            | "pnpm-lock.yaml"
            | "poetry.lock"
            | "uv.lock"
            | "Gemfile.lock"
            | "composer.lock"
            | "go.sum"
            | "bun.lock"
            | "flake.lock"
    )
}

/// The packages that a lock file's changed lines name.
pub(super) fn list_locked_packages(lines: &[PatchLine<'_>]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in lines {
        let text = line.text.trim();
        let name = if let Some(value) = text.strip_prefix("name = ") {
            parse_quoted(value)
        } else if let Some(rest) = text.strip_prefix("\"node_modules/") {
            rest.split('"').next()
        } else if line.side == DiffSide::Come && text.ends_with(':') && text.contains('@') {
            // yarn and pnpm head an entry with its names and ranges; of a
            // changed entry one side is enough.
            text.trim_matches(['"', ':'])
                .rsplit_once('@')
                .map(|(n, _)| n)
        } else {
            None
        };
        if let Some(name) = name.filter(|n| !n.is_empty() && found.len() < 12) {
            let name = one_line(name, 80);
            if !found.contains(&name) {
                found.push(name);
            }
        }
    }
    found
}

/// `requirements.txt`, `requirements-dev.txt`, `dev-requirements.txt`.
fn is_requirements(name: &str) -> bool {
    name.strip_suffix(".txt")
        .is_some_and(|n| n.contains("requirements"))
}

const DEPENDENCY_SECTIONS: &[&str] = &[
    "dependencies",
    "Dependencies",
    "require",
    "require-dev",
    "packages",
];
const NON_PACKAGE_KEYS: &[&str] = &[
    "version",
    "edition",
    "rust-version",
    "resolver",
    "node",
    "npm",
    "name",
    "python",
    "php",
];

fn parse_keyed_entry(line: &PatchLine<'_>, text: &str) -> Option<(String, String)> {
    let symbol = line.declares.as_ref()?;
    let under = DEPENDENCY_SECTIONS.iter().find_map(|s| {
        let at = symbol.name.find(&format!("{s}."))?;
        Some(&symbol.name[at + s.len() + 1..])
    });
    let value = text.split_once(['=', ':'])?.1.trim();
    // With `name.workspace = true` the version is in another file.
    let (name, inherited) = match under.map(|n| n.split_once(".workspace")) {
        Some(Some((name, ""))) => (name, true),
        Some(_) => (under?, false),
        None => (symbol.name.as_str(), false),
    };
    let version = if inherited || value.contains("workspace = true") {
        "workspace".to_owned()
    } else {
        parse_version(value)?
    };
    if NON_PACKAGE_KEYS.contains(&name) || (under.is_none() && symbol.name.contains('.')) {
        return None;
    }
    Some((name.to_owned(), version))
}

/// The version in a manifest's value.
fn parse_version(value: &str) -> Option<String> {
    let value = value.trim_end_matches(',');
    if value.starts_with('{') {
        let at = value.find("version")?;
        let rest = value[at + 7..].trim_start_matches(['"', ' ', '=', ':']);
        let end = rest.find(['"', '\'']).unwrap_or(rest.len());
        return Some(rest[..end].to_owned());
    }
    let text = parse_quoted(value).unwrap_or(value);
    let plain = text.trim_start_matches(['^', '~', '>', '<', '=', ' ', 'v']);
    // A key under `dependencies` may hold a path, a branch or a table; only
    // versions are named.
    let known = plain.starts_with(|c: char| c.is_ascii_digit())
        || matches!(text, "*" | "latest" | "workspace:*");
    (known && text.len() <= 40).then(|| text.to_owned())
}

/// `name[extra]>=1.2,<2`
fn parse_requirement(text: &str) -> Option<(String, String)> {
    let end = text
        .find(|c| !is_name(c) && !matches!(c, '-' | '.'))
        .unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let rest = if rest.starts_with('[') {
        rest.split_once(']').map_or(rest, |(_, r)| r)
    } else {
        rest
    };
    let rest = rest.split(';').next().unwrap_or(rest).trim();
    let marked = rest.is_empty() || rest.starts_with(['=', '<', '>', '~', '!', '@']);
    let version = rest.strip_prefix("==").unwrap_or(rest).trim();
    (!name.is_empty() && marked).then(|| (name.to_owned(), version.to_owned()))
}
