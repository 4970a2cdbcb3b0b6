//! docker build and compose build, with and without `BuildKit`.

use super::draft::{CommandDraft, CommandOutput};
use super::{CommandOutcome, Problem, text};

pub(super) fn parse_output(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let solve = doc.lines.iter().rposition(|l| {
        l.starts_with("ERROR: failed to solve: ")
            || l.starts_with("failed to solve: ")
            || l.starts_with("target ") && l.contains("failed to solve: ")
    });
    let code = doc
        .lines
        .iter()
        .rposition(|l| l.contains(" returned a non-zero code: "));
    if solve.is_some() || code.is_some() {
        return Some(parse_failure(doc, solve.or(code)?));
    }
    let mut names: Vec<&str> = Vec::new();
    let mut built = false;
    for line in &doc.lines {
        if let Some(at) = line.find("naming to ") {
            let name = line[at + "naming to ".len()..]
                .split(' ')
                .next()
                .unwrap_or_default();
            let name = name.trim_start_matches("docker.io/library/");
            if !name.is_empty() && !names.contains(&name) {
                names.push(name);
            }
        } else if let Some(name) = line.strip_prefix("Successfully tagged ") {
            names.push(name.trim());
        }
        built |= line
            .strip_prefix("Successfully built ")
            .is_some_and(|r| text::is_hash(r.trim()));
    }
    if names.is_empty() && !built {
        return None;
    }
    let mut draft = CommandDraft::new("docker build");
    draft.verdict = Some(CommandOutcome::Passed);
    draft.add_concept("container");
    draft.title = match names.join(", ") {
        names if names.is_empty() => "docker build: image built".to_owned(),
        names => format!("docker build: built {names}"),
    };
    let steps = doc
        .lines
        .iter()
        .filter(|l| l.starts_with('#') && l.ends_with(" CACHED"))
        .count();
    if steps > 0 {
        draft.add_fact(format!("{} from cache", text::format_count(steps, "step")));
    }
    Some(draft)
}

fn parse_failure(doc: &CommandOutput<'_>, at: usize) -> CommandDraft {
    let line = doc.lines[at];
    let said = line
        .split_once("failed to solve: ")
        .map_or(line, |(_, m)| m);
    let command = said
        .split_once("process \"")
        .and_then(|(_, r)| r.split_once("\" did not complete"))
        .map(|(c, _)| c)
        .or_else(|| {
            said.split_once("The command '")
                .and_then(|(_, r)| r.split_once("' returned"))
                .map(|(c, _)| c)
        });
    let command = command.map(|c| c.trim_start_matches("/bin/sh -c "));
    let exit = text::find_labelled_number(said, "exit code: ")
        .or_else(|| text::find_labelled_number(said, "non-zero code: "));
    let message = match (command, exit) {
        (Some(command), Some(exit)) => format!(
            "`{}` ended with exit code {exit}",
            text::truncate_chars(&text::collapse_whitespace(command), 80)
        ),
        _ => said.to_owned(),
    };
    let mut problem = Problem::new(message);
    problem.subject = command.map(text::collapse_whitespace);
    // `Dockerfile:8` is the line above the excerpt that BuildKit shows.
    let place = doc.lines.iter().enumerate().find_map(|(n, l)| {
        let found =
            text::parse_location(l).filter(|p| p.rest.is_empty() && p.file.contains("ockerfile"));
        found.map(|p| (p.file, p.line)).or_else(|| {
            let (file, number) = l.split_once(':')?;
            let line = (file.contains("ockerfile") && doc.line_at(n + 1).starts_with("----"))
                .then(|| number.trim().parse().ok())
                .flatten()?;
            Some((file, line))
        })
    });
    if let Some((file, line)) = place {
        problem = problem.with_location(file, line);
    }
    let mut draft = CommandDraft::new("docker build");
    draft.verdict = Some(CommandOutcome::Failed);
    draft.add_concept("container");
    let where_ = problem
        .format_location()
        .map(|p| format!(" at {p}"))
        .unwrap_or_default();
    draft.title = format!("docker build failed{where_}: {}", problem.message);
    draft.add_fact(problem.to_text());
    // What the step itself printed, above the excerpt.
    if let Some(start) = doc.lines.iter().position(|l| l.starts_with(" > [")) {
        draft.keep_lines(start, start + 10);
        for line in doc
            .lines
            .iter()
            .skip(start + 1)
            .take(40)
            .take_while(|l| !l.starts_with("---"))
        {
            let said = line.split_once(' ').map_or(*line, |(time, rest)| {
                if time.parse::<f32>().is_ok() {
                    rest
                } else {
                    line
                }
            });
            if said.contains("rror") || said.contains("not found") {
                draft.add_fact(said);
            }
            if draft.facts.len() >= 5 {
                break;
            }
        }
    }
    // What the step said of it tells more than that it ended.
    if command.is_some()
        && let Some(said) = draft
            .facts
            .get(1..)
            .and_then(|said| said.iter().find(|said| tells_why(said)))
    {
        draft.title = format!("docker build failed{where_}: {said}");
    }
    draft.add_problem(at, problem);
    draft
}

/// Whether a line of a step says what went wrong, not only that or its number.
fn tells_why(said: &str) -> bool {
    let words = said.split_whitespace().count();
    words > 3 && !said.starts_with("npm error code") && !said.starts_with("npm ERR! code")
}
