//! What a handler runs: paths, quoting, programs, secrets.

use std::path::{Path, PathBuf};

use remora_hooks::names::{PLUGIN_OPTION_PLACEHOLDER, PLUGIN_OPTION_VAR_PREFIX};
use remora_hooks::{HandlerConfig, HandlerKind, LayerSource, Shell};
use serde_json::Value;

use super::script::ScriptCache;
use super::words::{Command, Part, Quoting, Word, read_commands};
use super::{FileReport, Surroundings};
use crate::document::KeyPath;
use crate::names::{PLUGIN_DATA_VARIABLE, PLUGIN_ROOT_VARIABLE, PROJECT_DIR_VARIABLE};

/// Programs whose first argument is a script.
const INTERPRETERS: &[&str] = &[
    "ash", "bash", "bun", "dash", "deno", "ksh", "node", "perl", "php", "python", "python3",
    "ruby", "sh", "ts-node", "tsx", "uv", "zsh", ".", "source",
];
/// Words between an interpreter and its script.
const INTERPRETER_VERBS: &[&str] = &["run"];
/// Flags that pass code in place of a script.
const CODE_FLAGS: &[&str] = &["-c", "-e", "-m", "-p", "--eval", "--print", "-n", "-r"];
/// What a shell runs itself.
const BUILTINS: &[&str] = &[
    ":", ".", "[", "[[", "alias", "bg", "break", "case", "cd", "command", "continue", "echo",
    "esac", "eval", "exec", "exit", "export", "false", "for", "function", "getopts", "hash", "in",
    "jobs", "kill", "local", "printf", "pwd", "read", "readonly", "return", "select", "set",
    "shift", "source", "test", "times", "trap", "true", "type", "ulimit", "umask", "unset", "wait",
];
/// Endings of scripts.
const SCRIPT_ENDINGS: &[&str] = &[
    "bash", "cjs", "js", "mjs", "php", "pl", "py", "rb", "sh", "ts", "zsh",
];
/// Folders whose names a user may have chosen with a blank.
const FOLDER_VARIABLES: &[&str] = &[
    PROJECT_DIR_VARIABLE,
    PLUGIN_ROOT_VARIABLE,
    PLUGIN_DATA_VARIABLE,
    "HOME",
    "PWD",
];

/// A script that a command names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NamedScript {
    pub(super) path: PathBuf,
    relative: bool,
    /// Run by itself rather than read by an interpreter.
    direct: bool,
}

/// The scripts that a handler runs, as far as its text says.
pub(super) fn find_scripts(
    config: &HandlerConfig,
    plugin_root: Option<&Path>,
    around: &Surroundings<'_>,
) -> Vec<NamedScript> {
    let HandlerKind::Command {
        command,
        args,
        shell: Shell::Posix,
        ..
    } = &config.kind
    else {
        return Vec::new();
    };
    let commands = match args {
        None => read_commands(command),
        Some(args) => vec![exec_words(command, args)],
    };
    let resolver = Resolver {
        plugin_root,
        around,
    };
    commands
        .iter()
        .filter_map(|words| resolver.named_script(words))
        .collect()
}

/// The paths of the scripts that a handler runs, as far as its text says.
pub fn list_scripts(
    config: &HandlerConfig,
    plugin_root: Option<&Path>,
    around: &Surroundings<'_>,
) -> Vec<PathBuf> {
    let named = find_scripts(config, plugin_root, around);
    named.into_iter().map(|script| script.path).collect()
}

/// The words of the exec form: only `${NAME}` is filled in, whatever stands
/// around it.
fn exec_words(command: &str, args: &[String]) -> Command {
    let word = |text: &String| {
        let mut parts = Vec::new();
        let mut rest = text.as_str();
        while let Some((before, name, after)) = split_placeholder(rest) {
            parts.push(Part::Text(before.to_owned(), Quoting::Single));
            parts.push(Part::Variable(name.to_owned(), Quoting::Double));
            rest = after;
        }
        parts.push(Part::Text(rest.to_owned(), Quoting::Single));
        Word { parts }
    };
    std::iter::once(&command.to_owned())
        .chain(args)
        .map(word)
        .collect()
}

fn split_placeholder(text: &str) -> Option<(&str, &str, &str)> {
    let at = text.find("${")?;
    let (name, after) = text[at + 2..].split_once('}')?;
    Some((&text[..at], name, after))
}

struct Resolver<'a> {
    plugin_root: Option<&'a Path>,
    around: &'a Surroundings<'a>,
}

impl Resolver<'_> {
    fn named_script(&self, words: &[Word]) -> Option<NamedScript> {
        let (first, rest) = words.split_first()?;
        if let Some(program) = first.as_text() {
            let name = program.rsplit('/').next().unwrap_or_default();
            if name == "env" {
                return self.named_script(rest);
            }
            if INTERPRETERS.contains(&name) {
                let script = rest
                    .iter()
                    .map(|word| (word, word.as_text().unwrap_or_default()))
                    .take_while(|(_, text)| !CODE_FLAGS.contains(&text.as_str()))
                    .find(|(_, text)| {
                        !text.starts_with('-') && !INTERPRETER_VERBS.contains(&text.as_str())
                    })?;
                return self.resolve(script.0, false);
            }
        }
        self.resolve(first, true)
    }

    /// The path that a word names, if it names one.
    fn resolve(&self, word: &Word, direct: bool) -> Option<NamedScript> {
        let mut text = String::new();
        for (at, part) in word.parts.iter().enumerate() {
            match part {
                Part::Text(piece, Quoting::None) if at == 0 && piece.starts_with("~/") => {
                    text.push_str(self.around.home.to_str()?);
                    text.push_str(&piece[1..]);
                }
                Part::Text(piece, Quoting::None) if piece.contains(['*', '?', '[', '{']) => {
                    return None;
                }
                Part::Text(piece, _) => text.push_str(piece),
                Part::Variable(name, _) => {
                    let folder = match name.as_str() {
                        PROJECT_DIR_VARIABLE => self.around.project,
                        PLUGIN_ROOT_VARIABLE => self.plugin_root?,
                        "HOME" => self.around.home,
                        _ => return None,
                    };
                    text.push_str(folder.to_str()?);
                }
                Part::Unknown => return None,
            }
        }
        let ending = Path::new(&text).extension().and_then(|e| e.to_str());
        let script = ending.is_some_and(|e| SCRIPT_ENDINGS.contains(&e));
        // A variable that nothing fills in is remarked upon elsewhere.
        if text.is_empty() || text.starts_with('$') || !(text.contains('/') || script && !direct) {
            return None;
        }
        let path = Path::new(&text);
        Some(NamedScript {
            relative: path.is_relative(),
            path: self.around.project.join(path),
            direct,
        })
    }
}

/// What is wrong with what a handler runs.
pub(super) fn check_command(
    report: &mut FileReport<'_>,
    entry: &Value,
    config: &HandlerConfig,
    path: &KeyPath,
    around: &Surroundings<'_>,
    scripts: &mut ScriptCache,
) {
    check_secrets(report, entry, path, around);
    check_options(report, entry, config, path);
    let HandlerKind::Command {
        command,
        args,
        shell: Shell::Posix,
        ..
    } = &config.kind
    else {
        return;
    };
    let at = path.key("command");
    let plugin_root = report.file.plugin_root.clone();
    if report.file.source != LayerSource::Plugin
        && let Some(name) = names_plugin_folder(command, args.as_deref())
    {
        report.add(
            "plugin-variable",
            &at,
            format!("`${{{name}}}` is filled in for plugins only; the client does not run this handler at all"),
            format!("use ${PROJECT_DIR_VARIABLE}"),
        );
        return;
    }
    match args {
        None => check_words(report, &read_commands(command), &at),
        Some(args) => check_exec_form(report, command, args, path),
    }
    for script in find_scripts(config, plugin_root.as_deref(), around) {
        check_script(report, &script, &at, around, scripts);
    }
    check_programs(report, command, args.is_some(), &at, around);
}

fn check_secrets(
    report: &mut FileReport<'_>,
    entry: &Value,
    path: &KeyPath,
    around: &Surroundings<'_>,
) {
    let mut texts: Vec<(KeyPath, &str)> = Vec::new();
    collect_texts(entry, path, &mut texts);
    for (path, text) in texts {
        if let Some(kind) = (around.find_secret)(text) {
            report.add(
                "secret-in-command",
                &path,
                format!("a secret ({kind}) stands in settings: it is in the process list, in transcripts and in reports"),
                "read it in the hook from a file or from the environment",
            );
        }
    }
}

/// The options of a plugin are filled in where it runs a program without a shell,
/// and nowhere else.
fn check_options(
    report: &mut FileReport<'_>,
    entry: &Value,
    config: &HandlerConfig,
    path: &KeyPath,
) {
    let is_plugin = report.file.source == LayerSource::Plugin;
    let mut texts: Vec<(KeyPath, &str)> = Vec::new();
    collect_texts(entry, path, &mut texts);
    for (at, _) in texts
        .iter()
        .filter(|(_, text)| text.contains(PLUGIN_OPTION_PLACEHOLDER))
    {
        let shown = format!("`{PLUGIN_OPTION_PLACEHOLDER}…}}`");
        let advice = format!(
            "list `args`, which need no shell, or use the variable {PLUGIN_OPTION_VAR_PREFIX}KEY"
        );
        match &config.kind {
            HandlerKind::Command { args: Some(_), .. } if is_plugin => {}
            HandlerKind::Command { .. } if is_plugin => report.add(
                "unexpanded-variable",
                at,
                format!("{shown} is filled in only where `args` are; the client does not run this handler at all"),
                advice,
            ),
            HandlerKind::Command { .. } => report.add(
                "unexpanded-variable",
                at,
                format!("{shown} is filled in for plugins only; here it stays as it is written"),
                "write the value itself, or use a variable of your own".to_owned(),
            ),
            _ => report.add(
                "unexpanded-variable",
                at,
                format!("{shown} is filled in for commands only; here it stays as it is written"),
                "use a command for what needs the option".to_owned(),
            ),
        }
    }
}

fn collect_texts<'a>(value: &'a Value, path: &KeyPath, texts: &mut Vec<(KeyPath, &'a str)>) {
    match value {
        Value::String(text) => texts.push((path.clone(), text)),
        Value::Array(list) => {
            for (at, value) in list.iter().enumerate() {
                collect_texts(value, &path.index(at), texts);
            }
        }
        Value::Object(map) => {
            for (key, value) in map {
                collect_texts(value, &path.key(key), texts);
            }
        }
        _ => {}
    }
}

fn names_plugin_folder(command: &str, args: Option<&[String]>) -> Option<&'static str> {
    let names = [PLUGIN_ROOT_VARIABLE, PLUGIN_DATA_VARIABLE];
    names.into_iter().find(|name| {
        let written = format!("${{{name}}}");
        std::iter::once(command)
            .chain(args.unwrap_or_default().iter().map(String::as_str))
            .any(|text| text.contains(&written))
    })
}

/// Variables: where they split, and where nothing fills them in.
fn check_words(report: &mut FileReport<'_>, commands: &[Command], at: &KeyPath) {
    let mut reported: Vec<&str> = Vec::new();
    for part in commands.iter().flatten().flat_map(|word| &word.parts) {
        match part {
            Part::Variable(name, Quoting::None)
                if FOLDER_VARIABLES.contains(&name.as_str())
                    && !reported.contains(&name.as_str()) =>
            {
                reported.push(name);
                report.add(
                    "unquoted-variable",
                    at,
                    format!("`${name}` is not quoted: a blank in the folder's name cuts the command in two"),
                    format!("write \"${name}\"/… with double quotes, in JSON \\\"${name}\\\"/…"),
                );
            }
            Part::Text(text, Quoting::Single) => {
                let named = FOLDER_VARIABLES
                    .iter()
                    .find(|name| begins_with_variable(text, name));
                if let Some(name) = named {
                    report.add(
                        "unexpanded-variable",
                        at,
                        format!("`${name}` stands in single quotes, where nothing fills it in"),
                        "use double quotes",
                    );
                }
            }
            _ => {}
        }
    }
}

fn begins_with_variable(text: &str, name: &str) -> bool {
    let rest = text
        .strip_prefix('$')
        .map(|r| r.strip_prefix('{').unwrap_or(r));
    rest.and_then(|r| r.strip_prefix(name))
        .is_some_and(|r| r.starts_with(['/', '}']))
}

/// In the exec form no shell fills anything in.
fn check_exec_form(report: &mut FileReport<'_>, command: &str, args: &[String], path: &KeyPath) {
    let texts = std::iter::once((path.key("command"), command)).chain(
        args.iter()
            .enumerate()
            .map(|(at, arg)| (path.key("args").index(at), arg.as_str())),
    );
    for (path, text) in texts {
        let shown = if text.starts_with("~/") {
            Some("~")
        } else {
            FOLDER_VARIABLES.iter().copied().find(|name| {
                let bare = format!("${name}");
                let braced = format!("${{{name}}}");
                let filled_in = [
                    PROJECT_DIR_VARIABLE,
                    PLUGIN_ROOT_VARIABLE,
                    PLUGIN_DATA_VARIABLE,
                ];
                text.contains(&bare) || (text.contains(&braced) && !filled_in.contains(name))
            })
        };
        if let Some(name) = shown {
            report.add(
                "unexpanded-variable",
                &path,
                format!("with `args` no shell runs, so `{name}` stays as it is written"),
                format!(
                    "write ${{{PROJECT_DIR_VARIABLE}}}, which is filled in, or leave `args` out"
                ),
            );
        }
    }
}

fn check_script(
    report: &mut FileReport<'_>,
    script: &NamedScript,
    at: &KeyPath,
    around: &Surroundings<'_>,
    scripts: &mut ScriptCache,
) {
    let shown = script.path.strip_prefix(around.project);
    let shown = shown.unwrap_or(&script.path).display().to_string();
    if script.relative {
        report.add(
            "relative-script",
            at,
            format!(
                "`{shown}` is looked for in the session's current directory, which follows `cd`"
            ),
            format!("write \"${PROJECT_DIR_VARIABLE}\"/{shown}"),
        );
    }
    let state = scripts.look_at(&script.path);
    if !state.exists {
        report.add(
            "script-missing",
            at,
            format!("`{shown}` does not exist; the hook fails, and the agent goes on without it"),
            "correct the path or write the script",
        );
    } else if script.direct && !state.executable {
        report.add(
            "script-not-executable",
            at,
            format!(
                "`{shown}` is not executable; the hook fails, and the agent goes on without it"
            ),
            format!("chmod +x {shown}"),
        );
    }
}

fn check_programs(
    report: &mut FileReport<'_>,
    command: &str,
    exec_form: bool,
    at: &KeyPath,
    around: &Surroundings<'_>,
) {
    let Some(search_path) = around.search_path else {
        return;
    };
    // Arithmetic and patterns hold words that are no programs.
    if command.contains("((") || command.contains("=~") {
        return;
    }
    let folders: Vec<PathBuf> = std::env::split_paths(search_path).collect();
    let is_there = |name: &str| folders.iter().any(|folder| folder.join(name).is_file());
    let commands = if exec_form {
        vec![exec_words(command, &[])]
    } else {
        read_commands(command)
    };
    let mut missing: Vec<String> = Vec::new();
    for name in commands.iter().filter_map(|words| words.first()?.as_text()) {
        let plain = |c: char| c.is_alphanumeric() || "_.+-".contains(c);
        let looked_up = !name.is_empty() && name.chars().all(plain);
        let builtin = !exec_form && BUILTINS.contains(&name.as_str());
        // What follows a keyword such as `case` or a function's name is no program.
        let defined = command.contains(&format!("{name}()"));
        if looked_up && !builtin && !defined && !missing.contains(&name) && !is_there(&name) {
            missing.push(name);
        }
    }
    for name in missing {
        report.add(
            "program-missing",
            at,
            format!(
                "`{name}` is not found in PATH; the hook fails, and the agent goes on without it"
            ),
            "install it, or name it with its path",
        );
    }
}
