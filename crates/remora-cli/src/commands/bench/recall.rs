//! `remora bench recall`: plays labelled situations through the pipeline that
//! people have, asks what would be given at each moment, and compares it with
//! what should be.

mod ask;
mod figures;
mod payload;
pub(super) mod player;
pub(super) mod set;

use std::path::{Path, PathBuf};

use remora_core::record::Item;
use serde_json::{Value, json};

use super::load_encoder;
use crate::args::SearchTierArg;
use crate::args::{BenchHalf, BenchRecallArgs};
use crate::commands::progress::Progress;
use crate::environment::Environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, escape_invisible};
use ask::SituationVerdict;
use figures::RecallStats;
use player::PlayedProject;
use remora_app::SearchTier;
use remora_app::recall_environment::RecallSettings;
use set::{BenchProject, SituationKind};

/// Where the set lies in the repository.
const DEFAULT_SET_DIR: &str = "fixtures/recall";
pub(super) fn run(args: &BenchRecallArgs, out: &mut Output) -> Result<Exit, CliError> {
    let folder = match &args.set {
        Some(folder) => folder.clone(),
        None => find_default_set()?,
    };
    let projects = set::read_projects(&folder, args.half)?;
    let encoder = match args.tier {
        SearchTierArg::Fast => None,
        SearchTierArg::Full => Some(load_encoder()?),
    };
    let mut progress = Progress::new("playing");
    // As somebody has it who has set nothing.
    let settings = RecallSettings::default();
    let mut verdicts = Vec::new();
    let mut stored = Vec::new();
    let mut rows = Vec::new();
    for (at, project) in projects.iter().enumerate() {
        progress.update_line(at as u64, projects.len() as u64, &project.name);
        let played = player::play_project(project, encoder.as_ref().filter(|_| !args.rows))?;
        if args.rows && args.json {
            rows.push(rows_as_json(project, &played));
            continue;
        }
        if args.rows {
            print_items(project, &played, out)?;
            continue;
        }
        check_labels(project, &played)?;
        for situation in &project.situations {
            verdicts.push(ask::run_situation(
                project,
                &played,
                situation,
                settings,
                encoder.as_ref(),
            )?);
        }
        stored.push((project.name.as_str(), played.rows.len()));
    }
    drop(progress);
    if args.rows {
        if args.json {
            out.print_json(&rows)?;
        }
        return Ok(Exit::GoOn);
    }
    let tier = SearchTier::from(args.tier);
    if args.json {
        out.print_json(&figures_as_json(tier, &stored, &verdicts))?;
        return Ok(Exit::GoOn);
    }
    if args.verbose {
        for verdict in &verdicts {
            print_verdict(verdict, out)?;
        }
    }
    let rows: usize = stored.iter().map(|(_, rows)| rows).sum();
    out.print_text(&format!(
        "{} situations in {} projects, {rows} rows stored, {} tier\n",
        verdicts.len(),
        projects.len(),
        tier.name(),
    ))?;
    print_figures(&verdicts, out)?;
    Ok(Exit::GoOn)
}

fn figures_as_json(
    tier: SearchTier,
    stored: &[(&str, usize)],
    verdicts: &[SituationVerdict],
) -> Value {
    let named = |by: &'static str, stats: Vec<(BenchHalf, &str, RecallStats)>| -> Vec<Value> {
        let one = |(half, name, figures): &(BenchHalf, &str, RecallStats)| {
            figures.to_named_json(&[("half", half.name()), (by, name)])
        };
        stats.iter().map(one).collect()
    };
    json!({
        "tier": tier.name(),
        "projects": stored
            .iter()
            .map(|(name, rows)| json!({ "name": name, "rows": rows }))
            .collect::<Vec<_>>(),
        "figures": compute_stats(verdicts)
            .iter()
            .map(|(half, moment, figures)| figures.to_json(*half, *moment))
            .collect::<Vec<_>>(),
        "prompts_by_project": named("project", prompt_stats(verdicts, |one| Some(&one.project))),
        "prompts_by_intent": named("intent", prompt_stats(verdicts, intent_of)),
        "situations": verdicts.iter().map(as_json).collect::<Vec<_>>(),
    })
}

fn print_figures(verdicts: &[SituationVerdict], out: &mut Output) -> Result<(), CliError> {
    let header = out.paint(Style::Bold, &figures::format_header());
    out.print_text(&format!("{header}\n"))?;
    let table = compute_stats(verdicts);
    for (half, moment, figures) in &table {
        out.print_text(&format!("{}\n", figures.format_line(*half, *moment)))?;
    }
    for (half, moment, figures) in &table {
        if let (Some(SituationKind::Failure), Some(lost)) = (moment, figures.format_lost()) {
            out.print_text(&format!("fixes lost in {}: {lost}\n", half.name()))?;
        }
    }
    for (title, stats) in [
        (
            "prompts by project",
            prompt_stats(verdicts, |one| Some(&one.project)),
        ),
        ("prompts by intent", prompt_stats(verdicts, intent_of)),
    ] {
        if !stats.is_empty() {
            out.print_text(&format!("{}\n", out.paint(Style::Bold, title)))?;
        }
        for (half, name, figures) in &stats {
            let line = figures.format_prompts(*half, &escape_invisible(name));
            out.print_text(&format!("{line}\n"))?;
        }
    }
    Ok(())
}

/// What a prompt is listed under: what it wants, or that nothing is to be injected.
fn intent_of(verdict: &SituationVerdict) -> Option<&str> {
    if verdict.quiet {
        return Some("quiet");
    }
    verdict.intent.as_deref()
}

/// The figures of the prompts of each half under each name, in the order of the set.
fn prompt_stats<'v>(
    verdicts: &'v [SituationVerdict],
    name_of: fn(&'v SituationVerdict) -> Option<&'v str>,
) -> Vec<(BenchHalf, &'v str, RecallStats)> {
    let mut groups: Vec<(BenchHalf, &str, Vec<&SituationVerdict>)> = Vec::new();
    let prompts = verdicts
        .iter()
        .filter(|one| one.moment == SituationKind::Prompt);
    for one in prompts {
        let Some(name) = name_of(one) else { continue };
        let group = groups
            .iter_mut()
            .find(|(half, known, _)| *half == one.half && *known == name);
        match group {
            Some((_, _, of_name)) => of_name.push(one),
            None => groups.push((one.half, name, vec![one])),
        }
    }
    groups
        .into_iter()
        .map(|(half, name, of_name)| (half, name, RecallStats::from_verdicts(of_name.into_iter())))
        .collect()
}

/// What is stored, for whoever writes labels.
fn print_items(
    project: &BenchProject,
    played: &PlayedProject,
    out: &mut Output,
) -> Result<(), CliError> {
    let name = out.paint(Style::Bold, &escape_invisible(&project.name));
    out.print_text(&format!("{name}: {} rows\n", played.rows.len()))?;
    for row in &played.rows {
        let labels = played.labels_of(row).join(", ");
        let session = row.session.rsplit('-').next().unwrap_or("");
        let line = format!(
            "#{:<4} {session:<4} {:<11} {labels:<18} {}",
            row.id, row.kind, row.title
        );
        out.print_text(&format!("{}\n", escape_invisible(&line)))?;
    }
    Ok(())
}

/// The same with everything that is stored, for whoever studies features.
fn rows_as_json(project: &BenchProject, played: &PlayedProject) -> Value {
    let row = |row: &Item| json!({ "labels": played.labels_of(row), "item": row });
    json!({
        "project": project.name,
        "rows": played.rows.iter().map(row).collect::<Vec<_>>(),
    })
}

/// The set of the repository that we stand in.
fn find_default_set() -> Result<PathBuf, CliError> {
    let environment = Environment::from_process();
    let here = environment.directory().map(PathBuf::as_path);
    let mut found = None;
    for folder in here.into_iter().flat_map(Path::ancestors) {
        let set = folder.join(DEFAULT_SET_DIR);
        if set.join("halves.json").is_file() {
            found = Some(set);
        }
        // A folder around the repository is none of ours.
        if found.is_some() || folder.join(".git").exists() {
            break;
        }
    }
    found.ok_or_else(|| {
        CliError::Usage(format!(
            "there is no {DEFAULT_SET_DIR} here; name the folder of a labelled set with --set DIR"
        ))
    })
}

/// Every label must mean something, or a situation would judge nothing.
fn check_labels(project: &BenchProject, played: &PlayedProject) -> Result<(), CliError> {
    for (at, situation) in project.situations.iter().enumerate() {
        let fault = |what: &str| {
            let what = format!("{}: {what}", situation.id);
            set::line_error(&project.moments, at + 1, &what)
        };
        let lists = [
            &situation.must,
            &situation.may,
            &situation.must_not,
            &situation.given_before,
        ];
        for label in lists.into_iter().flatten().flat_map(|l| l.split('|')) {
            // What capture leaves out is a miss to be counted; a name that no
            // step has is a mistake in the set.
            let known = played
                .rows
                .iter()
                .any(|row| played.matches_label(row, label));
            if !known && !played.has_label(label) {
                return Err(fault(&format!("there is no label `{label}`")));
            }
        }
        let needed = match situation.moment {
            SituationKind::Prompt => {
                [("prompt", &situation.prompt), ("intent", &situation.intent)].to_vec()
            }
            SituationKind::Read => [("file", &situation.file)].to_vec(),
            SituationKind::Failure => {
                [("command", &situation.command), ("error", &situation.error)].to_vec()
            }
            SituationKind::Compact => [
                ("summary", &situation.summary),
                ("session", &situation.session),
            ]
            .to_vec(),
            SituationKind::Subagent => [("session", &situation.session)].to_vec(),
            SituationKind::Start => Vec::new(),
        };
        if let Some((name, _)) = needed.iter().find(|(_, value)| value.is_none()) {
            return Err(fault(&format!("`{name}` is missing")));
        }
        if let Some(name) = &situation.session
            && played.session_id(name).is_none()
        {
            return Err(fault(&format!("there is no session `{name}`")));
        }
        if situation.nothing && !(situation.must.is_empty() && situation.may.is_empty()) {
            return Err(fault("`nothing` leaves no room for `must` and `may`"));
        }
    }
    Ok(())
}

/// For each half: one line for all but starts, then one for each kind of trigger.
fn compute_stats(
    verdicts: &[SituationVerdict],
) -> Vec<(BenchHalf, Option<SituationKind>, RecallStats)> {
    let kinds = std::iter::once(None).chain(SituationKind::ALL.into_iter().map(Some));
    let rows = [BenchHalf::Dev, BenchHalf::Test]
        .into_iter()
        .flat_map(|half| kinds.clone().map(move |kind| (half, kind)));
    rows.map(|(half, kind)| {
        let of = verdicts
            .iter()
            .filter(|one| one.half == half)
            .filter(|one| match kind {
                Some(kind) => kind == one.moment,
                None => one.moment != SituationKind::Start,
            });
        (half, kind, RecallStats::from_verdicts(of))
    })
    .filter(|(_, _, figures)| figures.situations > 0)
    .collect()
}

fn as_json(verdict: &SituationVerdict) -> Value {
    json!({
        "id": verdict.id,
        "project": verdict.project,
        "half": verdict.half.name(),
        "moment": verdict.moment.name(),
        "wanted": verdict.wanted,
        "missed": verdict.missed,
        "lost": verdict.lost.iter().map(|stage| stage.name()).collect::<Vec<_>>(),
        "given": verdict.given,
        "wrong": verdict.wrong,
        "forbidden": verdict.forbidden,
        "quiet": verdict.quiet,
        "tokens": verdict.tokens,
        "question": verdict.is_question,
        "candidates": verdict.candidates,
        "text": verdict.text,
    })
}

/// What was not as it should be.
fn print_verdict(verdict: &SituationVerdict, out: &mut Output) -> Result<(), CliError> {
    let misread = verdict
        .misread
        .as_ref()
        .map(|(wanted, read)| format!("{wanted}, read as {read}"));
    let lists = [
        ("missed", verdict.missed.as_slice()),
        ("must not", verdict.forbidden.as_slice()),
        ("wrong", verdict.wrong.as_slice()),
        ("intent", misread.as_slice()),
    ];
    if lists.iter().all(|(_, list)| list.is_empty()) {
        return Ok(());
    }
    let name = out.paint(Style::Bold, &escape_invisible(&verdict.id));
    out.print_text(&format!(
        "{name} ({} given, {} tokens)\n",
        verdict.given, verdict.tokens
    ))?;
    for (what, list) in lists {
        for entry in list {
            out.print_text(&format!("  {what:<9}{}\n", escape_invisible(entry)))?;
        }
    }
    Ok(())
}
