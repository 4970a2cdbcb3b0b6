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

use serde_json::{Value, json};

use super::warm;
use crate::args::BenchReplay;
use crate::commands::import::{PastSession, past_sessions};
use crate::commands::progress::Progress;
use crate::commands::tier::Tier;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, visible};
use figures::Figures;
use sample::Samples;
use stage::Stage;

pub(super) fn run(args: &BenchReplay, out: &mut Output) -> Result<Exit, CliError> {
    let encoder = match args.tier {
        Tier::Fast => None,
        Tier::Full => Some(warm()?),
    };
    let projects = by_project(&args.transcripts, past_sessions(&args.transcripts)?);
    if projects.is_empty() {
        return Err(CliError::Usage(format!(
            "{}: no transcript of a session lies there; name a folder with --transcripts",
            args.transcripts.display()
        )));
    }
    let mut progress = Progress::new("playing");
    let mut all = Figures::default();
    let mut samples = Samples::default();
    let mut rows: Vec<(String, Figures)> = Vec::new();
    for (at, (name, sessions)) in projects.iter().enumerate() {
        progress.at(at as u64, projects.len() as u64, name);
        let mut stage = Stage::new(encoder.as_ref())?;
        let mut figures = Figures::default();
        for session in sessions {
            stage.play(session, &mut figures, &mut samples)?;
        }
        stage.count_uses(&mut figures)?;
        all.absorb(&figures);
        rows.push((name.clone(), figures));
    }
    drop(progress);
    if let (Some(count), Some(file)) = (args.sample, &args.out) {
        fs::write(file, samples.text(count)).map_err(|source| CliError::File {
            path: file.clone(),
            source,
        })?;
    }
    if args.json {
        let projects: Vec<Value> = rows
            .iter()
            .map(|(name, figures)| json!({ "name": name, "figures": figures.json() }))
            .collect();
        out.json(&json!({ "tier": args.tier.name(), "projects": projects, "all": all.json() }))?;
        return Ok(Exit::GoOn);
    }
    for (name, figures) in &rows {
        let name = out.paint(Style::Bold, &visible(name));
        out.text(&format!("{name}\n{}\n", figures.text()))?;
    }
    if rows.len() > 1 {
        let name = out.paint(Style::Bold, "all");
        out.text(&format!(
            "{name}, {} tier\n{}",
            args.tier.name(),
            all.text()
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
