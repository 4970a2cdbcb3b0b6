//! What a touched file brings in: nested directories' files, and rules whose
//! `paths` match.

use std::path::{Path, PathBuf};

use crate::file::{Announce, Kind, Loaded, Reason, normal};
use crate::load::{As, Draft, Reach, Rule, Seen, Want};
use crate::names;
use crate::settings::AgentsMode;
use crate::start::{Scene, Start, agents_files, entry};

impl Scene {
    /// Everything that a touched file calls for, also what was given before;
    /// the caller drops that.
    pub(crate) fn touched(&mut self, file: &Path, start: &Start, given: &[Loaded]) -> Vec<Loaded> {
        if self.off().is_some() {
            return Vec::new();
        }
        self.loader.forget();
        let file = normal(file);
        let cwd = self.loader.cwd.clone();
        let inside =
            file.starts_with(&cwd) && nearest_real(&file).is_some_and(|r| r.starts_with(&cwd));
        if !inside {
            return Vec::new();
        }
        let mut out = Vec::new();
        self.own_rules(&file, &mut out);
        let nested = nested(&cwd, &file);
        // Nested files never reach outside, approved or not.
        let how = As {
            kind: Kind::Project,
            reach: Reach::Inside,
            rule: Rule::No,
        };
        let mut seen = Seen::new();
        let mut bare = Vec::new();
        for dir in &nested {
            let before = out.len();
            if self.options.sources.project {
                for path in [
                    dir.join(names::FILE),
                    dir.join(names::FOLDER).join(names::FILE),
                ] {
                    let drafts = self.loader.file(&path, how, &mut seen);
                    out.extend(traversed(drafts, Announce::Yes, &file));
                }
            }
            if self.options.sources.local {
                let how = As {
                    kind: Kind::Local,
                    ..how
                };
                let drafts = self
                    .loader
                    .file(&dir.join(names::LOCAL_FILE), how, &mut seen);
                out.extend(traversed(drafts, Announce::Yes, &file));
            }
            if out.len() == before {
                bare.push(dir.clone());
            }
            if self.options.sources.project {
                let rules = Self::rules_of(dir);
                let drafts = self.loader.rules(&rules, how, Want::Always, &mut seen);
                out.extend(traversed(drafts, Announce::Yes, &file));
                self.conditional(&rules, how, dir, &file, &mut out);
            }
        }
        if self.options.sources.project {
            for dir in self.walk() {
                let rules = Self::rules_of(&dir);
                let repeated = self.repository.as_ref().is_some_and(|r| r.repeats(&dir));
                if !repeated && !self.is_user_rules(&rules) {
                    self.conditional(&rules, how, &dir, &file, &mut out);
                }
            }
            self.nested_agents(&nested, &bare, start, given, &file, &mut out);
        }
        out
    }

    /// Rules of the organisation and the person that wait for a file.
    fn own_rules(&mut self, file: &Path, out: &mut Vec<Loaded>) {
        let cwd = self.loader.cwd.clone();
        if let Some(dir) = self.places.managed.clone() {
            let how = As {
                kind: Kind::Managed,
                reach: self.reach(),
                rule: Rule::Yes,
            };
            self.conditional(&Self::rules_of(&dir), how, &cwd, file, out);
        }
        if self.options.sources.user {
            let how = As {
                kind: Kind::User,
                reach: Reach::Anywhere,
                rule: Rule::Yes,
            };
            let rules = self.places.config_dir().join(names::RULES);
            self.conditional(&rules, how, &cwd, file, out);
        }
    }

    /// Rules of one folder whose `paths`, seen from `base`, match the file.
    fn conditional(
        &mut self,
        rules: &Path,
        how: As,
        base: &Path,
        file: &Path,
        out: &mut Vec<Loaded>,
    ) {
        let Ok(relative) = file.strip_prefix(base) else {
            return;
        };
        let relative = relative.to_string_lossy();
        let drafts = self
            .loader
            .rules(rules, how, Want::Conditional, &mut Seen::new());
        for mut draft in drafts {
            let Some(globs) = draft.globs.take().filter(|g| g.matches(&relative)) else {
                continue;
            };
            let mut loaded = entry(draft, Reason::PathGlobMatch, Announce::Yes);
            loaded.reason = Reason::PathGlobMatch;
            loaded.globs = Some(globs.texts().to_vec());
            loaded.trigger = Some(file.to_path_buf());
            out.push(loaded);
        }
    }

    /// AGENTS.md of nested directories; they come last.
    fn nested_agents(
        &mut self,
        nested: &[PathBuf],
        bare: &[PathBuf],
        start: &Start,
        given: &[Loaded],
        file: &Path,
        out: &mut Vec<Loaded>,
    ) {
        let directories = match self.settings.agents {
            AgentsMode::Both => nested,
            AgentsMode::Fallback if start.project_file.is_none() => bare,
            _ => return,
        };
        let mut seen = start.seen.clone();
        let texts = given.iter().chain(&*out);
        let mut texts: Vec<(PathBuf, String)> =
            texts.map(|f| (f.path.clone(), f.content.clone())).collect();
        for path in directories.iter().flat_map(|dir| agents_files(dir)) {
            let drafts = self.agents_file(&path, Reach::Inside, &mut texts, &mut seen);
            out.extend(traversed(drafts, Announce::No, file));
        }
    }
}

fn traversed(drafts: Vec<Draft>, announce: Announce, file: &Path) -> impl Iterator<Item = Loaded> {
    let drafts = drafts.into_iter();
    drafts.map(move |draft| Loaded {
        trigger: Some(file.to_path_buf()),
        ..entry(draft, Reason::NestedTraversal, announce)
    })
}

/// The directories strictly between the working directory and the file,
/// outermost first.
fn nested(cwd: &Path, file: &Path) -> Vec<PathBuf> {
    let mut dirs: Vec<PathBuf> = file
        .ancestors()
        .skip(1)
        .take_while(|dir| *dir != cwd && dir.starts_with(cwd))
        .map(Path::to_path_buf)
        .collect();
    dirs.reverse();
    dirs
}

/// The real path; of a file that is not there, by its nearest real folder.
fn nearest_real(file: &Path) -> Option<PathBuf> {
    file.ancestors().find_map(|path| {
        let real = path.canonicalize().ok()?;
        let rest = file.strip_prefix(path).ok()?;
        Some(real.join(rest))
    })
}
