//! What a line of shell names: tasks of the project, its programs and scripts, and
//! their flags. Programs of the system name nothing.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::known;
use super::token::{self, NameToken, TokenMarkup};
use super::{ClaimKind, Confidence};

/// Words that a command may follow.
static PREFIX_COMMANDS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| known::parse_word_set("sudo time env nohup exec command"));
/// Programs that run the file in their first argument.
static INTERPRETERS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    known::parse_word_set(
        ". bash bun deno node perl php python python3 ruby sh source ts-node tsx zsh",
    )
});
/// Verbs of the package managers that are not scripts of the project.
static MANAGER_VERBS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    known::parse_word_set(
        "add audit bin cache ci config create dedupe dlx exec global help i import info init \
     install link list login ls outdated pack patch pm prune publish rebuild remove rm set \
     store uninstall unlink up update upgrade version view why workspace workspaces x",
    )
});
static CARGO_VERBS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    known::parse_word_set(
        "add audit b bench binstall build c check clean clippy criterion d deny doc expand fetch \
     fix flamegraph fmt fuzz generate-lockfile hack help info init insta install llvm-cov \
     locate-project login machete metadata miri mutants new nextest outdated owner package \
     pkgid publish r read-manifest remove report rm run rustc rustdoc search semver-checks t \
     tarpaulin test tree udeps uninstall update vendor verify-project version watch yank \
     zigbuild",
    )
});
/// Flags of the runners that take the next word.
static VALUE_FLAGS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    known::parse_word_set(
        "--cwd --dir --directory --file --filter --justfile --manifest-path --prefix --workspace \
     --working-directory -C -F -f -w",
    )
});

/// The names in a line of shell.
pub(super) fn list_command_names(line: &str) -> Vec<NameToken> {
    let words = split_words(line);
    let mut found = Vec::new();
    for part in words.split(|w| matches!(w.as_str(), "&&" | "||" | ";" | "|" | "&")) {
        collect_names(part, &mut found);
    }
    found
}

/// Tasks whose spelling no sentence has by chance.
pub(super) fn in_prose(words: &[&str]) -> Option<NameToken> {
    let [runner, verb, name, ..] = words else {
        return None;
    };
    let known = matches!(
        (*runner, *verb),
        ("npm" | "pnpm" | "yarn" | "bun", "run") | ("cargo", "xtask")
    );
    let name = name.trim_end_matches([',', ';', ':', '.', '!', '?', ')', '"', '\'']);
    (known && is_task(name) && !name.starts_with('-'))
        .then(|| build_task(&format!("{runner} {verb} {name}")))
}

/// Splits at blanks. Quoted text is data, not a name, and becomes empty; a reader of
/// command lines would hand it on as words.
fn split_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    for c in line.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c.is_whitespace() => words.push(std::mem::take(&mut word)),
            None if c == ';' => {
                words.push(std::mem::take(&mut word));
                words.push(";".to_owned());
            }
            None => word.push(c),
        }
    }
    words.push(word);
    words.retain(|w| !w.is_empty());
    words
}

fn build_task(text: &str) -> NameToken {
    NameToken::new(ClaimKind::Command, text, Confidence::Firm)
}

fn collect_names(words: &[String], found: &mut Vec<NameToken>) {
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    let lead = words
        .iter()
        // Prompts, wrappers and assignments come before the program.
        .take_while(|w| {
            matches!(**w, "$" | ">" | "%" | "(")
                || PREFIX_COMMANDS.contains(*w)
                || w.split_once('=')
                    .is_some_and(|(head, _)| token::is_identifier(head))
        })
        .count();
    words.drain(..lead);
    if let Some(comment) = words.iter().position(|w| w.starts_with('#')) {
        words.truncate(comment);
    }
    let Some((&program, rest)) = words.split_first() else {
        return;
    };
    match program {
        "cd" | "pushd" => found.extend(rest.first().and_then(|p| parse_folder(p))),
        "make" | "gmake" => collect_targets("make", rest, found, usize::MAX),
        "just" => collect_targets("just", rest, found, 1),
        "task" => collect_targets("task", rest, found, 1),
        "poe" => collect_targets("poe", rest, found, 1),
        "npm" | "pnpm" | "yarn" | "bun" => collect_package_scripts(program, rest, found),
        "deno" | "composer"
            if rest
                .first()
                .is_some_and(|v| matches!(*v, "task" | "run" | "run-script")) =>
        {
            let verb = rest[0];
            let name = rest[1..].iter().find(|w| !w.starts_with('-'));
            match name.filter(|n| is_task(n)) {
                Some(name) if !known::is_file_name(name) => {
                    found.push(build_task(&format!("{program} {verb} {name}")));
                }
                _ => collect_script_file(&rest[1..], found),
            }
        }
        "cargo" => collect_cargo_names(rest, found),
        "uv" | "poetry" | "pipenv" | "pdm" | "rye" if rest.first() == Some(&"run") => {
            let inner: Vec<String> = rest[1..].iter().map(|w| (*w).to_owned()).collect();
            match inner.first() {
                Some(first) if known::is_file_name(first) => collect_script_file(&rest[1..], found),
                _ => collect_names(&inner, found),
            }
        }
        "go" if rest.first() == Some(&"run") => collect_script_file(&rest[1..], found),
        _ if INTERPRETERS.contains(program) => collect_script_file(rest, found),
        _ if program.contains('/') || known::is_file_name(program) => {
            collect_script_file(&words, found);
        }
        // A program of the system says nothing about this project.
        _ if known::is_program(program) => {}
        _ => collect_own_program(program, rest, found),
    }
}

/// A program that may be the project's own; only the tree knows.
fn collect_own_program(program: &str, rest: &[&str], found: &mut Vec<NameToken>) {
    if !is_task(program) || !program.starts_with(|c: char| c.is_ascii_lowercase()) {
        return;
    }
    found.push(NameToken::new(
        ClaimKind::Command,
        program,
        Confidence::Loose,
    ));
    collect_flags(program, rest, found);
}

/// A file that is run, and its flags.
fn collect_script_file(words: &[&str], found: &mut Vec<NameToken>) {
    let Some(at) = words.iter().position(|w| !w.starts_with('-')) else {
        return;
    };
    // `python -m module`, `node -e code`: no file.
    if words[..at]
        .iter()
        .any(|w| matches!(*w, "-m" | "-c" | "-e" | "--eval" | "-p"))
    {
        return;
    }
    if let Some(path) = token::parse_path(words[at], TokenMarkup::Code) {
        collect_flags(&path.text, &words[at + 1..], found);
        // The script comes before its flags, in the order of the text.
        let place = found
            .iter()
            .position(|n| n.of.as_deref() == Some(&path.text));
        found.insert(place.unwrap_or(found.len()), path);
    }
}

fn collect_flags(of: &str, words: &[&str], found: &mut Vec<NameToken>) {
    for word in words {
        if let Some(mut flag) = token::parse_flag(word) {
            flag.of = Some(of.to_owned());
            found.push(flag);
        }
    }
}

fn parse_folder(word: &str) -> Option<NameToken> {
    let shaped = token::parse_path(word, TokenMarkup::Code);
    shaped.or_else(|| {
        let plain = word
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
        (plain && word.len() > 1).then(|| NameToken::new(ClaimKind::Path, word, Confidence::Loose))
    })
}

/// The words that are neither flags nor their values nor assignments.
fn list_operands<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let mut list = Vec::new();
    let mut skip = false;
    for word in words {
        if *word == "--" {
            break;
        }
        if std::mem::replace(&mut skip, VALUE_FLAGS.contains(word)) || word.starts_with('-') {
            continue;
        }
        if !word.contains('=') {
            list.push(*word);
        }
    }
    list
}

fn collect_targets(runner: &str, rest: &[&str], found: &mut Vec<NameToken>, most: usize) {
    let all = list_operands(rest);
    let named = all.iter().take(most).take_while(|name| is_task(name));
    found.extend(named.map(|name| build_task(&format!("{runner} {name}"))));
}

fn collect_package_scripts(manager: &str, rest: &[&str], found: &mut Vec<NameToken>) {
    match list_operands(rest).as_slice() {
        ["run" | "run-script", name, ..] if known::is_file_name(name) => {
            collect_script_file(&[name], found);
        }
        ["run" | "run-script", name, ..] if is_task(name) => {
            found.push(build_task(&format!("{manager} run {name}")));
        }
        [name @ ("test" | "start"), ..] if manager != "bun" => {
            found.push(build_task(&format!("{manager} {name}")));
        }
        [name, ..] if manager == "bun" && known::is_file_name(name) => {
            collect_script_file(&[name], found);
        }
        // `npm x` is no script; the others also run scripts and installed programs without
        // `run`.
        [name, ..]
            if manager != "npm"
                && is_task(name)
                && !MANAGER_VERBS.contains(name)
                && *name != "run" =>
        {
            found.push(build_task(&format!("{manager} {name}")));
        }
        _ => {}
    }
}

fn collect_cargo_names(rest: &[&str], found: &mut Vec<NameToken>) {
    let rest: Vec<&str> = rest
        .iter()
        .copied()
        .filter(|w| !w.starts_with('+'))
        .collect();
    let Some((&verb, after)) = rest.split_first() else {
        return;
    };
    if verb == "xtask" {
        match after.first() {
            Some(name) if is_task(name) && !name.starts_with('-') => {
                let text = format!("cargo xtask {name}");
                found.push(build_task(&text));
                collect_flags(&text, &after[1..], found);
            }
            _ => found.push(build_task("cargo xtask")),
        }
        return;
    }
    if !CARGO_VERBS.contains(verb) {
        if is_task(verb) && !verb.starts_with('-') {
            found.push(NameToken::new(
                ClaimKind::Command,
                format!("cargo {verb}"),
                Confidence::Loose,
            ));
        }
        return;
    }
    if matches!(
        verb,
        "add" | "install" | "new" | "init" | "remove" | "search" | "update" | "tree" | "binstall"
    ) {
        return;
    }
    let (own, forwarded) = match after.iter().position(|w| *w == "--") {
        Some(at) => (&after[..at], &after[at + 1..]),
        None => (after, &[][..]),
    };
    for (at, word) in own.iter().enumerate() {
        let (flag, joined) = word
            .split_once('=')
            .map_or((*word, None), |(f, v)| (f, Some(v)));
        let valued = matches!(
            flag,
            "-p" | "--package" | "--bin" | "--example" | "--test" | "--bench"
        );
        let value = joined.or_else(|| own.get(at + 1).copied());
        if let Some(value) = value.filter(|v| valued && is_task(v) && !v.starts_with('-')) {
            found.push(build_task(&format!("cargo {verb} {flag} {value}")));
        }
    }
    if matches!(verb, "run" | "r") {
        collect_flags("cargo run", forwarded, found);
    }
}

/// Whether a word can be the name of a task or program.
fn is_task(word: &str) -> bool {
    word.len() < 80
        && word.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ':' | '.'))
        && !word.ends_with([':', '.'])
}
