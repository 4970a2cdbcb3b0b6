//! The small syntax tree of a Bash command line: only the node kinds that the
//! policy can say something about. Everything else (`case`, functions, `{ }`,
//! `${ }`, process substitution, arrays) never reaches the tree: the parser
//! gives up on it, because no rule understands it.

/// What ends a statement; some places only understand some of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StatementEnd {
    /// A newline, the end of the text, a closing word, or nothing at all.
    Open,
    /// `;`.
    Semicolon,
    /// `;;`, which outside of `case` is tolerated at the top level only.
    Double,
    /// `&`.
    Ampersand,
}

/// Statements in a row: a program, or the inside of brackets or of a body.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    pub(super) statements: Vec<(Statement, StatementEnd)>,
}

/// `&&` or `||`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListOperator {
    And,
    Or,
}

#[derive(Clone, Debug)]
pub(super) enum Statement {
    Command(Command),
    /// `NAME=value` alone.
    Assignment(Assignment),
    /// `export`, `declare`, `typeset`, `readonly`, `local`.
    Declaration(Declaration),
    /// `unset`, with its operands.
    Unset {
        operands: Vec<Word>,
        redirects: Vec<Redirect>,
    },
    /// `[ ... ]` and `[[ ... ]]`, flattened.
    Test(Vec<TestToken>),
    /// Two or more statements joined by `|` or `|&`.
    Pipeline(Vec<Statement>),
    /// `first && second || third`.
    Chain {
        first: Box<Statement>,
        rest: Vec<(ListOperator, Statement)>,
    },
    /// `! statement`; a negated test may have redirections.
    Negation {
        inner: Option<Box<Statement>>,
        redirects: Vec<Redirect>,
    },
    /// `( ... )`.
    Subshell(Block),
    If {
        condition: Block,
        then: Block,
        /// `elif` (with its condition) and `else` (without) in order.
        others: Vec<(Option<Block>, Block)>,
    },
    /// `while` and `until`.
    While {
        condition: Block,
        body: Block,
    },
    For {
        variable: String,
        words: Vec<Word>,
        body: Block,
    },
}

/// Assignments, a name, arguments, redirections.
#[derive(Clone, Debug, Default)]
pub(super) struct Command {
    pub(super) assignments: Vec<Assignment>,
    /// The name is the first word; empty for `> file`.
    pub(super) words: Vec<Word>,
    pub(super) redirects: Vec<Redirect>,
}

#[derive(Clone, Debug)]
pub(super) struct Declaration {
    pub(super) name: String,
    pub(super) operands: Vec<Operand>,
    pub(super) redirects: Vec<Redirect>,
}

/// One operand of a declaration.
#[derive(Clone, Debug)]
pub(super) enum Operand {
    Assignment(Assignment),
    Word(Word),
}

#[derive(Clone, Debug)]
pub(super) struct Assignment {
    pub(super) name: String,
    /// `NAME+=value`.
    pub(super) append: bool,
    /// `None` for `NAME=` with nothing behind.
    pub(super) value: Option<Word>,
}

#[derive(Clone, Debug)]
pub(super) enum Redirect {
    File(Word),
    /// `<<< word`.
    HereString(Option<Word>),
    /// A here-document with a quoted end word: its text.
    HereDocument {
        text: String,
        tabs_removed: bool,
    },
}

/// A piece of a test expression.
#[derive(Clone, Debug)]
pub(super) enum TestToken {
    /// `!`, `(`, `-f`, `==`, `&&` and the like.
    Literal(String),
    Word(Word),
    /// The right side of `==` or `=~`: taken as it is written.
    Pattern(String),
}

/// One shell word.
#[derive(Clone, Debug)]
pub(super) struct Word {
    pub(super) parts: Vec<WordPart>,
    /// The source text.
    pub(super) raw: String,
}

#[derive(Clone, Debug)]
pub(super) enum WordPart {
    /// Unquoted text, backslashes still in it.
    Plain(String),
    /// `'...'`, without the quotes.
    Single(String),
    /// `"..."`.
    Double(Vec<QuotedPart>),
    /// `$NAME`, `$1`, `$?`.
    Variable(String),
    /// `$( )` or backticks.
    Substitution(Block),
    /// `$(( ))` over numbers only.
    Arithmetic,
}

/// A part of a text in double quotes.
#[derive(Clone, Debug)]
pub(super) enum QuotedPart {
    /// Text, backslashes still in it.
    Text(String),
    /// A lone `$` with text behind it.
    Dollar,
    Variable(String),
    Substitution {
        block: Block,
        /// Backticks never count as the "message from a here-document" idiom.
        backticks: bool,
    },
    Arithmetic,
}
