//! What is known about variables while a command line is read: a literal value,
//! "set, but to an unknown value", or nothing.

use std::collections::HashMap;

/// Stands for the output of a command in a rebuilt word, as the client has it.
pub(super) const OUTPUT_PLACEHOLDER: &str = "__CMDSUB_OUTPUT__";
/// Stands for a variable's unknown value, as the client has it.
pub(super) const VARIABLE_PLACEHOLDER: &str = "__TRACKED_VAR__";

/// A value as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShellValue {
    pub(super) text: String,
    /// Contains one of the stand-ins.
    pub(super) open: bool,
}

impl ShellValue {
    pub(super) fn literal(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            open: false,
        }
    }

    pub(super) fn unknown() -> Self {
        Self {
            text: VARIABLE_PLACEHOLDER.to_owned(),
            open: true,
        }
    }
}

/// The variables set so far.
#[derive(Clone, Debug, Default)]
pub(super) struct ShellScope(HashMap<String, ShellValue>);

impl ShellScope {
    pub(super) fn get(&self, name: &str) -> Option<&ShellValue> {
        self.0.get(name)
    }

    pub(super) fn set_variable(&mut self, name: &str, value: ShellValue) {
        self.0.insert(name.to_owned(), value);
    }

    pub(super) fn remove_variable(&mut self, name: &str) {
        self.0.remove(name);
    }

    /// An assignment. A second, different value makes the variable unknown:
    /// which of the two counts may depend on what runs in between.
    pub(super) fn assign_variable(&mut self, name: &str, value: ShellValue, append: bool) {
        let value = match (self.get(name), append) {
            // Appending to a variable that may come from the environment leaves
            // it unknown.
            (None, true) => return,
            (Some(old), true) => ShellValue {
                text: format!("{}{}", old.text, value.text),
                open: old.open || value.open,
            },
            (Some(old), false) if *old != value => ShellValue::unknown(),
            _ => value,
        };
        self.set_variable(name, value);
    }

    /// Takes over what happened in a part that may not have run (or ran in
    /// parallel): a variable changed there is unknown from now on, a new one
    /// stays unset.
    pub(super) fn merge(&mut self, other: &Self) {
        for (name, value) in &mut self.0 {
            if other.0.get(name) != Some(value) {
                *value = ShellValue::unknown();
            }
        }
    }

    /// Everything set since `before` is unknown from now on.
    pub(super) fn doubt_since(&mut self, before: &Self) {
        for (name, value) in &mut self.0 {
            if before.0.get(name) != Some(value) {
                *value = ShellValue::unknown();
            }
        }
    }
}

/// Variables that exist in every shell; in double quotes they may be mixed with
/// other text.
const UNIVERSAL_VARIABLES: [&str; 19] = [
    "BASHPID",
    "BASH_VERSION",
    "EUID",
    "HISTFILE",
    "HOSTNAME",
    "IFS",
    "LINENO",
    "LOGNAME",
    "OLDPWD",
    "PATH",
    "PPID",
    "PWD",
    "RANDOM",
    "SECONDS",
    "SHELL",
    "SHLVL",
    "TMPDIR",
    "UID",
    "USER",
];

/// `$USER`, `$?` and the like: unknown text, but certainly one harmless value.
pub(super) fn is_everywhere(name: &str) -> bool {
    UNIVERSAL_VARIABLES.contains(&name) || matches!(name, "?" | "$" | "!" | "#" | "-")
}

/// Setting one of these changes what later words or commands mean.
pub(super) fn is_steering(name: &str) -> bool {
    const STEERING_VARIABLES: [&str; 26] = [
        "BASH_ENV",
        "CDPATH",
        "DIRSTACK",
        "ENV",
        "EXECIGNORE",
        "FPATH",
        "GLOBIGNORE",
        "HISTFILE",
        "HOME",
        "IFS",
        "LANG",
        "LANGUAGE",
        "MAILPATH",
        "MANPATH",
        "NULLCMD",
        "PATH",
        "READNULLCMD",
        "SHELL",
        "ZDOTDIR",
        "cdpath",
        "fpath",
        "histchars",
        "mailpath",
        "manpath",
        "module_path",
        "path",
    ];
    STEERING_VARIABLES.contains(&name)
        || is_counter(name)
        || ["LD_", "DYLD_", "LC_", "BASH_FUNC_"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

/// Integer variables: a shell evaluates what is assigned to them.
pub(super) fn is_counter(name: &str) -> bool {
    const INTEGER_VARIABLES: [&str; 20] = [
        "BASHPID",
        "COLUMNS",
        "EGID",
        "EPOCHSECONDS",
        "EUID",
        "FUNCNEST",
        "GID",
        "HISTSIZE",
        "KEYTIMEOUT",
        "LINENO",
        "LINES",
        "OPTIND",
        "PPID",
        "RANDOM",
        "SECONDS",
        "SHLVL",
        "SRANDOM",
        "TMOUT",
        "UID",
        "status",
    ];
    INTEGER_VARIABLES.contains(&name)
}

/// Names that a `for` may not use as its variable.
pub(super) fn is_reserved(name: &str) -> bool {
    const RESERVED_VARIABLES: [&str; 22] = [
        "BASHOPTS",
        "FUNCNAME",
        "GROUPS",
        "OPTARG",
        "PIPESTATUS",
        "PS1",
        "PS2",
        "PS3",
        "PS4",
        "REPLY",
        "SHELLOPTS",
        "WATCH",
        "_",
        "argv",
        "prompt",
        "psvar",
        "BASH_ARGV",
        "BASH_COMMAND",
        "BASH_SOURCE",
        "BASH_SUBSHELL",
        "BASH_LINENO",
        "BASH_REMATCH",
    ];
    is_steering(name) || is_everywhere(name) || RESERVED_VARIABLES.contains(&name)
}
