//! Takes off what a runner writes in front of the lines of the tool it runs:
//! steps and seconds of a container build, services of compose, packages of a
//! workspace, columns and times of a job's log, boxes. What is left is what the
//! tool itself printed, which its reader knows.

use std::borrow::Cow;

/// Prefixes on one line: a job's log of a container build has several.
const MAX_LINE_PREFIXES: usize = 4;

/// The text without the prefixes of runners; borrowed when there are none.
pub(crate) fn strip_runner_prefixes(text: &str) -> Cow<'_, str> {
    let is_job = is_job_log(text);
    if !is_job && !text.lines().any(|line| strip_outer_prefix(line).is_some()) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let mut line = match any_columns(line) {
            Some(rest) if is_job => rest,
            _ => line,
        };
        for _ in 0..MAX_LINE_PREFIXES {
            match strip_outer_prefix(line) {
                Some(rest) => line = rest,
                None => break,
            }
        }
        out.push_str(line);
        out.push('\n');
    }
    Cow::Owned(out)
}

/// Whether the lines have the columns of a job's log, whatever its steps are
/// called: two of three at least.
fn is_job_log(text: &str) -> bool {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let columns = lines().filter(|line| any_columns(line).is_some()).count();
    let same_job = |line: &str| line.split('\t').next().map(str::to_owned);
    let first = lines().next().and_then(same_job);
    // All lines of one job: tables with tabs have other words in their first
    // column.
    columns > 1 && columns * 3 >= lines().count() * 2 && lines().all(|line| same_job(line) == first)
}

/// `job\tstep\ttext`.
fn any_columns(line: &str) -> Option<&str> {
    let (job, rest) = line.split_once('\t')?;
    let (step, rest) = rest.split_once('\t')?;
    (!job.is_empty() && !step.is_empty()).then_some(rest)
}

type PrefixStripper = fn(&str) -> Option<&str>;

/// One row a runner.
const PREFIX_STRIPPERS: &[PrefixStripper] = &[
    job_columns,
    time_stamp,
    strip_clock,
    job_mark,
    build_step,
    compose_service,
    workspace_task,
    strip_bracketed_name,
    box_edge,
    npm_mark,
    maven_mark,
];

/// The line without its outermost prefix.
fn strip_outer_prefix(line: &str) -> Option<&str> {
    PREFIX_STRIPPERS.iter().find_map(|prefix| prefix(line))
}

/// `test (ubuntu-latest)\tRun cargo test\t2026-…Z text`.
fn job_columns(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once('\t')?;
    let (step, rest) = rest.split_once('\t')?;
    let rest = rest.trim_start_matches('\u{feff}');
    time_stamp(rest).or_else(|| step.starts_with("Run ").then_some(rest))
}

/// `2026-05-02T10:11:12.1234567Z text`.
fn time_stamp(line: &str) -> Option<&str> {
    let (stamp, rest) = line.split_once(' ').unwrap_or((line, ""));
    let shape = |at: usize, byte: u8| stamp.as_bytes().get(at) == Some(&byte);
    let is_stamp = stamp.len() >= 20
        && shape(4, b'-')
        && shape(7, b'-')
        && shape(10, b'T')
        && shape(13, b':')
        && stamp
            .bytes()
            .all(|b| b.is_ascii_digit() || b"-:.TZ+".contains(&b));
    is_stamp.then_some(rest)
}

/// `[18:20:31]: ▸ text`, `[18:20:31] text`.
fn strip_clock(line: &str) -> Option<&str> {
    let (time, rest) = line.strip_prefix('[')?.split_once(']')?;
    let mut parts = time.split([':', '.', ',']);
    let is_number = |part: &str| part.len() >= 2 && part.bytes().all(|b| b.is_ascii_digit());
    let is_clock = time.len() >= 8 && time.contains(':') && parts.all(is_number);
    let rest = rest.strip_prefix(':').unwrap_or(rest).strip_prefix(' ')?;
    is_clock.then(|| rest.strip_prefix("▸ ").unwrap_or(rest))
}

/// `##[error]text`, `::error file=a.rs,line=3::text`.
fn job_mark(line: &str) -> Option<&str> {
    if let Some(rest) = line.strip_prefix("##[") {
        return rest.split_once(']').map(|(_, rest)| rest);
    }
    let rest = line.strip_prefix("::error")?;
    rest.split_once("::").map(|(_, rest)| rest)
}

/// `#12 1.204 text`, `#12 ERROR: text`, and `1.204 text` in the excerpt.
fn build_step(line: &str) -> Option<&str> {
    let rest = line.strip_prefix('#')?;
    let (step, rest) = rest.split_once(' ')?;
    if step.is_empty() || !step.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let (seconds, text) = rest.split_once(' ').unwrap_or((rest, ""));
    let is_time = seconds.contains('.') && seconds.parse::<f32>().is_ok();
    Some(if is_time { text } else { rest })
}

/// `api-1  | text`.
fn compose_service(line: &str) -> Option<&str> {
    let (name, text) = line
        .split_once(" | ")
        .or_else(|| line.strip_suffix(" |").map(|name| (name, "")))?;
    let name = name.trim_end();
    let (_, number) = name.rsplit_once(['-', '_'])?;
    let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    (is_number && is_name(name)).then_some(text)
}

/// `apps/web test: text` and `@shop/ui:build: text`.
fn workspace_task(line: &str) -> Option<&str> {
    let (head, text) = line
        .split_once(": ")
        .or_else(|| line.strip_suffix(':').map(|head| (head, "")))?;
    let task = |name: &str| is_name(name) && !name.contains('.');
    if let Some((package, script)) = head.split_once(' ') {
        // A closed list of scripts: `note that: text` has the same form.
        let known = [
            "test",
            "build",
            "lint",
            "dev",
            "typecheck",
            "check",
            "start",
        ];
        let script = script.split(':').next().unwrap_or(script);
        return (is_name(package) && known.contains(&script)).then_some(text);
    }
    let (package, script) = head.rsplit_once(':')?;
    (package.starts_with('@') && package.contains('/') && task(script)).then_some(text)
}

/// `[web] text`, as tools write that run several scripts at once.
fn strip_bracketed_name(line: &str) -> Option<&str> {
    let (name, text) = line.strip_prefix('[')?.split_once("] ")?;
    let is_level = matches!(name, "ksp" | "vite" | "kapt");
    // `[INFO]` is a level, `[RUN_TESTS]` a phase.
    let is_phase = |b: u8| b.is_ascii_lowercase() || b == b'_';
    (is_name(name) && !is_level && name.bytes().any(is_phase)).then_some(text)
}

/// The box that an infrastructure tool draws around its errors.
fn box_edge(line: &str) -> Option<&str> {
    if matches!(line.trim_end(), "╷" | "╵" | "│") {
        return Some("");
    }
    line.strip_prefix("│ ")
}

fn npm_mark(line: &str) -> Option<&str> {
    line.strip_prefix("npm ERR! ")
        .or_else(|| line.strip_prefix("npm error "))
}

fn maven_mark(line: &str) -> Option<&str> {
    line.strip_prefix("[ERROR] ")
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 60
        && name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '@' || c == '.')
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-_./@:".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::strip_runner_prefixes;

    #[test]
    fn runners_leave_what_the_tool_printed() {
        for (line, inner) in [
            ("#12 1.204 npm ERR! code E401", "code E401"),
            ("#12 ERROR: process failed", "ERROR: process failed"),
            ("api-1  | Error: boom", "Error: boom"),
            ("api-1  |", ""),
            ("apps/web test: FAIL src/a.test.ts", "FAIL src/a.test.ts"),
            ("@shop/ui:build: error TS2742: x", "error TS2742: x"),
            ("[web] Error: boom", "Error: boom"),
            ("│ Error: state lock", "Error: state lock"),
            (
                "test (windows-latest)\tRun cargo test\t2026-05-02T10:11:12.1234567Z error: boom",
                "error: boom",
            ),
            ("lint\tRun ruff\ta.py:1:1: F401 x", "a.py:1:1: F401 x"),
            ("##[error]Process completed", "Process completed"),
            ("[18:20:31]: ▸ error: boom", "error: boom"),
            ("[INSTALL_DEPENDENCIES] npm error code E1", "code E1"),
            ("web\tmake test\tboom\nweb\tmake test\tbang", "boom\nbang"),
        ] {
            assert_eq!(
                strip_runner_prefixes(line).trim_end_matches('\n'),
                inner,
                "{line}"
            );
        }
    }

    #[test]
    fn what_a_tool_printed_stays() {
        for line in [
            "FAIL\texample.com/depot/internal/pool\t0.02s",
            "error[E0499]: cannot borrow `x` | y",
            "src/a.rs:3: error: bad row",
            "12 | let a = b;",
            "[INFO] BUILD FAILURE",
            "# example.com/depot/internal/api",
            "TypeError: Cannot read properties",
        ] {
            assert_eq!(strip_runner_prefixes(line), line);
        }
    }
}
