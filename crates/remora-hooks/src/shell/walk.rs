//! The policy: walks the tree, collects every simple command with its words
//! rebuilt, follows literal variables, and refuses what could mean anything.

use super::SimpleCommand;
use super::names::{check_operands, written_anywhere, written_by};
use super::scope::{Scope, Value, is_counter, is_steering, is_taken};
use super::tree::{
    Assignment, Block, Command, End, Inner, Joint, Part, Redirect, Statement, TestToken, Word,
};
use super::values::Place;
use super::words::Why;

/// Why the walk stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// One argument is unknown: the command may still be judged by its name.
    Unknown(Why),
    /// Nothing can be said.
    Opaque(Why),
}

pub(super) type Walk<T> = Result<T, Refusal>;

/// The separators that a place understands.
#[derive(Clone, Copy)]
enum Separators {
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

    pub(super) fn program(&mut self, block: &Block) -> Walk<()> {
        let mut scope = Scope::default();
        self.block(block, &mut scope, Separators::Program)
    }

    /// Adds a command.
    pub(super) fn found(&mut self, words: Vec<String>) -> Walk<()> {
        if self.local_set {
            return Err(Refusal::Opaque("a command behind local"));
        }
        self.commands.push(SimpleCommand::new(words, self.inside));
        Ok(())
    }

    fn block(&mut self, block: &Block, scope: &mut Scope, known: Separators) -> Walk<()> {
        let start = scope.clone();
        for (statement, end) in &block.statements {
            self.statement(statement, scope)?;
            match (end, known) {
                (End::Open, _)
                | (End::Semicolon, Separators::Program | Separators::Body)
                | (End::Double, Separators::Program) => {}
                (End::Ampersand, Separators::Program) => *scope = start.clone(),
                _ => {
                    return Err(Refusal::Opaque(
                        "; or & at a place where it is not understood",
                    ));
                }
            }
        }
        Ok(())
    }

    /// A bracket, pipe or negation that only sets variables still counts as a
    /// command, `true`.
    fn at_least_true(&mut self, before: usize) -> Walk<()> {
        if self.commands.len() == before {
            self.found(vec!["true".to_owned()])?;
        }
        Ok(())
    }

    /// Commands in brackets: their variables stay inside.
    fn brackets(&mut self, block: &Block, scope: &Scope, kind: &'static str) -> Walk<()> {
        if block.statements.is_empty() {
            return Ok(());
        }
        let before = self.commands.len();
        let outer = self.inside.replace(kind);
        self.block(block, &mut scope.clone(), Separators::Brackets)?;
        self.at_least_true(before)?;
        self.inside = outer;
        Ok(())
    }

    /// The commands inside `$( )` or backticks.
    pub(super) fn substitution(&mut self, block: &Block, scope: &Scope) -> Walk<()> {
        if let [(Statement::Command(command), _)] = block.statements.as_slice()
            && command.words.is_empty()
        {
            return Err(Refusal::Opaque("a lone redirection in a substitution"));
        }
        self.brackets(block, scope, "$( )")
    }

    fn statement(&mut self, statement: &Statement, scope: &mut Scope) -> Walk<()> {
        match statement {
            Statement::Command(command) => self.command(command, scope),
            Statement::Assignment(assignment) => self.lone_assignment(assignment, scope),
            Statement::Declaration(declaration) => self.declaration(declaration, scope),
            Statement::Unset {
                operands,
                redirects,
            } => self.unset(operands, redirects, scope),
            Statement::Test(tokens) => self.test(tokens, scope),
            Statement::Pipeline(stages) => {
                let start = scope.clone();
                let before = self.commands.len();
                for stage in stages {
                    let mut own = start.clone();
                    self.statement(stage, &mut own)?;
                    scope.merge(&own);
                }
                self.at_least_true(before)
            }
            Statement::Chain { first, rest } => self.chain(first, rest, scope),
            Statement::Negation { inner, redirects } => {
                let before = self.commands.len();
                if let Some(inner) = inner {
                    self.statement(inner, scope)?;
                }
                self.redirects(redirects, scope)?;
                self.at_least_true(before)
            }
            Statement::Subshell(block) => self.brackets(block, scope, "( )"),
            Statement::If {
                condition,
                then,
                others,
            } => self.condition(condition, then, others, scope),
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
    fn while_loop(&mut self, condition: &Block, body: &Block, scope: &mut Scope) -> Walk<()> {
        let mut own = scope.clone();
        for name in written_anywhere([condition, body]) {
            if scope.get(&name).is_some_and(|value| !value.open) {
                return Err(Refusal::Opaque("a known variable that a loop changes"));
            }
            own.set(&name, Value::unknown());
        }
        self.block(condition, &mut own, Separators::Body)?;
        self.block(body, &mut own, Separators::Body)?;
        scope.merge(&own);
        Ok(())
    }

    /// `for`: the loop variable has no known value at all, not even "set".
    fn for_loop(
        &mut self,
        variable: &str,
        words: &[Word],
        body: &Block,
        scope: &mut Scope,
    ) -> Walk<()> {
        for word in words {
            self.word(word, scope, Place::LoopWord)?;
        }
        let known = scope.get(variable).is_some_and(|value| !value.open);
        if known || is_taken(variable) {
            return Err(Refusal::Opaque(
                "a loop variable that has a meaning already",
            ));
        }
        let mut own = scope.clone();
        for name in written_anywhere([body]) {
            own.set(&name, Value::unknown());
        }
        own.forget(variable);
        self.block(body, &mut own, Separators::Body)?;
        scope.merge(&own);
        Ok(())
    }

    /// `&&` and `||`. What the left side of `||` set is doubtful on its right;
    /// behind it no value counts as known.
    fn chain(
        &mut self,
        first: &Statement,
        rest: &[(Joint, Statement)],
        scope: &mut Scope,
    ) -> Walk<()> {
        let start = scope.clone();
        self.statement(first, scope)?;
        for (joint, statement) in rest {
            if *joint == Joint::And {
                self.statement(statement, scope)?;
                continue;
            }
            scope.doubt_since(&start);
            self.statement(statement, &mut scope.clone())?;
            scope.doubt_since(&Scope::default());
        }
        Ok(())
    }

    /// `if`: each statement of the first body is on its own, the other bodies
    /// are walked as a whole.
    fn condition(
        &mut self,
        condition: &Block,
        then: &Block,
        others: &[(Option<Block>, Block)],
        scope: &mut Scope,
    ) -> Walk<()> {
        let before = scope.clone();
        self.block(condition, scope, Separators::Body)?;
        for name in written_anywhere([condition]) {
            let old = before.get(&name);
            if old.is_some_and(|old| !old.open && scope.get(&name) != Some(old)) {
                return Err(Refusal::Opaque("a known variable that a condition changes"));
            }
        }
        for (statement, end) in &then.statements {
            let mut own = scope.clone();
            self.statement(statement, &mut own)?;
            if matches!(end, End::Ampersand | End::Double) {
                return Err(Refusal::Opaque("& or ;; inside a condition's body"));
            }
            scope.merge(&own);
        }
        for (test, body) in others {
            let mut own = scope.clone();
            if let Some(test) = test {
                self.block(test, &mut own, Separators::Body)?;
            }
            self.block(body, &mut own, Separators::Body)?;
            scope.merge(&own);
        }
        Ok(())
    }

    /// A simple command. Assignments in front are checked, then dropped.
    fn command(&mut self, command: &Command, scope: &mut Scope) -> Walk<()> {
        let mut own = if command.assignments.is_empty() {
            Scope::default()
        } else {
            scope.clone()
        };
        for assignment in &command.assignments {
            let value = self.assigned(assignment, &own)?;
            if assignment.name == "IFS" || is_counter(&assignment.name) && !is_number(&value.text) {
                return Err(Refusal::Opaque(
                    "an assignment that changes how words are read",
                ));
            }
            own.forget(&assignment.name);
        }
        let mut words = Vec::with_capacity(command.words.len());
        for word in &command.words {
            words.push(self.word(word, scope, Place::Argument)?.text);
        }
        self.redirects(&command.redirects, scope)?;
        check_operands(command, &words)?;
        for name in written_by(&words) {
            if is_steering(&name) || name == "PS4" {
                return Err(Refusal::Opaque("a command that sets a steering variable"));
            }
            if command.redirects.is_empty() && words[0] == "unset" {
                scope.set(&name, Value::literal(""));
            } else if command.redirects.is_empty() {
                scope.set(&name, Value::unknown());
            } else {
                scope.forget(&name);
            }
        }
        let local = words.first().is_some_and(|name| name == "local");
        let sets = local && words.iter().any(|word| word.contains('='));
        self.found(words)?;
        self.local_set |= sets;
        Ok(())
    }

    /// The value of an assignment.
    pub(super) fn assigned(&mut self, assignment: &Assignment, scope: &Scope) -> Walk<Value> {
        let Some(word) = &assignment.value else {
            return Ok(Value::literal(""));
        };
        let value = self.word(word, scope, Place::Assignment)?;
        if value.text.contains('~') {
            return Err(Refusal::Opaque("a tilde in an assignment"));
        }
        Ok(value)
    }

    /// `NAME=value` alone. Behind a command the value no longer counts as
    /// known: the command may have changed what an assignment does.
    fn lone_assignment(&mut self, assignment: &Assignment, scope: &mut Scope) -> Walk<()> {
        let first = self.commands.is_empty();
        let value = self.assigned(assignment, scope)?;
        let name = &assignment.name;
        let number = is_counter(name) && !assignment.append && is_number(&value.text);
        let prompt = name == "PS4" && (assignment.append || !is_plain_prompt(&value));
        if prompt || (is_steering(name) && !number) {
            return Err(Refusal::Opaque("an assignment to a steering variable"));
        }
        if assignment
            .value
            .as_ref()
            .is_some_and(|word| word.parts.iter().any(has_arithmetic))
        {
            self.found(vec!["true".to_owned()])?;
        }
        remember(name, value, assignment.append, first, scope);
        Ok(())
    }

    pub(super) fn redirects(&mut self, redirects: &[Redirect], scope: &Scope) -> Walk<()> {
        for redirect in redirects {
            match redirect {
                Redirect::File(target) => self.target(target, scope)?,
                Redirect::HereString(Some(word)) => {
                    let value = self.word(word, scope, Place::HereString)?;
                    if value.text.contains("\n#") {
                        return Err(Refusal::Opaque("a here-string that looks like a comment"));
                    }
                }
                Redirect::HereString(None) | Redirect::HereDocument { .. } => {}
            }
        }
        Ok(())
    }

    /// A redirection's target must be one known text.
    fn target(&mut self, target: &Word, scope: &Scope) -> Walk<()> {
        let mixed = target.parts.len() > 1;
        if target.parts.iter().any(|part| match part {
            Part::Variable(_) => true,
            Part::Double(inner) => mixed && inner.iter().any(|i| !matches!(i, Inner::Text(_))),
            _ => false,
        }) {
            return Err(Refusal::Opaque(
                "a redirection to a composed or unquoted variable",
            ));
        }
        let value = self
            .word(target, scope, Place::Argument)
            .map_err(|refusal| match refusal {
                Refusal::Unknown(why) | Refusal::Opaque(why) => Refusal::Opaque(why),
            })?;
        if value.open || value.text.contains('\n') {
            return Err(Refusal::Opaque("a redirection to an unknown place"));
        }
        Ok(())
    }

    /// A test is rebuilt as a command named `[[`, whatever its brackets.
    fn test(&mut self, tokens: &[TestToken], scope: &Scope) -> Walk<()> {
        let mut words = vec!["[[".to_owned()];
        for token in tokens {
            words.push(match token {
                TestToken::Literal(text) | TestToken::Pattern(text) => text.clone(),
                TestToken::Word(word) => self.word(word, scope, Place::Argument)?.text,
            });
        }
        self.found(words)
    }
}

/// Notes an assignment. Behind a command (`first` is false) the variable is
/// only known to be set.
pub(super) fn remember(name: &str, value: Value, append: bool, first: bool, scope: &mut Scope) {
    if first {
        scope.assign(name, value, append);
    } else {
        scope.set(name, Value::unknown());
    }
}

fn has_arithmetic(part: &Part) -> bool {
    match part {
        Part::Arithmetic => true,
        Part::Double(inner) => inner.iter().any(|inner| matches!(inner, Inner::Arithmetic)),
        _ => false,
    }
}

/// The trace prompt is evaluated by the shell; only harmless text is.
fn is_plain_prompt(value: &Value) -> bool {
    !value.open
        && value
            .text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || " _+:./=[]-".contains(c))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())
}
