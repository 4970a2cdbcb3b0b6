//! `remora bench replay`: plays past sessions in the order of time into a fresh
//! store, asks at each moment what would be given, and looks whether the session
//! made use of it later, beside the same number of the last turns and of turns
//! drawn by lot.

mod arm;
mod figures;
mod sample;
mod stage;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use remora_agents::recorded_agent;
use serde_json::{Value, json};

use super::load_encoder;
use crate::args::BenchReplayArgs;
use crate::args::SearchTierArg;
use crate::commands::import::{PastSession, past_sessions};
use crate::commands::progress::Progress;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, escape_invisible};
use figures::ReplayStats;
use remora_app::SearchTier;
use sample::InjectionSamples;
use stage::SessionPlayer;

pub(super) fn run(args: &BenchReplayArgs, out: &mut Output) -> Result<Exit, CliError> {
    let encoder = match args.tier {
        SearchTierArg::Fast => None,
        SearchTierArg::Full => Some(load_encoder()?),
    };
    let projects = by_project(
        &args.transcripts,
        past_sessions(recorded_agent(), &args.transcripts)?,
    );
    if projects.is_empty() {
        return Err(CliError::Usage(format!(
            "{}: no transcript of a session lies there; name a folder with --transcripts",
            args.transcripts.display()
        )));
    }
    let mut progress = Progress::new("playing");
    let mut all = ReplayStats::default();
    let mut samples = InjectionSamples::default();
    let mut rows: Vec<(String, ReplayStats)> = Vec::new();
    for (at, (name, sessions)) in projects.iter().enumerate() {
        progress.update_line(at as u64, projects.len() as u64, name);
        let mut stage = SessionPlayer::new(encoder.as_ref())?;
        let mut figures = ReplayStats::default();
        for session in sessions {
            stage.play_session(session, &mut figures, &mut samples)?;
        }
        stage.count_uses(&mut figures)?;
        all.absorb(&figures);
        rows.push((name.clone(), figures));
    }
    drop(progress);
    if let (Some(count), Some(file)) = (args.sample, &args.out) {
        fs::write(file, samples.render_samples(count)).map_err(|source| CliError::File {
            path: file.clone(),
            source,
        })?;
    }
    if args.json {
        let projects: Vec<Value> = rows
            .iter()
            .map(|(name, figures)| json!({ "name": name, "figures": figures.to_json() }))
            .collect();
        out.print_json(
            &json!({ "tier": SearchTier::from(args.tier).name(), "projects": projects, "all": all.to_json() }),
        )?;
        return Ok(Exit::GoOn);
    }
    for (name, figures) in &rows {
        let name = out.paint(Style::Bold, &escape_invisible(name));
        out.print_text(&format!("{name}\n{}\n", figures.to_text()))?;
    }
    if rows.len() > 1 {
        let name = out.paint(Style::Bold, "all");
        out.print_text(&format!(
            "{name}, {} tier\n{}",
            SearchTier::from(args.tier).name(),
            all.to_text()
        ))?;
    }
    Ok(Exit::GoOn)
}

/// The sessions of each folder that lies directly in the given one.
fn by_project(folder: &Path, sessions: Vec<PastSession>) -> BTreeMap<String, Vec<PastSession>> {
    let mut projects: BTreeMap<String, Vec<PastSession>> = BTreeMap::new();
    for session in sessions {
        let inside = session.file.strip_prefix(folder).unwrap_or(&session.file);
        let first = inside
            .components()
            .next()
            .filter(|_| inside.components().count() > 1);
        let name = first.map_or_else(|| ".".into(), |first| first.as_os_str().to_string_lossy());
        projects.entry(name.into_owned()).or_default().push(session);
    }
    projects
}
