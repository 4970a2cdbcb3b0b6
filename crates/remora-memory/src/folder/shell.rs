//! What `mv`, `rm`, `git mv` and `git rm` in a command line did to files. Only
//! plain paths and options whose effect is certain: better nothing than wrong.

/// What became of a path, in the words of the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PathChange {
    Removed(String),
    Moved { from: String, to: String },
}

/// The options of one program under which its operands have gone where the
/// command says. Any other may leave a file where it was: `git rm --cached`,
/// `git mv -k`, `mv -n`, `rm -i`.
struct KnownOptions {
    letters: &'static str,
    names: &'static [&'static str],
    /// Whether `-t` names the directory and `-T` says that there is none.
    has_target: bool,
}

const MV: KnownOptions = KnownOptions {
    letters: "fvb",
    names: &["force", "verbose", "backup", "strip-trailing-slashes"],
    has_target: true,
};
const GIT_MV: KnownOptions = KnownOptions {
    letters: "fv",
    names: &["force", "verbose"],
    has_target: false,
};
const RM: KnownOptions = KnownOptions {
    letters: "frRvd",
    names: &["force", "recursive", "verbose", "dir", "one-file-system"],
    has_target: false,
};
const GIT_RM: KnownOptions = KnownOptions {
    letters: "frq",
    names: &["force", "quiet", "ignore-unmatch", "sparse"],
    has_target: false,
};

impl PathChange {
    /// The same, of a command that ran in this folder; empty for the event's own.
    fn in_folder(self, folder: &str) -> Self {
        let join = |path: String| match folder {
            "" => path,
            _ if path.starts_with(['/', '~']) => path,
            folder => format!("{folder}/{path}"),
        };
        match self {
            Self::Removed(path) => Self::Removed(join(path)),
            Self::Moved { from, to } => Self::Moved {
                from: join(from),
                to: join(to),
            },
        }
    }
}

/// The moves and removals of a command line, in their order; `cwd` is the folder
/// that the event names.
pub(super) fn list_path_changes(command: &str, cwd: &str) -> Vec<PathChange> {
    // Not by the reader of command lines: a part with anything that a shell would
    // expand or quote is passed over whole, and words no longer show that.
    let parts = command.split(['\n', ';']).flat_map(|line| line.split("&&"));
    let plain = parts.clone().enumerate();
    let plain = plain.filter(|(_, part)| !part.contains(is_shell_syntax));
    let changes: Vec<(usize, Vec<PathChange>)> = plain
        .filter_map(|(at, part)| Some((at, read_part(part)?)))
        .collect();
    if changes.is_empty() {
        return Vec::new();
    }
    let Some(steps) = FolderSteps::from_parts(parts, cwd) else {
        return Vec::new();
    };
    let changes = changes.into_iter();
    let placed = changes.filter_map(|(at, changes)| Some((steps.folder_at(at)?, changes)));
    placed
        .flat_map(|(folder, changes)| changes.into_iter().map(move |c| c.in_folder(folder)))
        .collect()
}

/// In which folders the parts of a command line ran. After a `cd`, Claude Code's
/// main session names the folder it led to; subagents and Codex name the one before
/// it, because their next command starts there again.
struct FolderSteps {
    /// The part that changes the folder.
    change_at: usize,
    before: StepFolder,
    after: StepFolder,
}

enum StepFolder {
    /// The one that the event names.
    Named,
    Other(String),
    Unknown,
}

impl FolderSteps {
    /// `None` if it changes in a way that cannot be followed.
    fn from_parts<'a>(parts: impl Iterator<Item = &'a str>, cwd: &str) -> Option<Self> {
        let mut changing = parts.enumerate().filter(|(_, part)| changes_folder(part));
        let Some((change_at, part)) = changing.next() else {
            return Some(Self {
                change_at: usize::MAX,
                before: StepFolder::Named,
                after: StepFolder::Named,
            });
        };
        let mut words = part.split_whitespace();
        let (Some("cd"), Some(path), None) = (words.next(), words.next(), words.next()) else {
            return None;
        };
        let is_plain = !part.contains(is_shell_syntax)
            && !path.starts_with(['-', '~'])
            && !path.split('/').any(|name| name == "..");
        if !is_plain || changing.next().is_some() {
            return None;
        }
        let bare = path.trim_start_matches("./").trim_end_matches('/');
        let (before, after) = match cwd.strip_suffix(bare) {
            // `cd .`, and a folder by its whole path, which says nothing of the one
            // before it.
            _ if matches!(bare, "" | ".") && !path.starts_with('/') => {
                (StepFolder::Named, StepFolder::Named)
            }
            Some("") => (StepFolder::Unknown, StepFolder::Named),
            Some(above) if above.ends_with('/') => {
                let above = above.trim_end_matches('/');
                (StepFolder::Other(above.to_owned()), StepFolder::Named)
            }
            _ if path.starts_with('/') => (StepFolder::Named, StepFolder::Other(path.to_owned())),
            _ => (
                StepFolder::Named,
                StepFolder::Other(format!("{cwd}/{bare}")),
            ),
        };
        Some(Self {
            change_at,
            before,
            after,
        })
    }

    /// The folder of a part; empty for the event's own, `None` if it is not known.
    fn folder_at(&self, at: usize) -> Option<&str> {
        let folder = if at < self.change_at {
            &self.before
        } else {
            &self.after
        };
        match folder {
            StepFolder::Named => Some(""),
            StepFolder::Other(folder) => Some(folder),
            StepFolder::Unknown => None,
        }
    }
}

fn changes_folder(part: &str) -> bool {
    let mut words = part.split([' ', '\t', '(']);
    words.any(|word| matches!(word, "cd" | "pushd" | "popd"))
}

fn is_shell_syntax(c: char) -> bool {
    "*?[$`|&><\"'{\\()".contains(c)
}

fn read_part(part: &str) -> Option<Vec<PathChange>> {
    let mut words = part
        .split_whitespace()
        .take_while(|word| !word.starts_with('#'))
        .peekable();
    let is_git = words.next_if_eq(&"git").is_some();
    let is_removal = match words.next()? {
        "rm" => true,
        "mv" => false,
        _ => return None,
    };
    let known = match (is_removal, is_git) {
        (true, true) => GIT_RM,
        (true, false) => RM,
        (false, true) => GIT_MV,
        (false, false) => MV,
    };
    let (target, operands) = read_operands(words, &known)?;
    Some(if is_removal {
        let removed = |path: &&str| PathChange::Removed((*path).to_owned());
        operands.iter().map(removed).collect()
    } else {
        list_moves(&target, &operands)
    })
}

/// Where a move leads, as its options say.
#[derive(Debug, PartialEq, Eq)]
enum MoveTarget<'a> {
    /// The last operand: a directory, or the new name.
    LastOperand,
    /// The last operand, which is the new name (`-T`).
    NewName,
    /// This directory (`-t`); all operands are sources.
    Directory(&'a str),
}

/// Sorts options from operands; `None` if an option leaves it open what happened.
fn read_operands<'a>(
    mut words: impl Iterator<Item = &'a str>,
    known: &KnownOptions,
) -> Option<(MoveTarget<'a>, Vec<&'a str>)> {
    let mut target = MoveTarget::LastOperand;
    let mut operands = Vec::new();
    while let Some(word) = words.next() {
        if word == "--" {
            operands.extend(words);
            break;
        }
        if let Some(option) = word.strip_prefix("--") {
            match option.split_once('=') {
                Some(("target-directory", folder)) if known.has_target => {
                    target = MoveTarget::Directory(folder);
                }
                None if known.has_target && option == "target-directory" => {
                    target = MoveTarget::Directory(words.next()?);
                }
                None if known.has_target && option == "no-target-directory" => {
                    target = MoveTarget::NewName;
                }
                None if known.names.contains(&option) => {}
                _ => return None,
            }
        } else if let Some(letters) = word.strip_prefix('-').filter(|rest| !rest.is_empty()) {
            for (at, letter) in letters.char_indices() {
                match letter {
                    't' if known.has_target => {
                        // `-tlib` or `-t lib`.
                        let folder = Some(&letters[at + 1..]).filter(|rest| !rest.is_empty());
                        target = MoveTarget::Directory(folder.or_else(|| words.next())?);
                        break;
                    }
                    'T' if known.has_target => target = MoveTarget::NewName,
                    _ if known.letters.contains(letter) => {}
                    _ => return None,
                }
            }
        } else {
            operands.push(word);
        }
    }
    Some((target, operands))
}

fn list_moves(target: &MoveTarget<'_>, operands: &[&str]) -> Vec<PathChange> {
    let into = |folder: &str, sources: &[&str]| {
        let folder = folder.trim_end_matches('/');
        let moved = sources.iter().map(|from| {
            let from = from.trim_end_matches('/');
            let name = from.rsplit('/').next().unwrap_or(from);
            PathChange::Moved {
                from: from.to_owned(),
                to: format!("{folder}/{name}"),
            }
        });
        moved.collect()
    };
    match (target, operands) {
        (MoveTarget::Directory(folder), sources) => into(folder, sources),
        (MoveTarget::LastOperand, [from, to]) if !names_directory(to) => rename(from, to),
        (MoveTarget::NewName, [from, to]) => rename(from, to),
        (MoveTarget::LastOperand, [sources @ .., folder]) if !sources.is_empty() => {
            into(folder, sources)
        }
        _ => Vec::new(),
    }
}

fn rename(from: &str, to: &str) -> Vec<PathChange> {
    vec![PathChange::Moved {
        from: from.trim_end_matches('/').to_owned(),
        to: to.trim_end_matches('/').to_owned(),
    }]
}

/// Whether a path can only be a directory, without a look at the disk.
fn names_directory(path: &str) -> bool {
    matches!(path.rsplit('/').next(), Some("" | "." | ".."))
}

#[cfg(test)]
mod tests {
    use super::{PathChange, list_path_changes};

    /// `x` for a removal, `a>b` for a move.
    fn shown(command: &str) -> String {
        shown_in(command, "/p/app")
    }

    fn shown_in(command: &str, cwd: &str) -> String {
        let changes = list_path_changes(command, cwd);
        let shown: Vec<String> = changes
            .into_iter()
            .map(|change| match change {
                PathChange::Removed(path) => path,
                PathChange::Moved { from, to } => format!("{from}>{to}"),
            })
            .collect();
        shown.join(" ")
    }

    #[test]
    fn command_lines_say_which_files_went_where() {
        for (command, expected) in [
            ("rm a.rs", "a.rs"),
            ("rm -rf a.rs b && git rm -q c.rs", "a.rs b c.rs"),
            ("rm -- -a.rs", "-a.rs"),
            ("rm a.rs # and b.rs", "a.rs"),
            ("mv a.rs b.rs", "a.rs>b.rs"),
            ("mv -- a.rs b.rs", "a.rs>b.rs"),
            ("mv -vf a.rs lib/", "a.rs>lib/a.rs"),
            ("mv lib/a.rs .", "lib/a.rs>./a.rs"),
            ("mv lib/a.rs ..", "lib/a.rs>../a.rs"),
            ("mv lib/ src", "lib>src"),
            ("mv a.rs b.rs lib", "a.rs>lib/a.rs b.rs>lib/b.rs"),
            (
                "git mv x/a.rs x/b.rs lib/",
                "x/a.rs>lib/a.rs x/b.rs>lib/b.rs",
            ),
            ("mv -t lib a.rs", "a.rs>lib/a.rs"),
            ("mv -vtlib/ a.rs b.rs", "a.rs>lib/a.rs b.rs>lib/b.rs"),
            ("mv --target-directory=lib x/a.rs", "x/a.rs>lib/a.rs"),
            ("mv a.rs --target-directory lib", "a.rs>lib/a.rs"),
            ("mv -T a lib", "a>lib"),
            ("git mv -f a.rs b.rs; rm c.rs", "a.rs>b.rs c.rs"),
        ] {
            assert_eq!(shown(command), expected, "{command}");
        }
    }

    #[test]
    fn paths_start_where_the_command_had_changed_to() {
        for (command, cwd, expected) in [
            // The event names the folder after the command.
            ("cd lib && mv a.rs b.rs", "/p/app/lib", "a.rs>b.rs"),
            ("cd src/lib/ && rm a.rs", "/p/app/src/lib", "a.rs"),
            ("rm a.rs; cd lib; rm b.rs", "/p/app/lib", "/p/app/a.rs b.rs"),
            ("cd /p/app && rm a.rs", "/p/app", "a.rs"),
            ("rm a.rs && cd /p/app", "/p/app", ""),
            // It names the folder before it.
            ("cd lib && mv a.rs /b.rs", "/p/app", "/p/app/lib/a.rs>/b.rs"),
            ("cd ./lib\nrm a.rs ~/b", "/p/app", "/p/app/lib/a.rs ~/b"),
            (
                "rm a.rs && cd lib && rm b.rs",
                "/p/app",
                "a.rs /p/app/lib/b.rs",
            ),
            ("cd /q && rm a.rs", "/p/app", "/q/a.rs"),
            ("cd lib && rm a.rs", "/p/mylib", "/p/mylib/lib/a.rs"),
            ("cd . && rm a.rs", "/p/app", "a.rs"),
            // Nobody can tell.
            ("cd .. && rm a.rs", "/p/app", ""),
            ("cd - && rm a.rs", "/p/app", ""),
            ("cd && rm a.rs", "/p/app", ""),
            ("cd \"$X\" && rm a.rs", "/p/app", ""),
            ("(cd lib && rm b.rs); rm a.rs", "/p/app", ""),
            ("cd a && cd b && rm a.rs", "/p/app", ""),
            ("pushd lib; rm a.rs; popd", "/p/app", ""),
        ] {
            assert_eq!(shown_in(command, cwd), expected, "{command} in {cwd}");
        }
    }

    #[test]
    fn a_command_that_may_have_left_files_alone_says_nothing() {
        for command in [
            "git rm --cached a.rs",
            "git rm -r --cached lib",
            "git rm -n a.rs",
            "git rm --pathspec-from-file=list",
            "git mv -k a.rs b.rs",
            "git mv -n a.rs b.rs",
            "git mv -t lib a.rs",
            "mv -n a.rs b.rs",
            "mv --update=none a.rs b.rs",
            "mv --exchange a.rs b.rs",
            "mv -t lib",
            "mv -T a b c",
            "mv a.rs",
            "rm -i a.rs",
            "rm *.log",
            "rm \"$X\"",
            "rm a.rs &",
            "(rm a.rs)",
            "cp -t lib a.rs",
            "git status",
        ] {
            assert_eq!(shown(command), "", "{command}");
        }
    }
}
