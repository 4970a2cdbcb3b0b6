//! Why a file is in the prompt, or is not: an answer for any path, also for
//! one that no layer ever looks at. Asks the same engine that loads; never
//! walks a tree, and changes nothing.

mod mention;
mod prompt_position;
#[cfg(test)]
mod tests;
pub(crate) mod waiting;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::file::{
    InstructionKind, LoadReason, LoadedFile, SkipReason, SkippedFile, find_owning_directory,
    normalise_path,
};
use crate::{Instructions, disk, near};

pub(crate) use prompt_position::right_case;

/// A file name that does not exist, to ask what a touched file would bring in.
const PROBE_FILE_NAME: &str = ".remora-asks-what-a-touched-file-brings-in";

/// What is known of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileExplanation {
    /// The file that was asked for.
    pub path: PathBuf,
    /// Whether it is in the prompt.
    pub verdict: FileVerdict,
}

/// Whether a file is in the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileVerdict {
    /// It is in the prompt.
    In(PromptPosition),
    /// It comes when something happens.
    OnDemand {
        /// What brings it in.
        when: String,
        /// The patterns that a touched file must match, if it is a rule.
        globs: Vec<String>,
        /// What the session touched so far, in vain.
        touched: Vec<PathBuf>,
    },
    /// The client does not load it; Remora adds it to the session's start.
    Injected {
        /// Why Remora adds it.
        why: String,
    },
    /// It is not in the prompt.
    Out(Omission),
}

/// Where in the prompt a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptPosition {
    /// The name it is listed under.
    pub listed: PathBuf,
    /// Its place, from 1.
    pub position: usize,
    /// How many files there are.
    pub of: usize,
    /// The layer that it belongs to.
    pub kind: InstructionKind,
    /// What brought it in.
    pub reason: LoadReason,
    /// The files that lead to it by imports: first the one that names it, last
    /// the one that is there of itself.
    pub chain: Vec<PathBuf>,
    /// The touched file that brought it in.
    pub trigger: Option<PathBuf>,
    /// The patterns that the touched file matched.
    pub globs: Vec<String>,
    /// The label in the prompt; empty for what came on demand.
    pub label: &'static str,
    /// What it costs a model, estimated.
    pub tokens: u32,
}

/// Why a file is not in the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Omission {
    /// One word for programs, in kebab case.
    pub code: &'static str,
    /// The reason, as a sentence without its subject.
    pub why: String,
    /// What to do about it.
    pub advice: Option<String>,
}

impl Omission {
    fn new(code: &'static str, why: impl Into<String>) -> Self {
        Self {
            code,
            why: why.into(),
            advice: None,
        }
    }

    fn with_advice(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }
}

/// The names one file goes by.
struct FileNames {
    /// As it was asked for.
    asked: PathBuf,
    /// With the real path of its folder.
    listed: PathBuf,
    /// The file that it is in the end.
    real: Option<PathBuf>,
}

impl FileNames {
    fn from_path(path: PathBuf) -> Self {
        let folder = path.parent().and_then(|p| fs::canonicalize(p).ok());
        let listed = match (folder, path.file_name()) {
            (Some(folder), Some(name)) => folder.join(name),
            _ => path.clone(),
        };
        Self {
            real: fs::canonicalize(&path).ok(),
            asked: path,
            listed,
        }
    }

    fn list_names(&self) -> impl Iterator<Item = &Path> {
        let real = self.real.iter().map(PathBuf::as_path);
        [self.asked.as_path(), self.listed.as_path()]
            .into_iter()
            .chain(real)
    }

    fn contains_path(&self, path: &Path) -> bool {
        self.list_names().any(|name| name == path)
    }
}

impl Instructions {
    /// Whether a file is in the prompt, and why or why not. A relative path
    /// begins at the working directory.
    pub fn explain_file(&self, file: &Path) -> FileExplanation {
        let path = normalise_path(&self.cwd().join(file));
        // The managed text from settings is listed under a name that is no path.
        let named = self.find_loaded_verdict(file);
        let verdict =
            named.unwrap_or_else(|| self.find_verdict(&FileNames::from_path(path.clone())));
        FileExplanation { path, verdict }
    }

    fn find_verdict(&self, names: &FileNames) -> FileVerdict {
        if let Some(what) = self.context.disabled_by() {
            return FileVerdict::Out(left_out(
                &SkipReason::Off(what),
                None,
                self.context.approved,
            ));
        }
        if let Some(verdict) = [&names.asked, &names.listed]
            .into_iter()
            .find_map(|name| self.find_loaded_verdict(name))
        {
            return verdict;
        }
        let spelled = [names.asked.as_path(), &names.listed];
        if let Some(skipped) = find_skipped(self.skipped(), &spelled) {
            return self.skip_verdict(skipped, names);
        }
        // After the recorded skips: a missing import is better explained by the file that
        // imports it.
        if fs::symlink_metadata(&names.asked).is_err() {
            return FileVerdict::Out(self.explain_missing(&names.asked));
        }
        if let Some(real) = &names.real {
            if let Some(verdict) = self.find_loaded_verdict(real) {
                return verdict;
            }
            if let Some(skipped) = find_skipped(self.skipped(), &[real]) {
                return self.skip_verdict(skipped, names);
            }
        }
        if let Some(out) = prompt_position::folder_case(&names.listed) {
            return FileVerdict::Out(out);
        }
        // A second session, so that asking does not change what the first one has loaded. It is
        // the expensive step, hence after all cheap ones.
        let mut probe =
            Instructions::load(self.context.places.clone(), self.context.options.clone());
        if let Some(verdict) = self.find_waiting_verdict(&mut probe, names) {
            return verdict;
        }
        if let Some(verdict) = self.find_nested_verdict(&mut probe, names) {
            return verdict;
        }
        // From the most specific reason to the least: a broken line that names the file says more
        // than its location.
        let out = Self::explain_unreadable(names);
        let out = out.or_else(|| mention::find_broken_import(self, &probe, names));
        let out = out.or_else(|| {
            prompt_position::explain_location(
                &self.context,
                self.start.project_file.as_deref(),
                &names.listed,
            )
        });
        let out = out.or_else(|| mention::without_at(&probe, names));
        FileVerdict::Out(out.unwrap_or_else(|| self.explain_not_named(names)))
    }

    /// The verdict on a file that is loaded under this name, by the client or by
    /// Remora.
    fn find_loaded_verdict(&self, name: &Path) -> Option<FileVerdict> {
        let mut all = self.start.files.iter().chain(&self.later);
        let file = all.find(|file| file.path == name)?;
        if file.is_loaded_by_client() {
            return self.find_prompt_position(name).map(FileVerdict::In);
        }
        Some(match &file.parent {
            Some(parent) => FileVerdict::Injected {
                why: format!("because {} names its address", parent.display()),
            },
            None => FileVerdict::Out(prompt_position::team_index()),
        })
    }

    /// The place of a file that the client loads under this name.
    fn find_prompt_position(&self, name: &Path) -> Option<PromptPosition> {
        let all = self.start.files.iter().chain(&self.later);
        let all: Vec<&LoadedFile> = all.filter(|file| file.is_loaded_by_client()).collect();
        let at = all.iter().position(|file| file.path == name)?;
        let file = all[at];
        Some(PromptPosition {
            listed: file.path.clone(),
            position: at + 1,
            of: all.len(),
            kind: file.kind,
            reason: file.reason,
            chain: list_import_chain(&all, file),
            trigger: file.trigger.clone(),
            globs: file.globs.clone().unwrap_or_default(),
            label: file.label(),
            tokens: file.estimate_tokens(),
        })
    }

    /// What the session touched.
    fn list_touched_files(&self) -> Vec<PathBuf> {
        let loaded = |path: &Path| {
            let mut all = self.start.files.iter().chain(&self.later);
            all.any(|file| file.path == path)
        };
        let mut files: Vec<PathBuf> = self
            .known_paths
            .iter()
            .filter(|p| !loaded(p))
            .cloned()
            .collect();
        files.sort();
        files
    }

    /// A rule whose patterns wait for a file.
    fn find_waiting_verdict(
        &self,
        probe: &mut Instructions,
        names: &FileNames,
    ) -> Option<FileVerdict> {
        let nested = list_directories_below(self.cwd(), &names.listed);
        let rules = waiting::list_waiting_rules(&mut probe.context, &nested);
        let rule = rules
            .into_iter()
            .find(|rule| names.contains_path(&rule.path))?;
        if let Some(why) = rule.globs.never_matches() {
            let out = Omission::new(
                "never-matches",
                format!("is a rule that no file can activate: {why}"),
            );
            return Some(FileVerdict::Out(out.with_advice(
                "write `paths` as gitignore patterns seen from the directory that holds `.claude`",
            )));
        }
        if self.known_paths.contains(&names.listed) {
            return Some(FileVerdict::Out(read_itself()));
        }
        let patterns: Vec<String> = rule
            .globs
            .texts()
            .iter()
            .map(|t| format!("`{t}`"))
            .collect();
        Some(FileVerdict::OnDemand {
            when: format!(
                "a file below {} that matches {} is touched",
                self.cwd().display(),
                patterns.join(" or "),
            ),
            globs: rule.globs.texts().to_vec(),
            touched: self.list_touched_files(),
        })
    }

    /// A file of a directory below the working directory, or one that such a
    /// file imports.
    fn find_nested_verdict(
        &self,
        probe: &mut Instructions,
        names: &FileNames,
    ) -> Option<FileVerdict> {
        let dir = find_owning_directory(&names.listed);
        if dir == self.cwd() || !dir.starts_with(self.cwd()) {
            return None;
        }
        let before = probe.skipped().count();
        // AGENTS.md comes only with a file that exists, so the probe is the file itself.
        let is_agents = names.listed.ends_with(crate::names::AGENTS_FILE);
        let brought = if is_agents {
            probe
                .context
                .load_on_touch(&names.listed, &probe.start, &[])
        } else {
            probe.on_read(&dir.join(PROBE_FILE_NAME))
        };
        if let Some(file) = brought.iter().find(|file| names.contains_path(&file.path)) {
            if self.known_paths.contains(&file.path) {
                return Some(FileVerdict::Out(read_itself()));
            }
            let all: Vec<&LoadedFile> = brought.iter().collect();
            let chain = list_import_chain(&all, file);
            let first = chain.last().map_or(file.path.as_path(), PathBuf::as_path);
            let mut when = format!(
                "a file below {} is touched",
                find_owning_directory(first).display()
            );
            if let Some(parent) = chain.first() {
                let _ = write!(when, "; then {} imports it", parent.display());
            }
            return Some(FileVerdict::OnDemand {
                when,
                globs: Vec::new(),
                touched: self.list_touched_files(),
            });
        }
        let skipped: Vec<&Path> = names.list_names().collect();
        let skipped = find_skipped(probe.skipped().skip(before), &skipped)?;
        Some(FileVerdict::Out(left_out(
            &skipped.why,
            skipped.parent.as_deref(),
            true,
        )))
    }

    fn skip_verdict(&self, skipped: &SkippedFile, names: &FileNames) -> FileVerdict {
        if skipped.why == SkipReason::Missing && fs::symlink_metadata(&names.asked).is_err() {
            return FileVerdict::Out(self.explain_missing(&names.asked));
        }
        // Files that came on demand never import from outside, so approving would not help.
        let nested = self
            .later
            .iter()
            .any(|f| Some(&f.path) == skipped.parent.as_ref());
        let approved = self.context.approved || nested;
        FileVerdict::Out(left_out(&skipped.why, skipped.parent.as_deref(), approved))
    }

    fn explain_missing(&self, path: &Path) -> Omission {
        let named = self.skipped().find(|s| s.path == path);
        let parent = named.and_then(|s| s.parent.as_ref());
        let why = match parent {
            Some(parent) => format!("does not exist, though {} imports it", parent.display()),
            None => "does not exist".to_owned(),
        };
        let out = Omission::new("missing", why);
        match near::find_nearest_path(path) {
            Some(near) => out.with_advice(format!("did you mean {}?", near.display())),
            None => out,
        }
    }

    /// What is no file, or too much of one.
    fn explain_unreadable(names: &FileNames) -> Option<Omission> {
        if names.real.is_none() {
            let to = fs::read_link(&names.asked).unwrap_or_default();
            let why = format!("is a link to {}, which does not exist", to.display());
            return Some(Omission::new("missing", why).with_advice("fix or remove the link"));
        }
        let about = fs::metadata(&names.asked).ok()?;
        if about.is_dir() {
            let out = Omission::new("not-a-file", "is a directory");
            return Some(out.with_advice("ask for a file in it"));
        }
        if !about.is_file() {
            return Some(Omission::new(
                "not-a-file",
                disk::FileReadError::Special.to_string(),
            ));
        }
        None
    }

    fn explain_not_named(&self, names: &FileNames) -> Omission {
        let out = Omission::new(
            "not-named",
            "is no instruction file, and no loaded file imports it",
        );
        let at = match names.listed.strip_prefix(self.cwd()) {
            Ok(relative) => relative.display().to_string(),
            Err(_) => names.listed.display().to_string(),
        };
        let at = at.replace(' ', "\\ ");
        out.with_advice(format!(
            "to have it in the prompt, write @{at} in {}",
            self.cwd().join(crate::names::INSTRUCTION_FILE).display()
        ))
    }
}

fn find_skipped<'a>(
    mut all: impl Iterator<Item = &'a SkippedFile>,
    names: &[&Path],
) -> Option<&'a SkippedFile> {
    // Waiting rules are explained with their patterns, further down.
    all.find(|s| names.contains(&s.path.as_path()) && !matches!(s.why, SkipReason::Waits(_)))
}

fn read_itself() -> Omission {
    Omission::new(
        "read-itself",
        "was read by the session itself, so it is not handed over again",
    )
}

/// The files that lead to one, nearest first.
fn list_import_chain(all: &[&LoadedFile], file: &LoadedFile) -> Vec<PathBuf> {
    let mut chain: Vec<PathBuf> = Vec::new();
    let mut next = file.parent.clone();
    while let Some(parent) = next.take().filter(|p| !chain.contains(p)) {
        next = all
            .iter()
            .find(|f| f.path == parent)
            .and_then(|f| f.parent.clone());
        chain.push(parent);
    }
    chain
}

/// The directories from below the working directory down to a file's own,
/// outermost first.
fn list_directories_below(cwd: &Path, file: &Path) -> Vec<PathBuf> {
    let mut dirs: Vec<PathBuf> = find_owning_directory(file)
        .ancestors()
        .take_while(|dir| *dir != cwd && dir.starts_with(cwd))
        .map(Path::to_path_buf)
        .collect();
    dirs.reverse();
    dirs
}

/// The reason that the loader recorded, with what to do about it.
fn left_out(why: &SkipReason, parent: Option<&Path>, approved: bool) -> Omission {
    let by = parent.map_or_else(String::new, |p| format!(" (imported by {})", p.display()));
    let text = format!("{why}{by}");
    match why {
        SkipReason::Excluded { .. } => Omission::new("excluded", text).with_advice("take the pattern out of `claudeMdExcludes`"),
        SkipReason::SameFile(_) => Omission::new("same-file", text),
        SkipReason::SameText(_) => Omission::new("same-text", text),
        SkipReason::Empty => Omission::new("empty", "is empty without its frontmatter and comments"),
        SkipReason::NotRead(_) => Omission::new("not-read", text),
        SkipReason::External if approved => Omission::new(
            "external",
            format!("is outside the working directory, and files that come on demand import nothing from outside{by}"),
        )
        .with_advice("copy or link its words into the project, or import it from a file that loads at the start"),
        SkipReason::External => Omission::new("external", format!("is outside the working directory, and the user has not approved that{by}"))
            .with_advice("`remora instructions approve` for Remora; the client asks for itself"),
        SkipReason::TooDeep => Omission::new("too-deep", format!("is more than four imports away from its first file{by}"))
            .with_advice("import it from a file that is nearer to the first one"),
        SkipReason::Extension(_) => Omission::new("extension", text).with_advice("give it a name that ends in .md or .txt"),
        SkipReason::Missing => Omission::new("missing", text),
        SkipReason::SourceOff(_) => Omission::new("source-off", text).with_advice("name the source in --setting-sources"),
        SkipReason::Worktree => Omission::new("worktree", text).with_advice("change the worktree's own copy"),
        SkipReason::Off(_) => Omission::new("switched-off", text),
        SkipReason::Waits(_) => Omission::new("waits", text),
        SkipReason::ShadowedBy(_) => Omission::new("shadowed", text).with_advice(
            "write @AGENTS.md in the CLAUDE.md, or set `instructionFiles` to claude-md-and-agents-md",
        ),
        SkipReason::AgentsMode(_) => Omission::new("agents-mode", text).with_advice("change `instructionFiles` in the user's settings"),
        SkipReason::AddedDirectory => Omission::new("added-directory", text),
        SkipReason::Agent(_) => Omission::new("agent", text),
    }
}
