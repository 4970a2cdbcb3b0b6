//! `remora conformance`: recorded cases against an engine, which may be any
//! program.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Read as _};
use std::thread;

use remora_hook_tools::conformance::{
    CaseBook, CaseVerdict, ConformanceRun, answer_request, play_book,
};
use serde_json::json;

use crate::args::ConformanceArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, escape_invisible};
use crate::signals;

/// The longest request that is answered.
const MAX_REQUEST_BYTES: u64 = 64 << 20;
/// Differences that are shown in text.
const MAX_SHOWN: usize = 50;

pub(super) fn run(args: &ConformanceArgs, out: &mut Output) -> Result<Exit, CliError> {
    if args.as_engine {
        return answer(out);
    }
    let failed = |error: &dyn std::error::Error| CliError::Usage(error.to_string());
    let mut book = CaseBook::read(&args.cases).map_err(|error| failed(&error))?;
    if let Some(text) = &args.filter {
        book.filter(text);
    }
    if book.case_count() == 0 {
        return Err(CliError::Usage("there is no such case".to_owned()));
    }
    let folder = tempfile::Builder::new()
        .prefix("remora-conformance-")
        .tempdir()?;
    signals::watch_signals(Some(folder.path().to_path_buf()))?;
    // Most cases wait for a child.
    let jobs = thread::available_parallelism().map_or(2, |cores| usize::from(cores) * 2);
    let verdicts = play_book(
        &book,
        &ConformanceRun {
            engine: args.engine.as_deref().unwrap_or_default(),
            folder: folder.path(),
            jobs: args.jobs.map_or(jobs, usize::from),
        },
    )
    .map_err(|error| failed(&error))?;
    let agree = verdicts.iter().filter(|v| v.differences.is_empty()).count();
    if args.json {
        out.print_json(&json!({
            "cases": verdicts.len(),
            "agree": agree,
            "differ": verdicts.len() - agree,
            "verdicts": verdicts,
        }))?;
    } else {
        print_verdicts(&verdicts, agree, out)?;
    }
    Ok(if agree == verdicts.len() {
        Exit::GoOn
    } else {
        Exit::Failed
    })
}

fn answer(out: &mut Output) -> Result<Exit, CliError> {
    signals::watch_signals(None)?;
    let mut request = Vec::new();
    io::stdin()
        .lock()
        .take(MAX_REQUEST_BYTES)
        .read_to_end(&mut request)
        .map_err(CliError::Stdin)?;
    let answer = answer_request(&request).map_err(|error| CliError::Usage(error.to_string()))?;
    out.print_json(&answer)?;
    Ok(Exit::GoOn)
}

fn print_verdicts(
    verdicts: &[CaseVerdict],
    agree: usize,
    out: &mut Output,
) -> Result<(), CliError> {
    let mut text = String::new();
    let mut families: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for verdict in verdicts {
        let (all, fine) = families.entry(&verdict.family).or_default();
        *all += 1;
        *fine += usize::from(verdict.differences.is_empty());
    }
    let differing = || verdicts.iter().filter(|v| !v.differences.is_empty());
    for verdict in differing().take(MAX_SHOWN) {
        let name = escape_invisible(&verdict.name);
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{} {name}", out.paint(Style::Red, "✗"));
        for difference in &verdict.differences {
            let _ = writeln!(text, "    {}", escape_invisible(difference));
        }
    }
    let hidden = differing().count().saturating_sub(MAX_SHOWN);
    if hidden > 0 {
        let _ = writeln!(text, "and {hidden} more; --json has them all");
    }
    for (family, (all, fine)) in &families {
        let _ = writeln!(text, "{fine:>5} of {all:<5} {}", escape_invisible(family));
    }
    let _ = writeln!(text, "{agree:>5} of {:<5} cases agree", verdicts.len());
    out.print_text(&text)
}
