//! Which variables a statement writes, and the built-ins that write them:
//! `read`, `printf -v`, `export`, `unset` and their kin.

use super::scope::{ShellScope, ShellValue, is_steering};
use super::tree::{
    Assignment, Block, Command, Declaration, Operand, Redirect, Statement, Word, WordPart,
};
use super::values::{WordContext, remove_escapes};
use super::walk::{WalkError, WalkResult, Walker, record_assignment};
use super::words::is_name;

/// All variables that a loop's parts may write, except in brackets.
pub(super) fn written_anywhere<'a>(blocks: impl IntoIterator<Item = &'a Block>) -> Vec<String> {
    let mut names = Vec::new();
    for block in blocks {
        for (statement, _) in &block.statements {
            collect_names(statement, &mut names);
        }
    }
    names
}

fn collect_names(statement: &Statement, names: &mut Vec<String>) {
    match statement {
        Statement::Assignment(assignment) => names.push(assignment.name.clone()),
        Statement::Command(command) => {
            let words: Vec<String> = command.words.iter().map(word_text).collect();
            names.extend(written_by(&words));
        }
        Statement::Declaration(declaration) => {
            for operand in &declaration.operands {
                if let Operand::Assignment(assignment) = operand {
                    names.push(assignment.name.clone());
                }
            }
        }
        Statement::Unset { operands, .. } => {
            names.extend(operands.iter().map(word_text).filter(|name| is_name(name)));
        }
        Statement::Pipeline(stages) => stages.iter().for_each(|stage| collect_names(stage, names)),
        Statement::Chain { first, rest } => {
            collect_names(first, names);
            for (_, statement) in rest {
                collect_names(statement, names);
            }
        }
        Statement::Negation {
            inner: Some(inner), ..
        } => collect_names(inner, names),
        Statement::If {
            condition,
            then,
            others,
        } => {
            names.extend(written_anywhere([condition, then]));
            for (test, body) in others {
                names.extend(written_anywhere(test));
                names.extend(written_anywhere([body]));
            }
        }
        Statement::While { condition, body } => {
            names.extend(written_anywhere([condition, body]));
        }
        Statement::For { body, .. } => names.extend(written_anywhere([body])),
        Statement::Negation { inner: None, .. } | Statement::Subshell(_) | Statement::Test(_) => {}
    }
}

/// A word's text when it is plain or quoted text; otherwise its source.
fn word_text(word: &Word) -> String {
    match word.parts.as_slice() {
        [WordPart::Plain(raw)] => remove_escapes(raw),
        [WordPart::Single(text)] => text.clone(),
        // Only names are looked for, so a word that is no name does no harm.
        _ => word.raw.trim_matches('"').to_owned(),
    }
}

/// The variables that a built-in writes by its arguments.
pub(super) fn written_by(words: &[String]) -> Vec<String> {
    let mut rest = words;
    while let Some((name, after)) = rest.split_first() {
        // Both run the built-in behind them, which then writes its variables.
        if name != "command" && name != "builtin" {
            break;
        }
        rest = after;
        while rest.first().is_some_and(|word| word.starts_with('-')) {
            rest = &rest[1..];
        }
    }
    let Some((name, arguments)) = rest.split_first() else {
        return Vec::new();
    };
    match name.as_str() {
        "read" => operand_names(arguments, "adinNptu"),
        "mapfile" | "readarray" => operand_names(arguments, "dnOsuCc"),
        "getopts" => arguments
            .get(1)
            .and_then(|word| base_name(word))
            .into_iter()
            .collect(),
        "printf" | "print" => flag_value(arguments, 'v'),
        "unset" => operand_names(arguments, ""),
        "wait" => flag_value(arguments, 'p'),
        "export" | "declare" | "typeset" | "readonly" | "local" => arguments
            .iter()
            .filter_map(|word| word.split_once('='))
            .map(|(name, _)| name.trim_end_matches('+').to_owned())
            .filter(|name| is_name(name))
            .collect(),
        _ => Vec::new(),
    }
}

/// `export`, `unset` and their kin behind an assignment or redirection are
/// read as plain commands; their operands must be names all the same.
pub(super) fn check_operands(command: &Command, words: &[String]) -> WalkResult<()> {
    let unset = match words.first().map(String::as_str) {
        Some("export" | "declare" | "typeset" | "readonly" | "local") => false,
        Some("unset") => true,
        _ => return Ok(()),
    };
    let fine = |text: &str| match text.strip_prefix(['-', '+']) {
        Some(flags) if unset => matches!(flags, "f" | "v"),
        Some(_) => true,
        None => is_name(text.split('=').next().unwrap_or(text).trim_end_matches('+')),
    };
    let simple = command
        .words
        .iter()
        .skip(1)
        .zip(&words[1..])
        .all(|(word, text)| {
            let assigns = text.contains('=') && !word.raw.starts_with(['"', '\'']);
            (assigns || word.parts.len() == 1) && fine(text)
        });
    if simple {
        Ok(())
    } else {
        Err(WalkError::Opaque(
            "a declaration of something that is no name",
        ))
    }
}

/// The operands behind options, of which `valued` take a value. `-a NAME` of
/// `read` names a variable as well.
fn operand_names(arguments: &[String], valued: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut skip = false;
    for word in arguments {
        if std::mem::take(&mut skip) {
            continue;
        }
        if let Some(flags) = word.strip_prefix('-').filter(|flags| !flags.is_empty()) {
            let last = flags.chars().next_back();
            let takes = flags.len() == 1 && last.is_some_and(|c| c != 'a' && valued.contains(c));
            skip = takes;
        } else {
            names.extend(base_name(word));
        }
    }
    names
}

/// `-v NAME` or `-vNAME` among the leading options.
fn flag_value(arguments: &[String], flag: char) -> Vec<String> {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let Some(flags) = word.strip_prefix('-') else {
            break;
        };
        if let Some(rest) = flags.strip_prefix(flag) {
            let name = if rest.is_empty() {
                words.next().cloned()
            } else {
                Some(rest.to_owned())
            };
            return name.and_then(|name| base_name(&name)).into_iter().collect();
        }
    }
    Vec::new()
}

/// `NAME` or `NAME[index]`.
fn base_name(word: &str) -> Option<String> {
    let name = word.split('[').next().unwrap_or(word);
    is_name(name).then(|| name.to_owned())
}

impl Walker {
    /// `export`, `declare` and their kin: rebuilt as written, the values are
    /// remembered after all operands were read.
    pub(super) fn walk_declaration(
        &mut self,
        declaration: &Declaration,
        scope: &mut ShellScope,
    ) -> WalkResult<()> {
        let first = self.commands.is_empty();
        let name = declaration.name.as_str();
        let mut words = vec![name.to_owned()];
        let mut set = Vec::new();
        let mut plus_or_n = false;
        for operand in &declaration.operands {
            match operand {
                Operand::Assignment(assignment) => {
                    let value = self.evaluate_assignment(assignment, scope)?;
                    if set
                        .iter()
                        .any(|(n, ..): &(String, ShellValue, bool)| uses_variable(assignment, n))
                    {
                        // Whether the value is the old or the new one depends
                        // on the shell.
                        return Err(WalkError::Opaque("a value set by the same command"));
                    }
                    words.push(format!("{}={}", assignment.name, value.text));
                    set.push((assignment.name.clone(), value, assignment.append));
                }
                Operand::Word(word) => {
                    let value = self.declared_word(word, name, words.len() > 1, scope)?;
                    plus_or_n |= value.text.starts_with("-n");
                    if let Some((left, right)) = value.text.split_once('=')
                        && is_name(left)
                    {
                        let right = ShellValue {
                            text: right.to_owned(),
                            open: value.open,
                        };
                        set.push((left.to_owned(), right, false));
                    }
                    words.push(value.text);
                }
            }
        }
        if set.iter().any(|(name, ..)| name == "IFS") {
            return Err(WalkError::Opaque(
                "an assignment that changes how words are read",
            ));
        }
        self.walk_redirects(&declaration.redirects, scope)?;
        self.add_command(words)?;
        // Its variables end with a function, and functions are not understood.
        if name == "local" {
            self.local_set = !set.is_empty();
        } else if !plus_or_n {
            for (name, value, append) in set {
                if declaration.redirects.is_empty() {
                    record_assignment(&name, value, append, first, scope);
                } else {
                    scope.remove_variable(&name);
                }
            }
        }
        Ok(())
    }

    /// A name or an option of a declaration.
    fn declared_word(
        &mut self,
        word: &Word,
        declaring: &str,
        late: bool,
        scope: &ShellScope,
    ) -> WalkResult<ShellValue> {
        let strict = is_strict(declaring);
        let bare = matches!(word.parts.as_slice(), [WordPart::Plain(_)]);
        let value = self.evaluate_word(word, scope, WordContext::Argument)?;
        if word.parts.len() != 1 || matches!(word.parts.as_slice(), [WordPart::Variable(_)]) {
            return Err(WalkError::Opaque("a declaration of an unknown name"));
        }
        if let Some(flags) = value.text.strip_prefix(['-', '+']) {
            let harmless = match declaring {
                "export" => "nfp-",
                "readonly" => "aAfp-",
                _ => "xrpft",
            };
            let known = flags.chars().all(|c| harmless.contains(c))
                && (strict || (value.text.starts_with('-') && !late));
            if !known {
                return Err(WalkError::Opaque(
                    "an option that changes a variable's nature",
                ));
            }
            return Ok(value);
        }
        let name = value.text.split('=').next().unwrap_or_default();
        if (bare || strict) && !is_name(name) {
            return Err(WalkError::Opaque(
                "a declaration of something that is no name",
            ));
        }
        Ok(value)
    }

    /// `unset`: the variables are empty from now on.
    pub(super) fn walk_unset(
        &mut self,
        operands: &[Word],
        redirects: &[Redirect],
        scope: &mut ShellScope,
    ) -> WalkResult<()> {
        let first = self.commands.is_empty();
        let mut words = vec!["unset".to_owned()];
        let mut functions = false;
        for word in operands {
            let [WordPart::Plain(raw)] = word.parts.as_slice() else {
                return Err(WalkError::Opaque(
                    "an unset of something that is no plain name",
                ));
            };
            words.push(raw.clone());
            match raw.as_str() {
                "-f" => functions = true,
                "-v" => {}
                name if !is_name(name) => {
                    return Err(WalkError::Opaque(
                        "an unset of something that is no plain name",
                    ));
                }
                _ if functions => {}
                name if is_steering(name) || name == "PS4" => {
                    return Err(WalkError::Opaque("an unset of a steering variable"));
                }
                // Behind another command the effect is not certain; see
                // `lone_assignment`.
                name if first && redirects.is_empty() => {
                    scope.set_variable(name, ShellValue::literal(""));
                }
                name => scope.remove_variable(name),
            }
        }
        self.walk_redirects(redirects, scope)?;
        self.add_command(words)
    }
}

/// The declarations that take options for a variable's nature.
fn is_strict(name: &str) -> bool {
    matches!(name, "declare" | "typeset" | "local")
}

/// Does the value mention `$name`?
fn uses_variable(assignment: &Assignment, name: &str) -> bool {
    let Some(word) = &assignment.value else {
        return false;
    };
    word.parts.iter().any(|part| match part {
        WordPart::Variable(found) => found == name,
        WordPart::Double(inner) => inner.iter().any(
            |inner| matches!(inner, super::tree::QuotedPart::Variable(found) if found == name),
        ),
        _ => false,
    })
}
