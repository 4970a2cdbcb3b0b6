//! `remora memory review`: proposals for all layers and memories; changes
//! nothing unless one proposal is to be carried out.

use remora_notes::Memory;
use remora_notes::check::ClaimFinding;
use remora_notes::review::{
    InstructionLayer, Proposal, ProposalAction, ProposedEdit, Review, ReviewInput, ReviewedMemory,
    apply_proposal, build_review, instruction_files,
};
use serde_json::{Value, json};

use super::look::is_about_the_tree;
use super::{MemoryWorkspace, check, diff, format_now, list_secrets};
use crate::args::MemoryReviewArgs;
use crate::commands::show::lines::{flatten_text, format_count, hang_text};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, escape_invisible};

pub(super) fn run(args: &MemoryReviewArgs, out: &mut Output) -> Result<Exit, CliError> {
    let shelf = MemoryWorkspace::open(&args.place)?;
    let found = review_memories(&shelf)?;
    match &args.apply {
        Some(which) => {
            let done = run_apply(args, which, &found, out)?;
            if !args.dry_run {
                shelf.notify_changed();
            }
            Ok(done)
        }
        None if args.place.json => {
            out.print_json(&json!({
                "proposals": found.proposals.iter().map(as_json).collect::<Vec<_>>(),
                "more": found.more,
                "nothing_to_do": found.fine,
            }))?;
            Ok(Exit::GoOn)
        }
        None => {
            print_review(&found, out)?;
            Ok(Exit::GoOn)
        }
    }
}

fn review_memories(shelf: &MemoryWorkspace) -> Result<Review, CliError> {
    let mut memories: Vec<(Memory, Vec<ClaimFinding>)> = check::check_all_memories(shelf)?
        .into_iter()
        .map(|checked| (checked.memory, checked.findings))
        .collect();
    for folder in &shelf.folders {
        if !is_about_the_tree(folder.scope()) {
            let listing = folder.list_memories()?;
            memories.extend(listing.memories.into_iter().map(|m| (m, Vec::new())));
        }
    }
    let saved: Vec<ReviewedMemory<'_>> = memories
        .iter()
        .map(|(memory, findings)| ReviewedMemory { memory, findings })
        .collect();
    let texts = shelf.read_layers();
    let layers: Vec<InstructionLayer<'_>> = texts
        .iter()
        .map(|(path, kind, text)| InstructionLayer {
            path,
            kind: *kind,
            text,
        })
        .collect();
    let (shared, own) = instruction_files(&shelf.root);
    let material = ReviewInput {
        layers: &layers,
        saved: &saved,
        folders: &shelf.folders,
        shared: &shared,
        own: &own,
        now: &format_now(),
    };
    let redactor = shelf.build_redactor()?;
    Ok(build_review(&material, &|text| {
        list_secrets(&redactor, text)
    }))
}

/// Shows one proposal's changes and carries them out.
fn run_apply(
    args: &MemoryReviewArgs,
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
            "--apply: proposal {} needs you to decide; edit the files it names",
            proposal.id
        )));
    }
    if !args.place.json {
        print_headline(proposal, out)?;
        for edit in &proposal.edits {
            let path = escape_invisible(&edit.path.display().to_string());
            let what = match (&edit.before, &edit.after) {
                (None, _) => "new ",
                (_, None) => "removed ",
                _ => "",
            };
            let path = out.paint(Style::Bold, &format!("{what}{path}"));
            let lines = diff::render_diff(
                edit.before.as_deref().unwrap_or_default(),
                edit.after.as_deref().unwrap_or_default(),
                out,
            );
            out.print_text(&format!("{path}\n{lines}"))?;
        }
    }
    if !args.dry_run {
        apply_proposal(proposal)?;
    }
    if args.place.json {
        out.print_json(&json!({ "applied": !args.dry_run, "proposal": as_json(proposal) }))?;
    } else if args.dry_run {
        out.print_text("nothing was changed\n")?;
    } else {
        out.print_text("done\n")?;
    }
    Ok(Exit::GoOn)
}

fn print_review(found: &Review, out: &mut Output) -> Result<(), CliError> {
    for proposal in &found.proposals {
        print_headline(proposal, out)?;
    }
    let fine = found.fine.len() as u64;
    if found.proposals.is_empty() {
        return out.print_text(&format!("nothing to do: {}\n", say_fine(fine)));
    }
    if found.more > 0 {
        out.print_text(&format!(
            "{} more come up once these are dealt with\n",
            found.more
        ))?;
    }
    out.print_text(&format!(
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
    format!("{} {rest}", format_count(memories, "memory", "memories"))
}

fn print_headline(proposal: &Proposal, out: &mut Output) -> Result<(), CliError> {
    let action = match proposal.action {
        ProposalAction::Promote(target) => format!("promote to {}", target.as_str()),
        ProposalAction::RemoveDuplicate => "remove duplicate".to_owned(),
        ProposalAction::Outdated => "outdated".to_owned(),
        ProposalAction::Conflict => "conflict".to_owned(),
        ProposalAction::Ambiguous => "look at".to_owned(),
    };
    let style = match proposal.action {
        ProposalAction::Promote(_) => Style::Green,
        ProposalAction::Conflict | ProposalAction::Outdated => Style::Red,
        ProposalAction::RemoveDuplicate | ProposalAction::Ambiguous => Style::Yellow,
    };
    let id = out.paint(Style::Cyan, &proposal.id.to_string());
    let action = out.paint(style, &action);
    let by_hand = if proposal.edits.is_empty() {
        out.paint(Style::Dim, " (by hand)")
    } else {
        String::new()
    };
    out.print_text(&format!("{id} {action}{by_hand}\n"))?;
    out.print_text(&hang_text("  ", &flatten_text(&proposal.what)))?;
    out.print_text(&hang_text("  ", &flatten_text(&proposal.why)))
}

fn as_json(proposal: &Proposal) -> Value {
    let target = match proposal.action {
        ProposalAction::Promote(target) => Some(target.as_str()),
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

fn edit_json(edit: &ProposedEdit) -> Value {
    json!({ "path": edit.path, "before": edit.before, "after": edit.after })
}
