//! `remora bench recall`: plays labelled situations through the pipeline that
//! people have, asks what would be given at each moment, and compares it with
//! what should be.

mod ask;
mod figures;
mod payload;
pub(super) mod player;
pub(super) mod set;

use std::path::{Path, PathBuf};

use remora_protocol::record::Item;
use serde_json::{Value, json};

use super::warm;
use crate::args::{BenchRecall, Half};
use crate::commands::progress::Progress;
use crate::commands::tier::Tier;
use crate::environment::Environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, visible};
use crate::recall::Settings;
use ask::Verdict;
use figures::Figures;
use player::Played;
use set::{Kind, Project};

/// Where the set lies in the repository.
const SET: &str = "fixtures/recall";
pub(super) fn run(args: &BenchRecall, out: &mut Output) -> Result<Exit, CliError> {
    let folder = match &args.set {
        Some(folder) => folder.clone(),
        None => near()?,
    };
    let projects = set::read(&folder, args.half)?;
    let encoder = match args.tier {
        Tier::Fast => None,
        Tier::Full => Some(warm()?),
    };
    let mut progress = Progress::new("playing");
    // As somebody has it who has set nothing.
    let settings = Settings::default();
    let mut verdicts = Vec::new();
    let mut stored = Vec::new();
    let mut rows = Vec::new();
    for (at, project) in projects.iter().enumerate() {
        progress.at(at as u64, projects.len() as u64, &project.name);
        let played = player::play(project, encoder.as_ref().filter(|_| !args.rows))?;
        if args.rows && args.json {
            rows.push(rows_as_json(project, &played));
            continue;
        }
        if args.rows {
            list(project, &played, out)?;
            continue;
        }
        check(project, &played)?;
        for situation in &project.situations {
            verdicts.push(ask::ask(
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
            out.json(&rows)?;
        }
        return Ok(Exit::GoOn);
    }
    let table = table(&verdicts);
    if args.json {
        out.json(&json!({
            "tier": args.tier.name(),
            "projects": stored
                .iter()
                .map(|(name, rows)| json!({ "name": name, "rows": rows }))
                .collect::<Vec<_>>(),
            "figures": table
                .iter()
                .map(|(half, moment, figures)| figures.json(*half, *moment))
                .collect::<Vec<_>>(),
            "situations": verdicts.iter().map(as_json).collect::<Vec<_>>(),
        }))?;
        return Ok(Exit::GoOn);
    }
    if args.verbose {
        for verdict in &verdicts {
            say(verdict, out)?;
        }
    }
    let rows: usize = stored.iter().map(|(_, rows)| rows).sum();
    out.text(&format!(
        "{} situations in {} projects, {rows} rows stored, {} tier\n",
        verdicts.len(),
        projects.len(),
        args.tier.name(),
    ))?;
    out.text(&format!("{}\n", out.paint(Style::Bold, &figures::head())))?;
    for (half, moment, figures) in &table {
        out.text(&format!("{}\n", figures.line(*half, *moment)))?;
    }
    Ok(Exit::GoOn)
}

/// What is stored, for whoever writes labels.
fn list(project: &Project, played: &Played, out: &mut Output) -> Result<(), CliError> {
    let name = out.paint(Style::Bold, &visible(&project.name));
    out.text(&format!("{name}: {} rows\n", played.rows.len()))?;
    for row in &played.rows {
        let labels = played.labels_of(row).join(", ");
        let session = row.session.rsplit('-').next().unwrap_or("");
        let line = format!(
            "#{:<4} {session:<4} {:<11} {labels:<18} {}",
            row.id, row.kind, row.title
        );
        out.text(&format!("{}\n", visible(&line)))?;
    }
    Ok(())
}

/// The same with everything that is stored, for whoever studies features.
fn rows_as_json(project: &Project, played: &Played) -> Value {
    let row = |row: &Item| json!({ "labels": played.labels_of(row), "item": row });
    json!({
        "project": project.name,
        "rows": played.rows.iter().map(row).collect::<Vec<_>>(),
    })
}

/// The set of the repository that we stand in.
fn near() -> Result<PathBuf, CliError> {
    let environment = Environment::read();
    let here = environment.directory().map(PathBuf::as_path);
    let mut found = None;
    for folder in here.into_iter().flat_map(Path::ancestors) {
        let set = folder.join(SET);
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
            "there is no {SET} here; name the folder of a labelled set with --set DIR"
        ))
    })
}

/// Every label must mean something, or a situation would judge nothing.
fn check(project: &Project, played: &Played) -> Result<(), CliError> {
    for (at, situation) in project.situations.iter().enumerate() {
        let fault = |what: &str| {
            let what = format!("{}: {what}", situation.id);
            set::fault(&project.moments, at + 1, &what)
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
            let known = played.rows.iter().any(|row| played.is(row, label));
            if !known && !played.has_label(label) {
                return Err(fault(&format!("there is no label `{label}`")));
            }
        }
        let needed = match situation.moment {
            Kind::Prompt => [("prompt", &situation.prompt), ("intent", &situation.intent)].to_vec(),
            Kind::Read => [("file", &situation.file)].to_vec(),
            Kind::Failure => {
                [("command", &situation.command), ("error", &situation.error)].to_vec()
            }
            Kind::Compact => [
                ("summary", &situation.summary),
                ("session", &situation.session),
            ]
            .to_vec(),
            Kind::Subagent => [("session", &situation.session)].to_vec(),
            Kind::Start => Vec::new(),
        };
        if let Some((name, _)) = needed.iter().find(|(_, value)| value.is_none()) {
            return Err(fault(&format!("`{name}` is missing")));
        }
        if let Some(name) = &situation.session
            && played.session(name).is_none()
        {
            return Err(fault(&format!("there is no session `{name}`")));
        }
        if situation.nothing && !(situation.must.is_empty() && situation.may.is_empty()) {
            return Err(fault("`nothing` leaves no room for `must` and `may`"));
        }
    }
    Ok(())
}

/// For each half: one row for all but starts, then one a kind of moment.
fn table(verdicts: &[Verdict]) -> Vec<(Half, Option<Kind>, Figures)> {
    let kinds = std::iter::once(None).chain(Kind::ALL.into_iter().map(Some));
    let rows = [Half::Dev, Half::Test]
        .into_iter()
        .flat_map(|half| kinds.clone().map(move |kind| (half, kind)));
    rows.map(|(half, kind)| {
        let of = verdicts
            .iter()
            .filter(|one| one.half == half)
            .filter(|one| match kind {
                Some(kind) => kind == one.moment,
                None => one.moment != Kind::Start,
            });
        (half, kind, Figures::of(of))
    })
    .filter(|(_, _, figures)| figures.situations > 0)
    .collect()
}

fn as_json(verdict: &Verdict) -> Value {
    json!({
        "id": verdict.id,
        "project": verdict.project,
        "half": verdict.half.name(),
        "moment": verdict.moment.name(),
        "wanted": verdict.wanted,
        "missed": verdict.missed,
        "given": verdict.given,
        "wrong": verdict.wrong,
        "forbidden": verdict.forbidden,
        "quiet": verdict.quiet,
        "tokens": verdict.tokens,
        "candidates": verdict.candidates,
        "text": verdict.text,
    })
}

/// What was not as it should be.
fn say(verdict: &Verdict, out: &mut Output) -> Result<(), CliError> {
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
    let name = out.paint(Style::Bold, &visible(&verdict.id));
    out.text(&format!(
        "{name} ({} given, {} tokens)\n",
        verdict.given, verdict.tokens
    ))?;
    for (what, list) in lists {
        for entry in list {
            out.text(&format!("  {what:<9}{}\n", visible(entry)))?;
        }
    }
    Ok(())
}
