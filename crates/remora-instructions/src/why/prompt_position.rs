//! Files that no layer looks at, because of their name or their place.

use std::path::{Path, PathBuf};

use super::{Omission, left_out};
use crate::file::{SkipReason, find_owning_directory};
use crate::names;
use crate::settings::AgentsMode;
use crate::start::LoadContext;

/// Names of other tools that look as if they counted.
const LOOKALIKE_FILE_NAMES: &[&str] = &["AGENTS.local.md", "AGENTS.override.md"];
const AGENTS_FOLDER: &str = ".agents";
/// Folders next to the rules whose files are something else.
const OTHER_FOLDERS: &[(&str, &str)] = &[
    ("commands", "a command"),
    ("agents", "a subagent"),
    ("skills", "a skill"),
    ("output-styles", "an output style"),
    ("agent-memory", "a memory of a subagent"),
];

/// Why a file of this name and location is not in the prompt, if that explains it.
pub(super) fn explain_location(
    context: &LoadContext,
    shadow: Option<&Path>,
    path: &Path,
) -> Option<Omission> {
    let name = path.file_name()?.to_str()?;
    // From the certain to the general: a wrong name explains everything, a folder for other
    // files only what nothing else does.
    explain_case(path, name)
        .or_else(|| explain_memory(context, path, name))
        .or_else(|| explain_misplaced(context, path, name))
        .or_else(|| explain_layer(context, shadow, path, name))
        .or_else(|| explain_other_folder(path))
}

fn is_markdown(name: &str) -> bool {
    name.strip_suffix(".md").is_some()
}

fn is_layer_name(name: &str) -> bool {
    [
        names::INSTRUCTION_FILE,
        names::LOCAL_INSTRUCTION_FILE,
        names::AGENTS_FILE,
    ]
    .contains(&name)
}

/// The right spelling of a name that differs from it only in case.
pub(crate) fn right_case(name: &str) -> Option<&'static str> {
    [
        names::INSTRUCTION_FILE,
        names::LOCAL_INSTRUCTION_FILE,
        names::AGENTS_FILE,
    ]
    .into_iter()
    .find(|right| right.eq_ignore_ascii_case(name) && *right != name)
}

fn wrong_case(what: &str, right: &str) -> Omission {
    let out = Omission::new("wrong-case", format!("{what} is in the wrong case"));
    out.with_advice(format!("rename it to {right}"))
}

/// The parts of a path from its settings folder on, in whatever case.
fn settings_parts(path: &Path) -> Option<Vec<&str>> {
    let parts: Vec<&str> = path.parent()?.iter().filter_map(|p| p.to_str()).collect();
    let at = parts
        .iter()
        // The last one: a project may itself be below a folder of that name.
        .rposition(|p| p.eq_ignore_ascii_case(names::SETTINGS_DIR))?;
    Some(parts[at..].to_vec())
}

/// A settings folder or a folder of rules that is not spelled as it must be.
pub(super) fn folder_case(path: &Path) -> Option<Omission> {
    let parts = settings_parts(path)?;
    let rules = parts
        .get(1)
        .filter(|p| p.eq_ignore_ascii_case(names::RULES_DIR));
    let name = path.file_name()?.to_str()?;
    // Other files of a misspelled folder would not be read under the right name either.
    let counts = rules.is_some() || (parts.len() == 1 && is_layer_name(name));
    let wrong = [
        (parts.first(), names::SETTINGS_DIR),
        (rules, names::RULES_DIR),
    ];
    let wrong = wrong
        .into_iter()
        .find_map(|(part, right)| part.filter(|p| **p != right).map(|p| (p, right)));
    let (part, right) = wrong.filter(|_| counts)?;
    Some(wrong_case(&format!("the folder {part}"), right))
}

fn explain_case(path: &Path, name: &str) -> Option<Omission> {
    if let Some(right) = right_case(name) {
        return Some(wrong_case("its name", right));
    }
    settings_parts(path)?
        .get(1)
        .filter(|p| **p == names::RULES_DIR)?;
    match name.rsplit_once('.') {
        Some((_, "md")) => None,
        Some((stem, ending)) if ending.eq_ignore_ascii_case("md") => Some(wrong_case(
            &format!("its ending .{ending}"),
            &format!("{stem}.md"),
        )),
        _ => Some(
            Omission::new(
                "not-a-rule",
                "is among the rules, but only names that end in .md are rules",
            )
            .with_advice("rename it, or import it from a rule"),
        ),
    }
}

/// The index of a team's memories, which is for human readers.
pub(super) fn team_index() -> Omission {
    Omission::new(
        "team-index",
        "is the index of the team's memories, which the client does not load; Remora adds the \
         memories themselves to the session's start: those of priority 1 and 2, and those that \
         an instruction file names",
    )
}

fn explain_memory(context: &LoadContext, path: &Path, name: &str) -> Option<Omission> {
    let folder = path.parent()?;
    // The folder that was asked about is real already; the configured one may be a link.
    let is = |dir: &Path| dir == folder || dir.canonicalize().is_ok_and(|dir| dir == folder);
    let own = [
        (Some(context.memory_folder()), "project"),
        (Some(context.team_folder()), "team"),
        (context.places.user_memories.clone(), "user"),
    ];
    for (dir, scope) in own {
        if !dir.is_some_and(|dir| is(&dir)) {
            continue;
        }
        if name.eq_ignore_ascii_case(names::MEMORY_INDEX_FILE) && name != names::MEMORY_INDEX_FILE {
            let out = Omission::new("wrong-case", "its name is in the wrong case");
            return Some(out.with_advice(format!("rename it to {}", names::MEMORY_INDEX_FILE)));
        }
        let stem = name.strip_suffix(".md")?;
        // The three scopes reach a session in different ways, and advice for one is wrong for
        // another.
        let why = match scope {
            "user" => "is a memory of the user, which comes only where a file names it".to_owned(),
            "team" => "is a memory of the team, which the client does not load; Remora adds it to \
                       the session's start if its priority is 1 or 2, as the repository's words \
                       until you accept it"
                .to_owned(),
            _ => format!(
                "is a memory, and only the index {} is loaded",
                names::MEMORY_INDEX_FILE
            ),
        };
        let out = Omission::new("memory-topic", why);
        return Some(out.with_advice(format!(
            "the agent opens it when it needs it; write memory://{scope}/{stem} in an instruction file to have it always"
        )));
    }
    let projects = context.places.config_dir().join(names::PROJECTS_DIR);
    let rest = path.strip_prefix(&projects).ok()?;
    let mut parts = rest.iter();
    let _project = parts.next()?;
    (parts.next()? == names::MEMORY_DIR).then(|| {
        Omission::new("other-project", "is a memory of another project").with_advice(format!(
            "this project's memories are in {}",
            context.memory_folder().display()
        ))
    })
}

/// Right names in places that no layer reads.
fn explain_misplaced(context: &LoadContext, path: &Path, name: &str) -> Option<Omission> {
    let folder = path.parent()?;
    let wrong =
        |why: String, advice: String| Some(Omission::new("wrong-place", why).with_advice(advice));
    if LOOKALIKE_FILE_NAMES.contains(&name) || path.iter().any(|part| part == AGENTS_FOLDER) {
        return wrong(
            "is no instruction file: of this family only AGENTS.md and .claude/AGENTS.md are read"
                .into(),
            "move its words there, or import it from CLAUDE.md".into(),
        );
    }
    let config = context.places.config_dir();
    if let Some(managed) = context
        .places
        .managed
        .as_deref()
        .filter(|dir| path.starts_with(dir))
    {
        let rules = LoadContext::rules_of(managed);
        // The organisation has one file and one folder of rules; `.claude/CLAUDE.md`,
        // CLAUDE.local.md and `rules/` are not read there.
        if path != managed.join(names::INSTRUCTION_FILE)
            && !path.starts_with(&rules)
            && is_markdown(name)
        {
            return wrong(
                "is beside the managed files, of which only two places are read".into(),
                format!(
                    "use {} or {}",
                    managed.join(names::INSTRUCTION_FILE).display(),
                    rules.display()
                ),
            );
        }
        return None;
    }
    if name == names::LOCAL_INSTRUCTION_FILE
        && (folder == config || folder.ends_with(names::SETTINGS_DIR))
    {
        let right = if folder == config {
            config.join(names::INSTRUCTION_FILE)
        } else {
            folder.parent()?.join(names::LOCAL_INSTRUCTION_FILE)
        };
        return wrong(
            format!(
                "is in a settings folder, where no {} is read",
                names::LOCAL_INSTRUCTION_FILE
            ),
            format!("move it to {}", right.display()),
        );
    }
    // `rules/` at the top of a project is an easy mistake.
    let outside = folder.ancestors().find(|dir| {
        dir.ends_with(names::RULES_DIR)
            && !dir
                .parent()
                .is_some_and(|d| d.ends_with(names::SETTINGS_DIR))
            && **dir != *config.join(names::RULES_DIR)
    })?;
    let inside_rules = folder.ancestors().any(|dir| {
        dir.ends_with(names::RULES_DIR)
            && dir
                .parent()
                .is_some_and(|d| d.ends_with(names::SETTINGS_DIR))
    });
    if inside_rules || !is_markdown(name) || is_layer_name(name) {
        return None;
    }
    let right = LoadContext::rules_of(outside.parent()?);
    wrong(
        format!(
            "is in {}, and rules are read only from a settings folder",
            outside.display()
        ),
        format!("move it below {}", right.display()),
    )
}

/// Files that a layer would look at, if it were on, or there.
fn explain_layer(
    context: &LoadContext,
    shadow: Option<&Path>,
    path: &Path,
    name: &str,
) -> Option<Omission> {
    let cwd = &context.loader.cwd;
    let holder = find_owning_directory(path);
    let config = context.places.config_dir();
    let is_rule = path.starts_with(LoadContext::rules_of(holder));
    let sources = context.options.sources;
    let out = |why: SkipReason| Some(left_out(&why, None, context.approved));
    if path == config.join(names::INSTRUCTION_FILE)
        || path.starts_with(config.join(names::RULES_DIR))
    {
        if !sources.user {
            return out(SkipReason::SourceOff("user"));
        }
        if context.settings.agents == AgentsMode::ManagedOnly {
            return Some(managed_only());
        }
    }
    if !is_rule && !is_layer_name(name) {
        return None;
    }
    let added = context.places.added.iter().find(|dir| {
        path.starts_with(dir) || dir.canonicalize().is_ok_and(|dir| path.starts_with(dir))
    });
    let on_walk = cwd.starts_with(holder);
    let is_below = holder.starts_with(cwd);
    // A directory that is added and also on the walk counts as the walk's.
    if let (Some(dir), false, false) = (added, on_walk, is_below) {
        return Some(in_added(context, dir, holder, name));
    }
    if !on_walk && !is_below {
        let out = Omission::new(
            "elsewhere",
            format!(
                "belongs to {}, which is neither above nor below the working directory {}",
                holder.display(),
                cwd.display()
            ),
        );
        return Some(out.with_advice("start the session there, or import it"));
    }
    // A switched-off source comes before all other reasons: fixing those would not help.
    if !sources.project && name != names::LOCAL_INSTRUCTION_FILE {
        return out(SkipReason::SourceOff("project"));
    }
    if !sources.local && name == names::LOCAL_INSTRUCTION_FILE {
        return out(SkipReason::SourceOff("local"));
    }
    if name == names::AGENTS_FILE && !is_rule {
        return match (context.settings.agents, shadow) {
            (AgentsMode::ClaudeOnly, _) => out(SkipReason::AgentsMode("claude-md")),
            (AgentsMode::ManagedOnly, _) => out(SkipReason::AgentsMode("managed-only")),
            (AgentsMode::Fallback, Some(by)) => out(SkipReason::ShadowedBy(by.to_path_buf())),
            (AgentsMode::Fallback, None) => {
                // Without a project file, a directory's own CLAUDE.md still hides its AGENTS.md.
                own_file(holder).and_then(|by| out(SkipReason::ShadowedBy(by)))
            }
            (AgentsMode::Both, _) => None,
        };
    }
    if context
        .repository
        .as_ref()
        .is_some_and(|r| r.is_in_outer_checkout(holder))
    {
        return out(SkipReason::Worktree);
    }
    if on_walk && context.settings.agents == AgentsMode::ManagedOnly {
        return Some(managed_only());
    }
    None
}

fn managed_only() -> Omission {
    Omission::new("agents-mode", "`managed-only` keeps it out at the start")
        .with_advice("change `instructionFiles` in the user's settings")
}

/// The file of a directory that hides its AGENTS.md.
fn own_file(dir: &Path) -> Option<PathBuf> {
    let files = [
        dir.join(names::INSTRUCTION_FILE),
        dir.join(names::SETTINGS_DIR).join(names::INSTRUCTION_FILE),
        dir.join(names::LOCAL_INSTRUCTION_FILE),
    ];
    files.into_iter().find(|file| file.is_file())
}

fn in_added(context: &LoadContext, dir: &Path, holder: &Path, name: &str) -> Omission {
    let variable = names::variable::ADDED_DIRECTORIES;
    if !context.settings.is_switched_on(&context.options, variable) {
        return left_out(&SkipReason::AddedDirectory, None, context.approved)
            .with_advice(format!("set {variable}=1, or start the session there"));
    }
    if name == names::AGENTS_FILE {
        return Omission::new(
            "added-directory",
            "is of an added directory, of which no AGENTS.md is loaded",
        )
        .with_advice("import it from that directory's CLAUDE.md");
    }
    if name == names::LOCAL_INSTRUCTION_FILE && !context.options.sources.local {
        return left_out(&SkipReason::SourceOff("local"), None, context.approved);
    }
    let below = if holder == dir {
        "is a rule with `paths`"
    } else {
        "is below an added directory"
    };
    Omission::new(
        "added-directory",
        format!("{below}, and there only what loads at the start counts"),
    )
    .with_advice("start the session there, or import it")
}

/// Files of the settings folder that are something else.
fn explain_other_folder(path: &Path) -> Option<Omission> {
    let dir = path
        .ancestors()
        .skip(1)
        .find(|dir| dir.ends_with(names::SETTINGS_DIR))?;
    let first = path.strip_prefix(dir).ok()?.iter().next()?;
    let (_, what) = OTHER_FOLDERS.iter().find(|(name, _)| first == *name)?;
    Some(Omission::new(
        "other-use",
        format!("is {what}, not an instruction file"),
    ))
}
