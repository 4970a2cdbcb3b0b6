//! `remora memory review`: proposals for all layers and memories; changes
//! nothing unless one proposal is to be carried out.

use remora_instructions::memories::Memory;
use remora_instructions::memories::check::Finding;
use remora_instructions::memories::review::{
    Action, Edit, Layer, Material, Proposal, Review, Saved, apply, instruction_files, review,
};
use serde_json::{Value, json};

use super::look::is_about_the_tree;
use super::{Shelf, check, diff, now, secrets};
use crate::args::MemoryReview;
use crate::commands::show::lines::{count, flat, hang};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, visible};

pub(super) fn run(args: &MemoryReview, out: &mut Output) -> Result<Exit, CliError> {
    let shelf = Shelf::open(&args.place)?;
    let found = reviewed(&shelf)?;
    match &args.apply {
        Some(which) => {
            let done = one(args, which, &found, out)?;
            if !args.dry_run {
                shelf.changed();
            }
            Ok(done)
        }
        None if args.place.json => {
            out.json(&json!({
                "proposals": found.proposals.iter().map(as_json).collect::<Vec<_>>(),
                "more": found.more,
                "nothing_to_do": found.fine,
            }))?;
            Ok(Exit::GoOn)
        }
        None => {
            told(&found, out)?;
            Ok(Exit::GoOn)
        }
    }
}

fn reviewed(shelf: &Shelf) -> Result<Review, CliError> {
    let mut memories: Vec<(Memory, Vec<Finding>)> = check::all(shelf)?
        .into_iter()
        .map(|checked| (checked.memory, checked.findings))
        .collect();
    for folder in &shelf.folders {
        if !is_about_the_tree(folder.scope()) {
            let listing = folder.list()?;
            memories.extend(listing.memories.into_iter().map(|m| (m, Vec::new())));
        }
    }
    let saved: Vec<Saved<'_>> = memories
        .iter()
        .map(|(memory, findings)| Saved { memory, findings })
        .collect();
    let texts = shelf.layers();
    let layers: Vec<Layer<'_>> = texts
        .iter()
        .map(|(path, kind, text)| Layer {
            path,
            kind: *kind,
            text,
        })
        .collect();
    let (shared, own) = instruction_files(&shelf.root);
    let material = Material {
        layers: &layers,
        saved: &saved,
        folders: &shelf.folders,
        shared: &shared,
        own: &own,
        now: &now(),
    };
    let redactor = shelf.redactor()?;
    Ok(review(&material, &|text| secrets(&redactor, text)))
}

/// Shows one proposal's changes and carries them out.
fn one(
    args: &MemoryReview,
    which: &str,
    found: &Review,
    out: &mut Output,
) -> Result<Exit, CliError> {
    let number = which.trim_start_matches('#');
    let proposal = found
        .proposals
        .iter()
        .find(|proposal| proposal.id.to_string() == number || proposal.key == which)
        .ok_or_else(|| {
            CliError::Usage(format!(
                "--apply: there is no proposal `{which}`; `remora memory review` lists them"
            ))
        })?;
    if proposal.edits.is_empty() {
        return Err(CliError::Usage(format!(
            "--apply: proposal {} needs a person to decide; edit the files it names",
            proposal.id
        )));
    }
    if !args.place.json {
        headline(proposal, out)?;
        for edit in &proposal.edits {
            let path = visible(&edit.path.display().to_string());
            let what = match (&edit.before, &edit.after) {
                (None, _) => "new ",
                (_, None) => "removed ",
                _ => "",
            };
            let path = out.paint(Style::Bold, &format!("{what}{path}"));
            let lines = diff::text(
                edit.before.as_deref().unwrap_or_default(),
                edit.after.as_deref().unwrap_or_default(),
                out,
            );
            out.text(&format!("{path}\n{lines}"))?;
        }
    }
    if !args.dry_run {
        apply(proposal)?;
    }
    if args.place.json {
        out.json(&json!({ "applied": !args.dry_run, "proposal": as_json(proposal) }))?;
    } else if args.dry_run {
        out.text("nothing was changed\n")?;
    } else {
        out.text("done\n")?;
    }
    Ok(Exit::GoOn)
}

fn told(found: &Review, out: &mut Output) -> Result<(), CliError> {
    for proposal in &found.proposals {
        headline(proposal, out)?;
    }
    let fine = found.fine.len() as u64;
    if found.proposals.is_empty() {
        return out.text(&format!("nothing to do: {}\n", say_fine(fine)));
    }
    if found.more > 0 {
        out.text(&format!(
            "{} more come up once these are dealt with\n",
            found.more
        ))?;
    }
    out.text(&format!(
        "{}; nothing was changed. `remora memory review --apply N` carries one out\n",
        say_fine(fine)
    ))
}

fn say_fine(memories: u64) -> String {
    let rest = if memories == 1 {
        "is fine as it is"
    } else {
        "are fine as they are"
    };
    format!("{} {rest}", count(memories, "memory", "memories"))
}

fn headline(proposal: &Proposal, out: &mut Output) -> Result<(), CliError> {
    let action = match proposal.action {
        Action::Promote(target) => format!("promote to {}", target.as_str()),
        Action::RemoveDuplicate => "remove duplicate".to_owned(),
        Action::Outdated => "outdated".to_owned(),
        Action::Conflict => "conflict".to_owned(),
        Action::Ambiguous => "look at".to_owned(),
    };
    let style = match proposal.action {
        Action::Promote(_) => Style::Green,
        Action::Conflict | Action::Outdated => Style::Red,
        Action::RemoveDuplicate | Action::Ambiguous => Style::Yellow,
    };
    let id = out.paint(Style::Cyan, &proposal.id.to_string());
    let action = out.paint(style, &action);
    let by_hand = if proposal.edits.is_empty() {
        out.paint(Style::Dim, " (by hand)")
    } else {
        String::new()
    };
    out.text(&format!("{id} {action}{by_hand}\n"))?;
    out.text(&hang("  ", &flat(&proposal.what)))?;
    out.text(&hang("  ", &flat(&proposal.why)))
}

fn as_json(proposal: &Proposal) -> Value {
    let target = match proposal.action {
        Action::Promote(target) => Some(target.as_str()),
        _ => None,
    };
    json!({
        "id": proposal.id,
        "key": proposal.key,
        "action": proposal.action.as_str(),
        "to": target,
        "what": proposal.what,
        "why": proposal.why,
        "edits": proposal.edits.iter().map(edit_json).collect::<Vec<_>>(),
    })
}

fn edit_json(edit: &Edit) -> Value {
    json!({ "path": edit.path, "before": edit.before, "after": edit.after })
}
