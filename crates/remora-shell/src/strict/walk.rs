//! The policy: walks the tree, collects every simple command with its words
//! rebuilt, follows literal variables, and refuses what could mean anything.

use super::SimpleCommand;
use super::names::{check_operands, written_anywhere, written_by};
use super::scope::{ShellScope, ShellValue, is_counter, is_reserved, is_steering};
use super::tree::{
    Assignment, Block, Command, ListOperator, QuotedPart, Redirect, Statement, StatementEnd,
    TestToken, Word, WordPart,
};
use super::values::WordContext;
use super::words::RefusalReason;

/// Why the walk stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WalkError {
    /// One argument is unknown: the command may still be judged by its name.
    Unknown(RefusalReason),
    /// Nothing can be said.
    Opaque(RefusalReason),
}

pub(super) type WalkResult<T> = Result<T, WalkError>;

/// The separators that a place understands.
#[derive(Clone, Copy)]
enum AllowedSeparators {
    /// `;` and `&`.
    Program,
    /// `;` only.
    Body,
    /// Newlines only.
    Brackets,
}

pub(super) struct Walker {
    pub(super) home: String,
    /// The commands found so far.
    pub(super) commands: Vec<SimpleCommand>,
    /// The bracket being walked.
    inside: Option<&'static str>,
    /// A `local` with a value: no command may follow it.
    pub(super) local_set: bool,
}

impl Walker {
    pub(super) fn new(home: &str) -> Self {
        Self {
            home: home.to_owned(),
            commands: Vec::new(),
            inside: None,
            local_set: false,
        }
    }

    pub(super) fn walk_program(&mut self, block: &Block) -> WalkResult<()> {
        let mut scope = ShellScope::default();
        self.walk_block(block, &mut scope, AllowedSeparators::Program)
    }

    /// Adds a command.
    pub(super) fn add_command(&mut self, words: Vec<String>) -> WalkResult<()> {
        if self.local_set {
            return Err(WalkError::Opaque("a command behind local"));
        }
        self.commands.push(SimpleCommand::new(words, self.inside));
        Ok(())
    }

    fn walk_block(
        &mut self,
        block: &Block,
        scope: &mut ShellScope,
        known: AllowedSeparators,
    ) -> WalkResult<()> {
        let start = scope.clone();
        for (statement, end) in &block.statements {
            self.walk_statement(statement, scope)?;
            match (end, known) {
                (StatementEnd::Open, _)
                | (StatementEnd::Semicolon, AllowedSeparators::Program | AllowedSeparators::Body)
                | (StatementEnd::Double, AllowedSeparators::Program) => {}
                // What runs in the background sets its variables in a shell of
                // its own.
                (StatementEnd::Ampersand, AllowedSeparators::Program) => *scope = start.clone(),
                _ => {
                    return Err(WalkError::Opaque(
                        "; or & at a place where it is not understood",
                    ));
                }
            }
        }
        Ok(())
    }

    /// A bracket, pipe or negation that only sets variables still counts as a
    /// command, `true`.
    fn at_least_true(&mut self, before: usize) -> WalkResult<()> {
        if self.commands.len() == before {
            self.add_command(vec!["true".to_owned()])?;
        }
        Ok(())
    }

    /// Commands in brackets: their variables stay inside.
    fn walk_brackets(
        &mut self,
        block: &Block,
        scope: &ShellScope,
        kind: &'static str,
    ) -> WalkResult<()> {
        if block.statements.is_empty() {
            return Ok(());
        }
        let before = self.commands.len();
        // Kept with each command, so that an explanation can say where in the line it was
        // found.
        let outer = self.inside.replace(kind);
        self.walk_block(block, &mut scope.clone(), AllowedSeparators::Brackets)?;
        self.at_least_true(before)?;
        self.inside = outer;
        Ok(())
    }

    /// The commands inside `$( )` or backticks.
    pub(super) fn walk_substitution(
        &mut self,
        block: &Block,
        scope: &ShellScope,
    ) -> WalkResult<()> {
        // `$(< file)` puts the file's content into the line without running anything that a
        // rule could name.
        if let [(Statement::Command(command), _)] = block.statements.as_slice()
            && command.words.is_empty()
        {
            return Err(WalkError::Opaque("a lone redirection in a substitution"));
        }
        self.walk_brackets(block, scope, "$( )")
    }

    fn walk_statement(&mut self, statement: &Statement, scope: &mut ShellScope) -> WalkResult<()> {
        match statement {
            Statement::Command(command) => self.walk_command(command, scope),
            Statement::Assignment(assignment) => self.lone_assignment(assignment, scope),
            Statement::Declaration(declaration) => self.walk_declaration(declaration, scope),
            Statement::Unset {
                operands,
                redirects,
            } => self.walk_unset(operands, redirects, scope),
            Statement::Test(tokens) => self.walk_test(tokens, scope),
            Statement::Pipeline(stages) => {
                let start = scope.clone();
                let before = self.commands.len();
                for stage in stages {
                    // Each stage of a pipe runs in a subshell and sees none of
                    // the others' variables.
                    let mut own = start.clone();
                    self.walk_statement(stage, &mut own)?;
                    scope.merge(&own);
                }
                self.at_least_true(before)
            }
            Statement::Chain { first, rest } => self.walk_chain(first, rest, scope),
            Statement::Negation { inner, redirects } => {
                let before = self.commands.len();
                if let Some(inner) = inner {
                    self.walk_statement(inner, scope)?;
                }
                self.walk_redirects(redirects, scope)?;
                self.at_least_true(before)
            }
            Statement::Subshell(block) => self.walk_brackets(block, scope, "( )"),
            Statement::If {
                condition,
                then,
                others,
            } => self.walk_condition(condition, then, others, scope),
            Statement::While { condition, body } => self.while_loop(condition, body, scope),
            Statement::For {
                variable,
                words,
                body,
            } => self.for_loop(variable, words, body, scope),
        }
    }

    /// `while` and `until`: what the loop writes is unknown in all of it, and a
    /// literal from before must not be among it.
    fn while_loop(
        &mut self,
        condition: &Block,
        body: &Block,
        scope: &mut ShellScope,
    ) -> WalkResult<()> {
        let mut own = scope.clone();
        for name in written_anywhere([condition, body]) {
            if scope.get(&name).is_some_and(|value| !value.open) {
                return Err(WalkError::Opaque("a known variable that a loop changes"));
            }
            own.set_variable(&name, ShellValue::unknown());
        }
        self.walk_block(condition, &mut own, AllowedSeparators::Body)?;
        self.walk_block(body, &mut own, AllowedSeparators::Body)?;
        scope.merge(&own);
        Ok(())
    }

    /// `for`: the loop variable has no known value at all, not even "set".
    fn for_loop(
        &mut self,
        variable: &str,
        words: &[Word],
        body: &Block,
        scope: &mut ShellScope,
    ) -> WalkResult<()> {
        for word in words {
            self.evaluate_word(word, scope, WordContext::LoopWord)?;
        }
        let known = scope.get(variable).is_some_and(|value| !value.open);
        if known || is_reserved(variable) {
            return Err(WalkError::Opaque(
                "a loop variable that has a meaning already",
            ));
        }
        let mut own = scope.clone();
        for name in written_anywhere([body]) {
            own.set_variable(&name, ShellValue::unknown());
        }
        // Not even "set to something": the body may run zero times.
        own.remove_variable(variable);
        self.walk_block(body, &mut own, AllowedSeparators::Body)?;
        scope.merge(&own);
        Ok(())
    }

    /// `&&` and `||`. What the left side of `||` set is doubtful on its right;
    /// behind it no value counts as known.
    fn walk_chain(
        &mut self,
        first: &Statement,
        rest: &[(ListOperator, Statement)],
        scope: &mut ShellScope,
    ) -> WalkResult<()> {
        let start = scope.clone();
        self.walk_statement(first, scope)?;
        for (joint, statement) in rest {
            if *joint == ListOperator::And {
                self.walk_statement(statement, scope)?;
                continue;
            }
            // The right side runs only if the left failed, perhaps halfway through its
            // assignments.
            scope.doubt_since(&start);
            self.walk_statement(statement, &mut scope.clone())?;
            // Which of the two sides ran is not known any more.
            scope.doubt_since(&ShellScope::default());
        }
        Ok(())
    }

    /// `if`: each statement of the first body is on its own, the other bodies
    /// are walked as a whole.
    fn walk_condition(
        &mut self,
        condition: &Block,
        then: &Block,
        others: &[(Option<Block>, Block)],
        scope: &mut ShellScope,
    ) -> WalkResult<()> {
        let before = scope.clone();
        self.walk_block(condition, scope, AllowedSeparators::Body)?;
        for name in written_anywhere([condition]) {
            let old = before.get(&name);
            if old.is_some_and(|old| !old.open && scope.get(&name) != Some(old)) {
                return Err(WalkError::Opaque(
                    "a known variable that a condition changes",
                ));
            }
        }
        for (statement, end) in &then.statements {
            let mut own = scope.clone();
            self.walk_statement(statement, &mut own)?;
            if matches!(end, StatementEnd::Ampersand | StatementEnd::Double) {
                return Err(WalkError::Opaque("& or ;; inside a condition's body"));
            }
            scope.merge(&own);
        }
        for (test, body) in others {
            let mut own = scope.clone();
            if let Some(test) = test {
                self.walk_block(test, &mut own, AllowedSeparators::Body)?;
            }
            self.walk_block(body, &mut own, AllowedSeparators::Body)?;
            scope.merge(&own);
        }
        Ok(())
    }

    /// A simple command. Assignments in front are checked, then dropped.
    fn walk_command(&mut self, command: &Command, scope: &mut ShellScope) -> WalkResult<()> {
        let mut own = if command.assignments.is_empty() {
            ShellScope::default()
        } else {
            scope.clone()
        };
        for assignment in &command.assignments {
            let value = self.evaluate_assignment(assignment, &own)?;
            // `IFS` changes where words end, and Bash evaluates the value of an integer
            // variable as arithmetic, which can run commands.
            if assignment.name == "IFS" || is_counter(&assignment.name) && !is_number(&value.text) {
                return Err(WalkError::Opaque(
                    "an assignment that changes how words are read",
                ));
            }
            // Later assignments of the same command may use it, and rules do not follow
            // that.
            own.remove_variable(&assignment.name);
        }
        let mut words = Vec::with_capacity(command.words.len());
        for word in &command.words {
            words.push(self.evaluate_word(word, scope, WordContext::Argument)?.text);
        }
        // With the outer scope: assignments in front of a command do not reach
        // its own words.
        self.walk_redirects(&command.redirects, scope)?;
        check_operands(command, &words)?;
        for name in written_by(&words) {
            // `PATH`, `IFS` and their like decide what every later word means.
            if is_steering(&name) || name == "PS4" {
                return Err(WalkError::Opaque("a command that sets a steering variable"));
            }
            if command.redirects.is_empty() && words[0] == "unset" {
                scope.set_variable(&name, ShellValue::literal(""));
            } else if command.redirects.is_empty() {
                scope.set_variable(&name, ShellValue::unknown());
            } else {
                scope.remove_variable(&name);
            }
        }
        let local = words.first().is_some_and(|name| name == "local");
        let sets = local && words.iter().any(|word| word.contains('='));
        self.add_command(words)?;
        self.local_set |= sets;
        Ok(())
    }

    /// The value of an assignment.
    pub(super) fn evaluate_assignment(
        &mut self,
        assignment: &Assignment,
        scope: &ShellScope,
    ) -> WalkResult<ShellValue> {
        let Some(word) = &assignment.value else {
            return Ok(ShellValue::literal(""));
        };
        let value = self.evaluate_word(word, scope, WordContext::Assignment)?;
        // A shell expands it after `=` and `:`, which rules do not follow.
        if value.text.contains('~') {
            return Err(WalkError::Opaque("a tilde in an assignment"));
        }
        Ok(value)
    }

    /// `NAME=value` alone. Behind a command the value no longer counts as
    /// known: the command may have changed what an assignment does.
    fn lone_assignment(
        &mut self,
        assignment: &Assignment,
        scope: &mut ShellScope,
    ) -> WalkResult<()> {
        let first = self.commands.is_empty();
        let value = self.evaluate_assignment(assignment, scope)?;
        let name = &assignment.name;
        let number = is_counter(name) && !assignment.append && is_number(&value.text);
        let prompt = name == "PS4" && (assignment.append || !is_plain_prompt(&value));
        if prompt || (is_steering(name) && !number) {
            return Err(WalkError::Opaque("an assignment to a steering variable"));
        }
        if assignment
            .value
            .as_ref()
            .is_some_and(|word| word.parts.iter().any(has_arithmetic))
        {
            self.add_command(vec!["true".to_owned()])?;
        }
        record_assignment(name, value, assignment.append, first, scope);
        Ok(())
    }

    pub(super) fn walk_redirects(
        &mut self,
        redirects: &[Redirect],
        scope: &ShellScope,
    ) -> WalkResult<()> {
        for redirect in redirects {
            match redirect {
                Redirect::File(target) => self.check_target(target, scope)?,
                Redirect::HereString(Some(word)) => {
                    let value = self.evaluate_word(word, scope, WordContext::HereString)?;
                    if value.text.contains("\n#") {
                        return Err(WalkError::Opaque("a here-string that looks like a comment"));
                    }
                }
                // Only quoted here-documents get this far; the parser refuses those that
                // expand.
                Redirect::HereString(None) | Redirect::HereDocument { .. } => {}
            }
        }
        Ok(())
    }

    /// A redirection's target must be one known text.
    fn check_target(&mut self, target: &Word, scope: &ShellScope) -> WalkResult<()> {
        let mixed = target.parts.len() > 1;
        if target.parts.iter().any(|part| match part {
            WordPart::Variable(_) => true,
            WordPart::Double(inner) => {
                mixed && inner.iter().any(|i| !matches!(i, QuotedPart::Text(_)))
            }
            _ => false,
        }) {
            return Err(WalkError::Opaque(
                "a redirection to a composed or unquoted variable",
            ));
        }
        let value = self
            .evaluate_word(target, scope, WordContext::Argument)
            .map_err(|refusal| match refusal {
                // A file that is written to may be anything, so the name of the
                // command is no longer enough.
                WalkError::Unknown(why) | WalkError::Opaque(why) => WalkError::Opaque(why),
            })?;
        if value.open || value.text.contains('\n') {
            return Err(WalkError::Opaque("a redirection to an unknown place"));
        }
        Ok(())
    }

    /// A test is rebuilt as a command named `[[`, whatever its brackets.
    fn walk_test(&mut self, tokens: &[TestToken], scope: &ShellScope) -> WalkResult<()> {
        let mut words = vec!["[[".to_owned()];
        for token in tokens {
            words.push(match token {
                TestToken::Literal(text) | TestToken::Pattern(text) => text.clone(),
                TestToken::Word(word) => {
                    self.evaluate_word(word, scope, WordContext::Argument)?.text
                }
            });
        }
        self.add_command(words)
    }
}

/// Notes an assignment. Behind a command (`first` is false) the variable is
/// only known to be set.
pub(super) fn record_assignment(
    name: &str,
    value: ShellValue,
    append: bool,
    first: bool,
    scope: &mut ShellScope,
) {
    if first {
        scope.assign_variable(name, value, append);
    } else {
        scope.set_variable(name, ShellValue::unknown());
    }
}

fn has_arithmetic(part: &WordPart) -> bool {
    match part {
        WordPart::Arithmetic => true,
        WordPart::Double(inner) => inner
            .iter()
            .any(|inner| matches!(inner, QuotedPart::Arithmetic)),
        _ => false,
    }
}

/// The trace prompt is evaluated by the shell; only harmless text is.
fn is_plain_prompt(value: &ShellValue) -> bool {
    !value.open
        && value
            .text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || " _+:./=[]-".contains(c))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())
}
