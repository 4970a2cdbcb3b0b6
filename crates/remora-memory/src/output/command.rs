//! Names for commands: what one does in a few words, and what makes two runs
//! the same command. Looks at the command line only.

mod bypass;
mod cover;
mod repair;

pub(crate) use self::bypass::{bypasses_check, drop_privileges};
pub(crate) use self::cover::takes_in;
pub(crate) use self::repair::{
    added_to, can_change_state, drops_option, is_git_form, may_change_state, settings_of,
};
use remora_shell::lenient::{CommandLine, CommandPart, PartJoin};

use super::text;

const MAX_COMMAND_CHARS: usize = 120;
const MAX_KEY_CHARS: usize = 500;

/// What the command does, for a title when its output says nothing. The
/// description that came with the call is used when there is one.
pub fn describe_command(command: &str, description: Option<&str>) -> String {
    // The agent's own words say what the command was for; the line only says
    // what it was.
    if let Some(options) = description
        .map(text::collapse_whitespace)
        .filter(|d| !d.is_empty())
    {
        return text::truncate_chars(&options, MAX_COMMAND_CHARS);
    }
    let parsed = CommandLine::parse(command);
    let parts: Vec<&CommandPart> = parsed.working_parts().collect();
    // Of a line that only echoes around the work, the work is the title.
    let main = parts
        .iter()
        .find(|p| {
            !(matches!(p.program(), "echo" | "printf" | "sleep" | "mkdir") && p.into.is_none())
        })
        .or(parts.first());
    match main {
        Some(part) => text::truncate_chars(&describe_part(part), MAX_COMMAND_CHARS),
        None => match parsed.parts.iter().find(|p| p.program() == "cd") {
            Some(part) => text::truncate_chars(
                &format!(
                    "Went to {}",
                    part.arguments().next().unwrap_or("the home folder")
                ),
                MAX_COMMAND_CHARS,
            ),
            None => match text::collapse_whitespace(command) {
                line if line.is_empty() => "Ran an empty command".to_owned(),
                line => format!("Ran `{}`", text::truncate_chars(&line, 80)),
            },
        },
    }
}

fn describe_part(part: &CommandPart) -> String {
    let first = part.arguments().next();
    let last = part.arguments().last();
    let all = || join_names(part.arguments());
    if let Some(into) = &part.into
        && matches!(part.program(), "cat" | "echo" | "printf" | "tee" | "")
    {
        return format!("Wrote {into}");
    }
    match part.program() {
        "ls" | "tree" | "exa" | "eza" | "ll" => format!("Listed {}", first.unwrap_or("the folder")),
        "cat" | "bat" | "less" | "more" | "nl" | "xxd" | "file" | "stat" if first.is_some() => {
            format!("Read {}", all())
        }
        "head" | "tail" => match part.arguments().find(|a| a.parse::<u32>().is_err()) {
            Some(file) => format!("Read {file}"),
            None => describe_run(part),
        },
        "sed" => describe_sed(part),
        "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" => describe_search(part),
        "find" | "fd" | "fdfind" => describe_find(part),
        "curl" | "wget" | "http" | "https" | "xh" => {
            match part.words.iter().skip(1).find(|w| is_url(w)) {
                Some(url) => format!("Fetched {}", bare_url(url)),
                None => describe_run(part),
            }
        }
        "rm" | "rmdir" | "unlink" | "trash" if first.is_some() => format!("Removed {}", all()),
        "mkdir" if first.is_some() => format!("Made folder {}", all()),
        "touch" if first.is_some() => format!("Touched {}", all()),
        "mv" => describe_pair(part, "Moved", "to"),
        "cp" | "rsync" | "scp" | "install" => describe_pair(part, "Copied", "to"),
        "ln" => describe_pair(part, "Linked", "as"),
        "diff" | "cmp" | "colordiff" => describe_pair(part, "Compared", "with"),
        "chmod" | "chown" if last.is_some() && part.arguments().count() > 1 => {
            format!(
                "Changed the mode of {}",
                join_names(part.arguments().skip(1))
            )
        }
        "wc" if first.is_some() => format!("Counted lines of {}", all()),
        "pwd" => "Asked for the current folder".to_owned(),
        "ps" | "pgrep" | "top" => "Listed processes".to_owned(),
        "kill" | "pkill" | "killall" => format!("Ended process {}", first.unwrap_or_default()),
        "which" | "type" | "whereis" => {
            format!("Looked for the program {}", first.unwrap_or_default())
        }
        "sleep" => format!("Waited {} s", first.unwrap_or_default()),
        "jq" | "yq" => match part.arguments().nth(1) {
            Some(file) => format!("Read {file} with {}", part.program()),
            None => describe_run(part),
        },
        "python" | "python3" | "node" | "ruby" | "perl" | "php" | "deno" | "bun" => {
            describe_script(part)
        }
        "ssh" => match (first, part.arguments().nth(1)) {
            (Some(host), Some(_)) => {
                let shown = text::collapse_whitespace(
                    &part.arguments().skip(1).collect::<Vec<_>>().join(" "),
                );
                format!("Ran `{}` on {host}", text::truncate_chars(&shown, 70))
            }
            (Some(host), None) => format!("Connected to {host}"),
            _ => describe_run(part),
        },
        "echo" | "printf" => "Printed a text".to_owned(),
        _ => describe_run(part),
    }
}

fn describe_run(part: &CommandPart) -> String {
    let mut line = part.program().to_owned();
    for word in &part.words[1.min(part.words.len())..] {
        line.push(' ');
        if is_url(word) {
            line.push_str(&bare_url(word));
        } else {
            line.push_str(&text::collapse_whitespace(word));
        }
        if line.len() > 200 {
            break;
        }
    }
    format!("Ran `{}`", text::truncate_chars(&line, 80))
}

fn join_names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    match names[..] {
        [] => String::new(),
        [one] => one.to_owned(),
        [one, two] => format!("{one} and {two}"),
        [one, two, ..] => format!("{one}, {two} and {} more", names.len() - 2),
    }
}

fn describe_pair(part: &CommandPart, verb: &str, to: &str) -> String {
    let names: Vec<&str> = part.arguments().collect();
    match names.split_last() {
        Some((target, sources)) if !sources.is_empty() => format!(
            "{verb} {} {to} {target}",
            join_names(sources.iter().copied())
        ),
        _ => describe_run(part),
    }
}

fn describe_sed(part: &CommandPart) -> String {
    let in_place = part
        .words
        .iter()
        .any(|w| w.starts_with("-i") || w == "--in-place");
    let scripted = part.words.iter().any(|w| w == "-e" || w == "-f");
    match part
        .arguments()
        .nth(1)
        .or_else(|| scripted.then(|| part.arguments().last()).flatten())
    {
        Some(file) if in_place => format!("Edited {file} with sed"),
        Some(file) => format!("Read {file}"),
        None => describe_run(part),
    }
}

/// Options of searching programs whose value is the next word.
const VALUE_OPTIONS: &[&str] = &[
    "-A",
    "-B",
    "-C",
    "-m",
    "-g",
    "-t",
    "-T",
    "--glob",
    "--type",
    "--include",
    "--exclude",
    "--exclude-dir",
    "--context",
    "--max-count",
    "-f",
    "--iglob",
];

fn describe_search(part: &CommandPart) -> String {
    let mut pattern: Option<&str> = None;
    let mut places = Vec::new();
    let mut words = part.words.iter().skip(1).map(String::as_str);
    while let Some(word) = words.next() {
        if word == "-e" || word == "--regexp" {
            pattern = pattern.or(words.next());
        } else if VALUE_OPTIONS.contains(&word) {
            words.next();
        } else if word.starts_with('-') && word.len() > 1 {
        } else if pattern.is_none() {
            pattern = Some(word);
        } else {
            places.push(word);
        }
    }
    match pattern {
        Some(pattern) if part.words.iter().any(|w| w == "--files") => {
            format!("Listed files in {pattern}")
        }
        Some(pattern) => {
            let shown = format!(
                "Searched for `{}`",
                text::truncate_chars(&text::collapse_whitespace(pattern), 60)
            );
            match join_names(places.into_iter()) {
                places if places.is_empty() || places == "." => shown,
                places => format!("{shown} in {places}"),
            }
        }
        None => describe_run(part),
    }
}

fn describe_find(part: &CommandPart) -> String {
    let named = part
        .words
        .windows(2)
        .find(|w| {
            matches!(
                w[0].as_str(),
                "-name" | "-iname" | "-path" | "-regex" | "-ipath"
            )
        })
        .map(|w| w[1].as_str());
    let words: Vec<&str> = part.words.iter().skip(1).map(String::as_str).collect();
    let (pattern, place) = if part.program() == "find" {
        (
            named,
            words
                .iter()
                .find(|w| !w.starts_with('-'))
                .copied()
                .filter(|w| Some(*w) != named),
        )
    } else {
        let mut plain = words
            .iter()
            .enumerate()
            .filter(|(at, w)| {
                let value = *at > 0 && matches!(words[at - 1], "-e" | "-t" | "-E" | "-d");
                !value && !w.starts_with('-')
            })
            .map(|(_, w)| *w);
        (plain.next(), plain.next())
    };
    let place = place
        .filter(|p| *p != ".")
        .map(|p| format!(" in {p}"))
        .unwrap_or_default();
    match pattern {
        Some(pattern) => format!(
            "Looked for files `{}`{place}",
            text::truncate_chars(pattern, 60)
        ),
        None => format!("Looked for files{place}"),
    }
}

fn describe_script(part: &CommandPart) -> String {
    let language = match part.program() {
        "python" | "python3" => "Python",
        "node" | "deno" | "bun" => "JavaScript",
        "ruby" => "Ruby",
        "perl" => "Perl",
        _ => "PHP",
    };
    let inline = part.words.iter().skip(1).any(|w| {
        matches!(
            w.as_str(),
            "-c" | "-e" | "--eval" | "-p" | "-pe" | "-ne" | "-r"
        )
    });
    if part.fed || inline || part.arguments().next() == Some("-") {
        return format!("Ran a {language} snippet");
    }
    describe_run(part)
}

fn is_url(word: &str) -> bool {
    word.split_once("://").is_some_and(|(scheme, rest)| {
        !rest.is_empty()
            && !scheme.is_empty()
            && scheme
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'+')
    })
}

/// Scheme, host and path: no credentials, no query.
fn bare_url(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let rest = &rest[..rest.find(['?', '#']).unwrap_or(rest.len())];
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit('@').next().unwrap_or(host);
    format!("{scheme}://{host}{}", path.trim_end_matches('/'))
}

/// Options that change how much is said, not what is done.
const VERBOSITY_OPTIONS: &[&str] = &[
    "--nocapture",
    "--no-capture",
    "--show-output",
    "--verbose",
    "--quiet",
    "--silent",
    "--color",
    "--colors",
    "--no-color",
    "--no-colors",
    "--no-progress",
    "--no-fail-fast",
    "--no-header",
    "--no-summary",
];
/// Short forms, only where they mean the same.
const SHORT_VERBOSITY_OPTIONS: &[&str] = &["-v", "-vv", "-vvv", "-q", "-qq", "-s"];
const RUNNER_PROGRAMS: &[&str] = &[
    "cargo", "pytest", "python", "python3", "go", "npm", "pnpm", "yarn", "bun", "npx", "uv",
    "poetry", "mvn", "gradle", "gradlew", "ruff", "mypy", "tox", "nox", "dotnet",
];

/// What makes two runs the same command, however they were called, cut and
/// coloured. Fixes are found and recalled by it.
pub fn same_command_key(command: &str) -> String {
    let parsed = CommandLine::parse(command);
    // The key must survive `cd`, pipes into `tail` and an echo of the exit
    // code: agents add them at will.
    let mut parts: Vec<&CommandPart> = parsed.working_parts().filter(|p| !is_aside(p)).collect();
    if parts.is_empty() {
        parts = parsed.working_parts().collect();
    }
    if parts.is_empty() {
        parts = parsed.parts.iter().collect();
    }
    let mut key = String::new();
    for part in parts {
        if !key.is_empty() {
            key.push_str(if part.join == PartJoin::Pipe {
                " | "
            } else {
                " && "
            });
        }
        key.push_str(&format_part_key(part));
        // Bytes, as a rough bound before the exact cut in characters.
        if key.len() > MAX_KEY_CHARS * 4 {
            break;
        }
    }
    text::truncate_chars(&key, MAX_KEY_CHARS)
}

/// Programs that only show what is there.
const LOOKUP_PROGRAMS: &[&str] = &[
    "cat", "bat", "less", "more", "nl", "head", "tail", "ls", "tree", "file", "stat", "pwd",
    "which", "type", "wc", "grep", "egrep", "rg", "find", "fd", "sed", "echo", "printf", "ps",
];

/// Whether the command with this key changes and checks nothing.
pub(crate) fn only_looks(key: &str) -> bool {
    let program = |part: &str| part.split(' ').next().unwrap_or_default().to_owned();
    split_key_parts(key)
        .all(|part| LOOKUP_PROGRAMS.contains(&program(part).as_str()) && !part.contains(" > "))
}

fn split_key_parts(key: &str) -> impl Iterator<Item = &str> {
    key.split(" && ").flat_map(|part| part.split(" | "))
}

/// `echo "exit: $?"` and the like around the work.
fn is_aside(part: &CommandPart) -> bool {
    matches!(part.program(), "echo" | "printf" | "sleep" | "exit") && part.into.is_none()
}

fn format_part_key(part: &CommandPart) -> String {
    let runner = RUNNER_PROGRAMS.contains(&part.program());
    let mut words: Vec<String> = Vec::with_capacity(part.words.len());
    let mut options = part.words.iter().skip(1).peekable();
    let mut program = part.program().to_owned();
    // `python -m pytest` is pytest.
    if matches!(program.as_str(), "python" | "python3")
        && options.peek().is_some_and(|w| *w == "-m")
    {
        options.next();
        if let Some(module) = options.next() {
            program.clone_from(module);
        }
    }
    while let Some(word) = options.next() {
        let name = word.split('=').next().unwrap_or(word);
        if VERBOSITY_OPTIONS.contains(&name) {
            // `--color always` has its value behind it.
            if name == "--color"
                && !word.contains('=')
                && options.peek().is_some_and(|w| {
                    matches!(w.as_str(), "always" | "never" | "auto" | "yes" | "no")
                })
            {
                options.next();
            }
        } else if matches!(name, "--tb" | "--test-threads") {
            // How tests are shown or scheduled, not which of them run.
            if !word.contains('=') {
                options.next();
            }
        } else if !(runner && SHORT_VERBOSITY_OPTIONS.contains(&name)) {
            words.push(quote_word(word));
        }
    }
    if words.last().is_some_and(|w| w == "--") {
        words.pop();
    }
    let mut said = program;
    for word in words {
        said.push(' ');
        said.push_str(&word);
    }
    if let Some(into) = &part.into
        // Of these the file is what the command is about; elsewhere a
        // redirection only keeps the output.
        && matches!(part.program(), "echo" | "printf" | "cat" | "")
    {
        said.push_str(" > ");
        said.push_str(into);
    }
    said.trim().to_owned()
}

fn quote_word(word: &str) -> String {
    let squeezed = text::collapse_whitespace(word);
    if squeezed.is_empty() || squeezed.contains([' ', '|', '&', ';']) {
        format!("'{squeezed}'")
    } else {
        squeezed
    }
}
