//! make and just: which target stopped.

use super::draft::{CommandDraft, CommandOutput};
use super::{CommandOutcome, Problem, text};

pub(super) fn parse_output(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    for (at, line) in doc.lines.iter().enumerate() {
        if let Some(problem) = parse_stop_line(line) {
            let tool = if line.starts_with("error: Recipe") {
                "just"
            } else {
                "make"
            };
            let mut draft = CommandDraft::new(tool);
            draft.verdict = Some(CommandOutcome::Failed);
            draft.title = format!("{tool}: {}", problem.message);
            draft.add_concept("build");
            draft.add_problem(at, problem);
            return Some(draft);
        }
    }
    let done = doc.lines.iter().find(|l| {
        l.starts_with("make")
            && (l.contains(" is up to date.") || l.contains("Nothing to be done for "))
    })?;
    let mut draft = CommandDraft::new("make");
    draft.verdict = Some(CommandOutcome::Passed);
    draft.title = format!(
        "make: {}",
        done.split_once(": ")
            .map_or("", |(_, m)| m)
            .trim_end_matches('.')
    );
    draft.add_concept("build");
    Some(draft)
}

fn parse_stop_line(line: &str) -> Option<Problem> {
    if let Some(rest) = line.strip_prefix("error: Recipe `") {
        let (name, rest) = rest.split_once('`')?;
        let why = rest.trim_start().trim_end_matches('.');
        return Some(Problem::new(format!("recipe {name} {why}")).with_subject(name));
    }
    let (head, rest) = line.split_once("*** ")?;
    let head = head.trim_end_matches([' ', ':']);
    if head.split('[').next().unwrap_or(head).ends_with("make") {
        if let Some((target, why)) = rest.strip_prefix('[').and_then(|r| r.split_once("] ")) {
            // `Makefile:12: all`: newer versions say where.
            let (place, name) = match target.rsplit_once(": ") {
                Some((place, name)) => {
                    (text::parse_location(place).map(|p| (p.file, p.line)), name)
                }
                None => (None, target),
            };
            let problem = Problem::new(format!("{name} failed ({why})")).with_subject(name);
            return Some(match place {
                Some((file, line)) => problem.with_location(file, line),
                None => problem,
            });
        }
        let message = rest
            .trim_end()
            .trim_end_matches("Stop.")
            .trim_end()
            .trim_end_matches('.');
        let mut problem = Problem::new(message);
        problem.subject = text::find_quoted(message).map(str::to_owned);
        return Some(problem);
    }
    // `Makefile:3: *** missing separator.  Stop.`
    let found = text::parse_location(head)?;
    let message = rest
        .trim_end()
        .strip_suffix("Stop.")?
        .trim_end()
        .trim_end_matches('.');
    Some(Problem::new(message).with_location(found.file, found.line))
}
