//! Why a file is in the prompt, or is not: an answer for any path, also for
//! one that no layer ever looks at. Asks the same engine that loads; never
//! walks a tree, and changes nothing.

mod mention;
mod place;
#[cfg(test)]
mod tests;
pub(crate) mod waiting;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::file::{Kind, Loaded, Reason, Skipped, Why, holder, normal};
use crate::{Instructions, disk, near};

pub(crate) use place::right_case;

/// A name that nobody gives a file, to ask what a touched file would bring.
const PROBE: &str = ".remora-asks-what-a-touched-file-brings-in";

/// What is known of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The file that was asked for.
    pub path: PathBuf,
    /// Whether it is in the prompt.
    pub verdict: Verdict,
}

/// Whether a file is in the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is.
    In(Place),
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
        /// Why it does.
        why: String,
    },
    /// It is not.
    Out(Out),
}

/// Where in the prompt a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The name it is listed under.
    pub listed: PathBuf,
    /// Its place, from 1.
    pub position: usize,
    /// How many files there are.
    pub of: usize,
    /// Whose words.
    pub kind: Kind,
    /// What brought it in.
    pub reason: Reason,
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
pub struct Out {
    /// One word for programs, in kebab case.
    pub code: &'static str,
    /// The reason, as a sentence without its subject.
    pub why: String,
    /// What to do about it.
    pub advice: Option<String>,
}

impl Out {
    fn new(code: &'static str, why: impl Into<String>) -> Self {
        Self {
            code,
            why: why.into(),
            advice: None,
        }
    }

    fn advice(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }
}

/// The names one file goes by.
struct Names {
    /// As it was asked for.
    asked: PathBuf,
    /// With the real path of its folder.
    listed: PathBuf,
    /// The file that it is in the end.
    real: Option<PathBuf>,
}

impl Names {
    fn of(path: PathBuf) -> Self {
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

    fn each(&self) -> impl Iterator<Item = &Path> {
        let real = self.real.iter().map(PathBuf::as_path);
        [self.asked.as_path(), self.listed.as_path()]
            .into_iter()
            .chain(real)
    }

    fn are(&self, path: &Path) -> bool {
        self.each().any(|name| name == path)
    }
}

impl Instructions {
    /// Whether a file is in the prompt, and why or why not. A relative path
    /// begins at the working directory.
    pub fn why(&self, file: &Path) -> Answer {
        let path = normal(&self.cwd().join(file));
        // A text from settings has a name, but no path.
        let named = self.loaded(file);
        let verdict = named.unwrap_or_else(|| self.verdict(&Names::of(path.clone())));
        Answer { path, verdict }
    }

    fn verdict(&self, names: &Names) -> Verdict {
        if let Some(what) = self.scene.off() {
            return Verdict::Out(left_out(&Why::Off(what), None, self.scene.approved));
        }
        if let Some(verdict) = [&names.asked, &names.listed]
            .into_iter()
            .find_map(|name| self.loaded(name))
        {
            return verdict;
        }
        let spelled = [names.asked.as_path(), &names.listed];
        if let Some(skipped) = find(self.skipped(), &spelled) {
            return self.skip_verdict(skipped, names);
        }
        if fs::symlink_metadata(&names.asked).is_err() {
            return Verdict::Out(self.missing(&names.asked));
        }
        if let Some(real) = &names.real {
            if let Some(verdict) = self.loaded(real) {
                return verdict;
            }
            if let Some(skipped) = find(self.skipped(), &[real]) {
                return self.skip_verdict(skipped, names);
            }
        }
        if let Some(out) = place::folder_case(&names.listed) {
            return Verdict::Out(out);
        }
        let mut probe = Instructions::load(self.scene.places.clone(), self.scene.options.clone());
        if let Some(verdict) = self.waits(&mut probe, names) {
            return verdict;
        }
        if let Some(verdict) = self.nested(&mut probe, names) {
            return verdict;
        }
        let out = Self::refused(names);
        let out = out.or_else(|| mention::judge(self, &probe, names));
        let out = out.or_else(|| {
            place::judge(
                &self.scene,
                self.start.project_file.as_deref(),
                &names.listed,
            )
        });
        let out = out.or_else(|| mention::without_at(&probe, names));
        Verdict::Out(out.unwrap_or_else(|| self.plain(names)))
    }

    /// What is said of a file that is loaded under this name, and by whom.
    fn loaded(&self, name: &Path) -> Option<Verdict> {
        let mut all = self.start.files.iter().chain(&self.later);
        let file = all.find(|file| file.path == name)?;
        if file.is_loaded_by_client() {
            return self.place(name).map(Verdict::In);
        }
        Some(match &file.parent {
            Some(parent) => Verdict::Injected {
                why: format!("because {} names its address", parent.display()),
            },
            None => Verdict::Out(place::team_index()),
        })
    }

    /// The place of a file that the client loads under this name.
    fn place(&self, name: &Path) -> Option<Place> {
        let all = self.start.files.iter().chain(&self.later);
        let all: Vec<&Loaded> = all.filter(|file| file.is_loaded_by_client()).collect();
        let at = all.iter().position(|file| file.path == name)?;
        let file = all[at];
        Some(Place {
            listed: file.path.clone(),
            position: at + 1,
            of: all.len(),
            kind: file.kind,
            reason: file.reason,
            chain: chain(&all, file),
            trigger: file.trigger.clone(),
            globs: file.globs.clone().unwrap_or_default(),
            label: file.label(),
            tokens: file.tokens(),
        })
    }

    /// What the session touched.
    fn touched(&self) -> Vec<PathBuf> {
        let loaded = |path: &Path| {
            let mut all = self.start.files.iter().chain(&self.later);
            all.any(|file| file.path == path)
        };
        let mut files: Vec<PathBuf> = self.given.iter().filter(|p| !loaded(p)).cloned().collect();
        files.sort();
        files
    }

    /// A rule whose patterns wait for a file.
    fn waits(&self, probe: &mut Instructions, names: &Names) -> Option<Verdict> {
        let nested = below(self.cwd(), &names.listed);
        let rules = waiting::rules(&mut probe.scene, &nested);
        let rule = rules.into_iter().find(|rule| names.are(&rule.path))?;
        if let Some(why) = rule.globs.never_matches() {
            let out = Out::new(
                "never-matches",
                format!("is a rule that no file can wake: {why}"),
            );
            return Some(Verdict::Out(out.advice(
                "write `paths` as gitignore patterns seen from the directory that holds `.claude`",
            )));
        }
        if self.given.contains(&names.listed) {
            return Some(Verdict::Out(read_itself()));
        }
        let patterns: Vec<String> = rule
            .globs
            .texts()
            .iter()
            .map(|t| format!("`{t}`"))
            .collect();
        Some(Verdict::OnDemand {
            when: format!(
                "a file below {} that matches {} is touched",
                self.cwd().display(),
                patterns.join(" or "),
            ),
            globs: rule.globs.texts().to_vec(),
            touched: self.touched(),
        })
    }

    /// A file of a directory below the working directory, or one that such a
    /// file imports.
    fn nested(&self, probe: &mut Instructions, names: &Names) -> Option<Verdict> {
        let dir = holder(&names.listed);
        if dir == self.cwd() || !dir.starts_with(self.cwd()) {
            return None;
        }
        let before = probe.skipped().count();
        // AGENTS.md comes only with a file that is there: itself will do.
        let is_agents = names.listed.ends_with(crate::names::AGENTS_FILE);
        let brought = if is_agents {
            probe.scene.touched(&names.listed, &probe.start, &[])
        } else {
            probe.on_read(&dir.join(PROBE))
        };
        if let Some(file) = brought.iter().find(|file| names.are(&file.path)) {
            if self.given.contains(&file.path) {
                return Some(Verdict::Out(read_itself()));
            }
            let all: Vec<&Loaded> = brought.iter().collect();
            let chain = chain(&all, file);
            let first = chain.last().map_or(file.path.as_path(), PathBuf::as_path);
            let mut when = format!("a file below {} is touched", holder(first).display());
            if let Some(parent) = chain.first() {
                let _ = write!(when, "; then {} imports it", parent.display());
            }
            return Some(Verdict::OnDemand {
                when,
                globs: Vec::new(),
                touched: self.touched(),
            });
        }
        let skipped: Vec<&Path> = names.each().collect();
        let skipped = find(probe.skipped().skip(before), &skipped)?;
        Some(Verdict::Out(left_out(
            &skipped.why,
            skipped.parent.as_deref(),
            true,
        )))
    }

    fn skip_verdict(&self, skipped: &Skipped, names: &Names) -> Verdict {
        if skipped.why == Why::Missing && fs::symlink_metadata(&names.asked).is_err() {
            return Verdict::Out(self.missing(&names.asked));
        }
        let nested = self
            .later
            .iter()
            .any(|f| Some(&f.path) == skipped.parent.as_ref());
        let approved = self.scene.approved || nested;
        Verdict::Out(left_out(&skipped.why, skipped.parent.as_deref(), approved))
    }

    fn missing(&self, path: &Path) -> Out {
        let named = self.skipped().find(|s| s.path == path);
        let parent = named.and_then(|s| s.parent.as_ref());
        let why = match parent {
            Some(parent) => format!("does not exist, though {} imports it", parent.display()),
            None => "does not exist".to_owned(),
        };
        let out = Out::new("missing", why);
        match near::nearest(path) {
            Some(near) => out.advice(format!("did you mean {}?", near.display())),
            None => out,
        }
    }

    /// What is no file, or too much of one.
    fn refused(names: &Names) -> Option<Out> {
        if names.real.is_none() {
            let to = fs::read_link(&names.asked).unwrap_or_default();
            let why = format!("is a link to {}, which does not exist", to.display());
            return Some(Out::new("missing", why).advice("mend or remove the link"));
        }
        let about = fs::metadata(&names.asked).ok()?;
        if about.is_dir() {
            let out = Out::new("not-a-file", "is a directory");
            return Some(out.advice("ask for a file in it"));
        }
        if !about.is_file() {
            return Some(Out::new("not-a-file", disk::Refused::Special.to_string()));
        }
        None
    }

    fn plain(&self, names: &Names) -> Out {
        let out = Out::new(
            "not-named",
            "is no instruction file, and no loaded file imports it",
        );
        let at = match names.listed.strip_prefix(self.cwd()) {
            Ok(relative) => relative.display().to_string(),
            Err(_) => names.listed.display().to_string(),
        };
        let at = at.replace(' ', "\\ ");
        out.advice(format!(
            "to have it in the prompt, write @{at} in {}",
            self.cwd().join(crate::names::FILE).display()
        ))
    }
}

fn find<'a>(mut all: impl Iterator<Item = &'a Skipped>, names: &[&Path]) -> Option<&'a Skipped> {
    // What waits is told with its patterns, further down.
    all.find(|s| names.contains(&s.path.as_path()) && !matches!(s.why, Why::Waits(_)))
}

fn read_itself() -> Out {
    Out::new(
        "read-itself",
        "was read by the session itself, so it is not handed over again",
    )
}

/// The files that lead to one, nearest first.
fn chain(all: &[&Loaded], file: &Loaded) -> Vec<PathBuf> {
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
fn below(cwd: &Path, file: &Path) -> Vec<PathBuf> {
    let mut dirs: Vec<PathBuf> = holder(file)
        .ancestors()
        .take_while(|dir| *dir != cwd && dir.starts_with(cwd))
        .map(Path::to_path_buf)
        .collect();
    dirs.reverse();
    dirs
}

/// What the loader wrote down, with what to do about it.
fn left_out(why: &Why, parent: Option<&Path>, approved: bool) -> Out {
    let by = parent.map_or_else(String::new, |p| format!(" (imported by {})", p.display()));
    let text = format!("{why}{by}");
    match why {
        Why::Excluded { .. } => Out::new("excluded", text).advice("take the pattern out of `claudeMdExcludes`"),
        Why::SameFile(_) => Out::new("same-file", text),
        Why::SameText(_) => Out::new("same-text", text),
        Why::Empty => Out::new("empty", "is empty without its frontmatter and comments"),
        Why::NotRead(_) => Out::new("not-read", text),
        Why::External if approved => Out::new(
            "external",
            format!("is outside the working directory, and files that come on demand import nothing from outside{by}"),
        )
        .advice("copy or link its words into the project, or import it from a file that loads at the start"),
        Why::External => Out::new("external", format!("is outside the working directory, and nobody approved that{by}"))
            .advice("`remora instructions approve` for Remora; the client asks for itself"),
        Why::TooDeep => Out::new("too-deep", format!("is more than four imports away from its first file{by}"))
            .advice("import it from a file that is nearer to the first one"),
        Why::Extension(_) => Out::new("extension", text).advice("give it a name that ends in .md or .txt"),
        Why::Missing => Out::new("missing", text),
        Why::SourceOff(_) => Out::new("source-off", text).advice("name the source in --setting-sources"),
        Why::Worktree => Out::new("worktree", text).advice("change the worktree's own copy"),
        Why::Off(_) => Out::new("switched-off", text),
        Why::Waits(_) => Out::new("waits", text),
        Why::ShadowedBy(_) => Out::new("shadowed", text).advice(
            "write @AGENTS.md in the CLAUDE.md, or set `instructionFiles` to claude-md-and-agents-md",
        ),
        Why::AgentsMode(_) => Out::new("agents-mode", text).advice("change `instructionFiles` in the user's settings"),
        Why::AddedDirectory => Out::new("added-directory", text),
        Why::Agent(_) => Out::new("agent", text),
    }
}
