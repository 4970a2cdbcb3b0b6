//! `remora recap`: what was done since a day, by project and session; what a
//! user would say at a stand-up.

use remora_app::TimeSpanRequest;
use remora_app::recap::{ProjectRecap, RecapRequest, SessionRecap};

use crate::args::RecapArgs;
use crate::commands::data::open_app;
use crate::commands::sessions::{format_ending, print_session_title};
use crate::commands::show::lines::{self, TimeFormatter, flatten_text, hang_text};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style};

/// Entries that are shown of each part.
const MAX_PART_ENTRIES: usize = 6;

pub(crate) fn run(args: &RecapArgs, out: &mut Output) -> Result<Exit, CliError> {
    let found = open_app()?.recap(&RecapRequest {
        project: args.place.to_choice(),
        span: TimeSpanRequest {
            since: Some(args.since.clone()),
            until: args.until.clone(),
        },
        agent: args.agent.clone(),
    })?;
    if args.json {
        out.print_json(&found)?;
        return Ok(Exit::GoOn);
    }
    let local = TimeFormatter::new();
    if found.projects.is_empty() {
        let here = if found.is_one_project {
            "; `--all` looks in every project"
        } else {
            ""
        };
        out.print_text(&format!(
            "nothing was done since {}{here}\n",
            local.format_timestamp(found.since_ms)
        ))?;
    }
    for (at, project) in found.projects.iter().enumerate() {
        if at > 0 {
            out.print_text("\n")?;
        }
        print_project(project, &local, out)?;
    }
    Ok(Exit::GoOn)
}

fn print_project(
    project: &ProjectRecap,
    local: &TimeFormatter,
    out: &mut Output,
) -> Result<(), CliError> {
    let name = out.paint(Style::Bold, &flatten_text(&project.name));
    out.print_text(&format!("{name}\n"))?;
    for done in &project.sessions {
        out.print_text("\n")?;
        print_session(done, local, out)?;
    }
    Ok(())
}

fn print_session(
    done: &SessionRecap,
    local: &TimeFormatter,
    out: &mut Output,
) -> Result<(), CliError> {
    let session = &done.session;
    let lead = format!("  {}  ", local.format_timestamp(session.last));
    print_session_title(session, &lead, out)?;
    let mut about: Vec<String> = session.branch.iter().map(|b| flatten_text(b)).collect();
    about.push(flatten_text(&session.agent));
    about.push(format_ending(session));
    let about = out.paint(Style::Dim, &about.join(" · "));
    out.print_text(&format!("{}{about}\n", " ".repeat(lead.len())))?;
    let parts = [
        ("asked", Style::Plain, &done.requests),
        ("done", Style::Plain, &done.completed),
        ("decided", Style::Yellow, &done.decisions),
        ("learned", Style::Green, &done.fixes),
        ("open", Style::Red, &done.open_failures),
        ("next", Style::Plain, &done.next_steps),
    ];
    for (word, style, entries) in parts {
        for (at, entry) in entries.iter().take(MAX_PART_ENTRIES).enumerate() {
            let word = if at == 0 { word } else { "" };
            let lead = format!("    {word:<8}  - ");
            let painted = format!("    {}  - ", out.paint(style, &format!("{word:<8}")));
            let told = hang_text(&lead, &flatten_text(entry));
            out.print_text(&told.replacen(&lead, &painted, 1))?;
        }
        if entries.len() > MAX_PART_ENTRIES {
            out.print_text(&format!(
                "{:16}and {} more\n",
                "",
                entries.len() - MAX_PART_ENTRIES
            ))?;
        }
    }
    if !done.files.is_empty() {
        let files: Vec<&str> = done.files.iter().map(String::as_str).collect();
        let files = lines::format_paths(&files, 2 * (lines::line_width() - 16));
        out.print_text(&hang_text("    files       ", &files))?;
    }
    Ok(())
}
