//! Conflicts of git merge, rebase, cherry-pick, pull, revert and stash.

use super::draft::{Doc, Draft};
use super::{Outcome, Problem, text};

pub(super) fn read(doc: &Doc<'_>) -> Option<Draft> {
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
            conflicts.push((at, Problem::new(message).at(file, None)));
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
    let tool = verb(doc);
    let mut draft = Draft::new(tool);
    draft.verdict = Some(Outcome::Failed);
    draft.concept("merge conflict");
    draft.concept("git");
    if let Some((at, rest)) = applied {
        draft.keep(at, at + 1);
        draft.fact(format!("could not apply {rest}"));
    }
    let files: Vec<String> = conflicts
        .iter()
        .filter_map(|(_, p)| p.file.clone())
        .collect();
    for (at, problem) in conflicts {
        draft.fact(problem.told());
        draft.problem(at, problem);
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
            text::plural(n, "file"),
            files.join(", ")
        ),
    };
    if let Some(at) = pending {
        draft.problem(
            at,
            Problem::new(doc.lines[at].trim_start_matches("error: ")),
        );
    }
    Some(draft)
}

/// What git itself advises to continue; a command line may hold several verbs.
fn verb(doc: &Doc<'_>) -> &'static str {
    const VERBS: &[(&str, &str, &str)] = &[
        ("rebase", "git rebase --continue", "git rebase"),
        (
            "cherry-pick",
            "git cherry-pick --continue",
            "git cherry-pick",
        ),
        ("revert", "git revert --continue", "git revert"),
        ("stash", "The stash entry is kept", "git stash"),
    ];
    if let Some((_, _, tool)) = VERBS.iter().find(|(_, said, _)| doc.text.contains(said)) {
        return tool;
    }
    if doc.text.contains("Automatic merge failed") {
        let pulled = doc.command.runs(&["git", "pull"]);
        return if pulled { "git pull" } else { "git merge" };
    }
    let ran = VERBS
        .iter()
        .find(|(verb, _, _)| doc.command.runs(&["git", verb]));
    ran.map_or("git merge", |(_, _, tool)| tool)
}
