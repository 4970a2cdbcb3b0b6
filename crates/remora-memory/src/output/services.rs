//! Tools that change what runs elsewhere: terraform, kubectl, and the clients
//! of databases. They stop at one error, and piped through another program they
//! exit with 0.

use super::draft::{CommandDraft, CommandOutput};
use super::{CommandOutcome, Problem, text};

/// terraform and tofu: plan, apply and what they refuse.
pub(super) fn read_terraform(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let mut draft = CommandDraft::new("terraform");
    let bare = |line: &str| line.trim_start_matches(['│', '|', ' ']).trim().to_owned();
    let is_boxed = |line: &&str| line.starts_with('│') || line.starts_with("Error: ");
    let first = doc
        .lines
        .iter()
        .position(|line| is_boxed(line) && bare(line).starts_with("Error: "));
    if let Some(at) = first {
        let lines: Vec<String> = doc.lines[at..].iter().map(|line| bare(line)).collect();
        let end = doc.lines[at..]
            .iter()
            .position(|line| line.starts_with('╵'));
        let lines = &lines[..end.unwrap_or(lines.len()).min(20)];
        let head = lines[0].trim_start_matches("Error: ");
        let place = lines.iter().find_map(|line| {
            let (file, rest) = line.strip_prefix("on ")?.split_once(" line ")?;
            Some((file.to_owned(), text::parse_number(rest)?.0))
        });
        // "Unsupported argument" says less than the sentence below it.
        let says = |line: &&String| {
            let source = line
                .split_once(':')
                .is_some_and(|(n, _)| n.parse::<u32>().is_ok());
            !line.is_empty() && !line.starts_with("on ") && !line.starts_with("with ") && !source
        };
        let more = lines.iter().skip(1).find(says);
        let message = match more {
            Some(more) if head.split_whitespace().count() <= 6 => format!("{head}: {more}"),
            _ => head.to_owned(),
        };
        let mut problem = Problem::new(message);
        if let Some((file, line)) = &place {
            problem = problem.with_location(file, *line);
        }
        draft.verdict = Some(CommandOutcome::Failed);
        let at_place = problem
            .format_location()
            .map_or_else(String::new, |place| format!(" at {place}"));
        draft.title = format!("terraform failed{at_place}: {}", problem.message);
        draft.add_fact(problem.to_text());
        draft.add_problem(at, problem);
        return Some(draft);
    }
    let reply = doc
        .lines
        .iter()
        .rev()
        .map(|line| line.trim())
        .find(|line| {
            [
                "Apply complete!",
                "Destroy complete!",
                "Plan: ",
                "No changes.",
            ]
            .iter()
            .any(|start| line.starts_with(start))
        })?;
    draft.verdict = Some(CommandOutcome::Passed);
    let (verb, counts) = match reply {
        reply if reply.starts_with("No changes.") => ("plan", "no changes"),
        reply => match reply.split_once(": ") {
            Some(("Plan", counts)) => ("plan", counts),
            Some((head, counts)) if head.starts_with("Apply") => ("apply", counts),
            Some((_, counts)) => ("destroy", counts),
            None => return None,
        },
    };
    draft.title = format!("terraform {verb}: {}", counts.trim_end_matches('.'));
    Some(draft)
}

/// kubectl: what the server or the client refuses, and what was applied.
pub(super) fn read_kubectl(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    const ERROR_STARTS: &[&str] = &[
        "error: ",
        "Error from server",
        "The connection to the server",
        "Unable to connect to the server",
        "Error: ",
        "error validating ",
    ];
    const DONE_ENDINGS: &[&str] = &[
        " created",
        " configured",
        " unchanged",
        " deleted",
        " patched",
        " scaled",
        " restarted",
    ];
    if !doc.command.runs_program(&["kubectl"]) {
        return None;
    }
    let is_error = |line: &&str| {
        ERROR_STARTS.iter().any(|start| line.starts_with(start))
            || line.starts_with("The ") && line.contains(" is invalid: ")
    };
    let mut draft = CommandDraft::new("kubectl");
    if let Some(at) = doc.lines.iter().position(is_error) {
        let line = doc.line_at(at).trim();
        let reply = line.strip_prefix("error: ").unwrap_or(line);
        let reply = reply.strip_prefix("Error from server ").unwrap_or(reply);
        // `(NotFound): pods "api" not found`
        let reply = match reply
            .strip_prefix('(')
            .and_then(|rest| rest.split_once("): "))
        {
            Some((_, rest)) => rest,
            None => reply,
        };
        // A patch is shown before what is wrong with it.
        let reply = match reply.strip_suffix(':') {
            Some(_) => doc
                .lines
                .iter()
                .rev()
                .map(|line| line.trim())
                .find(|line| !line.is_empty())
                .unwrap_or(reply),
            None => reply,
        };
        draft.verdict = Some(CommandOutcome::Failed);
        draft.title = format!("kubectl failed: {reply}");
        let problem = Problem::new(reply);
        draft.add_fact(problem.to_text());
        draft.add_problem(at, problem);
        return Some(draft);
    }
    let done: Vec<&str> = doc
        .lines
        .iter()
        .map(|line| line.trim())
        .filter(|line| DONE_ENDINGS.iter().any(|end| line.ends_with(end)))
        .collect();
    // Some objects may be applied before an error in words that are not known
    // here.
    if done.is_empty() || doc.host == CommandOutcome::Failed {
        return None;
    }
    draft.verdict = Some(CommandOutcome::Passed);
    draft.title = format!("kubectl: {}", done.join(", "));
    Some(draft)
}

/// psql, sqlite3 and mysql: the statement that failed. psql goes on behind an
/// error in a file and ends as if nothing was wrong.
pub(super) fn read_database(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let tool = ["psql", "sqlite3", "mysql", "mariadb"]
        .into_iter()
        .find(|tool| doc.command.runs_program(&[tool]))?;
    let (at, problem) = doc
        .lines
        .iter()
        .enumerate()
        .find_map(|(at, line)| Some((at, statement_error(line.trim())?)))?;
    let mut draft = CommandDraft::new(tool);
    draft.verdict = Some(CommandOutcome::Failed);
    let place = problem
        .format_location()
        .map_or_else(String::new, |place| format!(" at {place}"));
    draft.title = format!("{tool} failed{place}: {}", problem.message);
    draft.add_concept("database");
    draft.add_fact(problem.to_text());
    draft.add_problem(at, problem);
    Some(draft)
}

/// `psql:a.sql:14: ERROR:  no such column`, `ERROR 1054 (42S22) at line 3: ..`,
/// `Runtime error near line 7: ..`.
fn statement_error(line: &str) -> Option<Problem> {
    let place = |problem: Problem, file: &str, number: &str| match number.trim().parse::<u32>() {
        Ok(number) => problem.with_location(file, number),
        Err(_) => problem,
    };
    if let Some((file, rest)) = line
        .strip_prefix("psql:")
        .and_then(|rest| rest.split_once(':'))
        && let Some((number, rest)) = rest.split_once(": ")
        && let Some(message) = parse_severe_line(rest)
    {
        return Some(place(Problem::new(message), file, number));
    }
    if let Some(rest) = line.strip_prefix("psql: error: ") {
        return Some(Problem::new(rest.trim()));
    }
    if let Some(message) = parse_severe_line(line) {
        return Some(Problem::new(message));
    }
    // The number stays with it: other programs print the same line.
    if let Some((head, _)) = line
        .strip_prefix("ERROR ")
        .and_then(|rest| rest.split_once(": "))
        && text::parse_number(head).is_some()
    {
        return Some(Problem::new(line));
    }
    let (head, message) = line.split_once(": ")?;
    let sqlite = head == "Error"
        || ["Parse error", "Runtime error"]
            .iter()
            .any(|start| head.starts_with(start));
    sqlite.then(|| Problem::new(message.trim_start_matches("in prepare, ")))
}

fn parse_severe_line(line: &str) -> Option<&str> {
    let rest = ["ERROR:", "FATAL:", "PANIC:"]
        .iter()
        .find_map(|level| line.strip_prefix(level))?;
    rest.starts_with(' ').then(|| rest.trim())
}
