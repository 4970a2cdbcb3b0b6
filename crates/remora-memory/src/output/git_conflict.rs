//! Conflicts of git merge, rebase, cherry-pick, pull, revert and stash.

use super::draft::{CommandDraft, CommandOutput};
use super::{CommandOutcome, Problem, text};

pub(super) fn parse_output(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let mut conflicts: Vec<(usize, Problem)> = Vec::new();
    let mut applied = None;
    for (at, line) in doc.lines.iter().enumerate() {
        if let Some((kind, rest)) = line
            .strip_prefix("CONFLICT (")
            .and_then(|r| r.split_once("): "))
        {
            let file = match rest.strip_prefix("Merge conflict in ") {
                Some(file) => file,
                None => rest.split(' ').next().unwrap_or(rest),
            };
            let message = match kind {
                "content" => "merge conflict".to_owned(),
                kind => format!("{kind} conflict: {rest}"),
            };
            conflicts.push((at, Problem::new(message).with_location(file, None)));
        } else if let Some(rest) = line
            .strip_prefix("error: could not apply ")
            .or_else(|| line.strip_prefix("Could not apply "))
        {
            applied.get_or_insert((at, rest));
        }
    }
    let pending = doc
        .lines
        .iter()
        .position(|l| l.starts_with("error: ") && l.contains("you have unmerged files"));
    if conflicts.is_empty() && applied.is_none() && pending.is_none() {
        return None;
    }
    let tool = find_tool_name(doc);
    let mut draft = CommandDraft::new(tool);
    draft.verdict = Some(CommandOutcome::Failed);
    draft.add_concept("merge conflict");
    draft.add_concept("git");
    if let Some((at, rest)) = applied {
        draft.keep_lines(at, at + 1);
        draft.add_fact(format!("could not apply {rest}"));
    }
    let files: Vec<String> = conflicts
        .iter()
        .filter_map(|(_, p)| p.file.clone())
        .collect();
    for (at, problem) in conflicts {
        draft.add_fact(problem.to_text());
        draft.add_problem(at, problem);
    }
    let commit = applied
        .map(|(_, rest)| format!(" while applying {}", rest.replace("... ", ": ")))
        .unwrap_or_default();
    draft.title = match files.len() {
        0 if pending.is_some() && applied.is_none() => {
            format!("{tool}: not possible, files are unmerged")
        }
        0 => format!("{tool}: stopped{commit}"),
        1 => format!("{tool}: conflict in {}{commit}", files[0]),
        n => format!(
            "{tool}: conflicts in {} ({}){commit}",
            text::format_count(n, "file"),
            files.join(", ")
        ),
    };
    if let Some(at) = pending {
        draft.add_problem(
            at,
            Problem::new(doc.lines[at].trim_start_matches("error: ")),
        );
    }
    Some(draft)
}

/// What git itself advises to continue; a command line may hold several verbs.
fn find_tool_name(doc: &CommandOutput<'_>) -> &'static str {
    const CONFLICT_VERBS: &[(&str, &str, &str)] = &[
        ("rebase", "git rebase --continue", "git rebase"),
        (
            "cherry-pick",
            "git cherry-pick --continue",
            "git cherry-pick",
        ),
        ("revert", "git revert --continue", "git revert"),
        ("stash", "The stash entry is kept", "git stash"),
    ];
    if let Some((_, _, tool)) = CONFLICT_VERBS
        .iter()
        .find(|(_, said, _)| doc.text.contains(said))
    {
        return tool;
    }
    if doc.text.contains("Automatic merge failed") {
        let pulled = doc.command.runs_program(&["git", "pull"]);
        return if pulled { "git pull" } else { "git merge" };
    }
    let ran = CONFLICT_VERBS
        .iter()
        .find(|(verb, _, _)| doc.command.runs_program(&["git", verb]));
    ran.map_or("git merge", |(_, _, tool)| tool)
}
