//! make and just: which target stopped.

use super::draft::{Doc, Draft};
use super::{Outcome, Problem, text};

pub(super) fn read(doc: &Doc<'_>) -> Option<Draft> {
    for (at, line) in doc.lines.iter().enumerate() {
        if let Some(problem) = stopped(line) {
            let tool = if line.starts_with("error: Recipe") {
                "just"
            } else {
                "make"
            };
            let mut draft = Draft::new(tool);
            draft.verdict = Some(Outcome::Failed);
            draft.title = format!("{tool}: {}", problem.message);
            draft.concept("build");
            draft.problem(at, problem);
            return Some(draft);
        }
    }
    let done = doc.lines.iter().find(|l| {
        l.starts_with("make")
            && (l.contains(" is up to date.") || l.contains("Nothing to be done for "))
    })?;
    let mut draft = Draft::new("make");
    draft.verdict = Some(Outcome::Passed);
    draft.title = format!(
        "make: {}",
        done.split_once(": ")
            .map_or("", |(_, m)| m)
            .trim_end_matches('.')
    );
    draft.concept("build");
    Some(draft)
}

fn stopped(line: &str) -> Option<Problem> {
    if let Some(rest) = line.strip_prefix("error: Recipe `") {
        let (name, rest) = rest.split_once('`')?;
        let why = rest.trim_start().trim_end_matches('.');
        return Some(Problem::new(format!("recipe {name} {why}")).subject(name));
    }
    let (head, rest) = line.split_once("*** ")?;
    let head = head.trim_end_matches([' ', ':']);
    if head.split('[').next().unwrap_or(head).ends_with("make") {
        if let Some((target, why)) = rest.strip_prefix('[').and_then(|r| r.split_once("] ")) {
            // `Makefile:12: all`: newer versions say where.
            let (place, name) = match target.rsplit_once(": ") {
                Some((place, name)) => (text::place(place).map(|p| (p.file, p.line)), name),
                None => (None, target),
            };
            let problem = Problem::new(format!("{name} failed ({why})")).subject(name);
            return Some(match place {
                Some((file, line)) => problem.at(file, line),
                None => problem,
            });
        }
        let message = rest
            .trim_end()
            .trim_end_matches("Stop.")
            .trim_end()
            .trim_end_matches('.');
        let mut problem = Problem::new(message);
        problem.subject = text::quoted(message).map(str::to_owned);
        return Some(problem);
    }
    // `Makefile:3: *** missing separator.  Stop.`
    let found = text::place(head)?;
    let message = rest
        .trim_end()
        .strip_suffix("Stop.")?
        .trim_end()
        .trim_end_matches('.');
    Some(Problem::new(message).at(found.file, found.line))
}
