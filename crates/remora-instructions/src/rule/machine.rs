//! A small pattern machine for both kinds of glob. Runs backwards over the
//! text and keeps, for every place in the program, whether the rest of the
//! text fits from there; so the time is the length of the text times the size
//! of the program, whatever the pattern. A look-ahead is then a lookup in the
//! table of its own program. Knows nothing of globs.

/// A piece of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Node {
    /// This character.
    Char(char),
    /// One character out of a set.
    Set(CharSet),
    /// One after the other.
    Seq(Vec<Node>),
    /// One of these.
    Alt(Vec<Node>),
    /// Any number of times.
    Many(Box<Node>),
    /// At least once.
    Some(Box<Node>),
    /// What follows fits, or does not fit; takes no text itself.
    Ahead(Lookahead, Box<Node>),
    /// The beginning of the text.
    Start,
    /// The end of the text.
    End,
}

/// What a look ahead wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lookahead {
    /// The text fits.
    Fits,
    /// The text does not fit.
    Differs,
}

/// A set of characters, as ranges with both ends included.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct CharSet {
    ranges: Vec<(char, char)>,
    outside: bool,
}

impl CharSet {
    /// The characters inside the ranges.
    pub(crate) fn from_ranges(ranges: Vec<(char, char)>) -> Self {
        Self {
            ranges,
            outside: false,
        }
    }

    /// The characters outside the ranges.
    pub(crate) fn outside_ranges(ranges: Vec<(char, char)>) -> Self {
        Self {
            ranges,
            outside: true,
        }
    }

    fn contains_char(&self, c: char, case: CaseSensitivity) -> bool {
        let listed = |c: char| self.ranges.iter().any(|&(from, to)| from <= c && c <= to);
        let inside = match case {
            CaseSensitivity::Matters => listed(c),
            // A range such as `[a-z]` lists one case only, so all spellings are tried.
            CaseSensitivity::Folded => listed(c) || listed(fold_case(c)) || listed(lower_case(c)),
        };
        inside != self.outside
    }
}

/// Whether `A` is `a`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CaseSensitivity {
    /// It is not.
    Matters,
    /// It is.
    Folded,
}

impl Node {
    /// Any one character.
    pub(crate) fn any_char() -> Self {
        Self::Set(CharSet::outside_ranges(Vec::new()))
    }

    /// One character of a name: anything but the slash.
    pub(crate) fn name_char() -> Self {
        Self::Set(CharSet::outside_ranges(vec![('/', '/')]))
    }

    /// A node any number of times.
    pub(crate) fn zero_or_more(self) -> Self {
        Self::Many(Box::new(self))
    }

    /// A node once or not at all.
    pub(crate) fn zero_or_one(self) -> Self {
        Self::Alt(vec![self, Self::Seq(Vec::new())])
    }

    /// A node at least once.
    pub(crate) fn one_or_more(self) -> Self {
        Self::Some(Box::new(self))
    }

    /// What never fits anything.
    pub(crate) fn match_nothing() -> Self {
        Self::Alt(Vec::new())
    }

    /// The fewest characters this takes.
    fn min_len(&self) -> usize {
        match self {
            Self::Char(_) | Self::Set(_) => 1,
            Self::Seq(nodes) => nodes
                .iter()
                .map(Self::min_len)
                .fold(0, usize::saturating_add),
            // No alternative at all never fits, so it is longer than any text.
            Self::Alt(nodes) => nodes.iter().map(Self::min_len).min().unwrap_or(usize::MAX),
            Self::Some(inner) => inner.min_len(),
            Self::Many(_) | Self::Ahead(..) | Self::Start | Self::End => 0,
        }
    }
}

#[derive(Debug, Clone)]
enum Op {
    Char(char),
    Set(CharSet),
    /// Either of two ways.
    Split(usize, usize),
    Jump(usize),
    Ahead(Lookahead, usize),
    Start,
    End,
    Fail,
    Accept,
}

/// Consecutive characters of a text.
#[derive(Debug, Clone)]
struct CharRun {
    /// Only at the beginning of the text.
    first: bool,
    chars: Vec<char>,
}

impl CharRun {
    fn is_in(&self, text: &[char]) -> bool {
        let Some((&head, _)) = self.chars.split_first() else {
            return true;
        };
        if self.first || text.len() < self.chars.len() {
            return text.starts_with(&self.chars);
        }
        let last = text.len() - self.chars.len();
        (0..=last).any(|at| text[at] == head && text[at..].starts_with(&self.chars))
    }
}

/// A pattern ready to be tried.
#[derive(Debug, Clone)]
pub(crate) struct PatternMachine {
    case: CaseSensitivity,
    least: usize,
    /// Runs of characters that occur in every text that fits.
    runs: Vec<CharRun>,
    /// The looks ahead first, each behind those it holds; the pattern last.
    programs: Vec<Vec<Op>>,
}

impl PatternMachine {
    /// Compiles a pattern that has to fit from the beginning of the text.
    pub(crate) fn new(node: &Node, case: CaseSensitivity) -> Self {
        let mut machine = Self {
            case,
            // Rejects short texts without running the machine.
            least: node.min_len(),
            runs: Vec::new(),
            programs: Vec::new(),
        };
        machine.runs = machine.runs_of(node);
        machine.compile_program(node);
        machine
    }

    fn runs_of(&self, node: &Node) -> Vec<CharRun> {
        let Node::Seq(nodes) = node else {
            return Vec::new();
        };
        let mut runs: Vec<CharRun> = Vec::new();
        let mut open = false;
        for (at, node) in nodes.iter().enumerate() {
            if let Node::Char(c) = node {
                if !open {
                    let begins = at.checked_sub(1).map(|before| &nodes[before]);
                    runs.push(CharRun {
                        first: at == 1 && begins == Some(&Node::Start),
                        chars: Vec::new(),
                    });
                }
                if let Some(run) = runs.last_mut() {
                    run.chars.push(self.fold_char(*c));
                }
            }
            open = matches!(node, Node::Char(_));
        }
        runs
    }

    fn fold_char(&self, c: char) -> char {
        match self.case {
            CaseSensitivity::Matters => c,
            CaseSensitivity::Folded => fold_case(c),
        }
    }

    /// Whether the pattern may fit this text, or any beginning of it; with
    /// [`CaseSensitivity::Folded`], every character has gone through [`fold_case`]. Much cheaper than trying: most patterns name a folder or an
    /// ending that most paths do not hold.
    pub(crate) fn may_fit(&self, folded: &[char]) -> bool {
        self.runs.iter().all(|run| run.is_in(folded))
    }

    fn compile_program(&mut self, node: &Node) -> usize {
        let mut code = Vec::new();
        self.emit_node(node, &mut code);
        code.push(Op::Accept);
        self.programs.push(code);
        self.programs.len() - 1
    }

    fn emit_node(&mut self, node: &Node, code: &mut Vec<Op>) {
        match node {
            Node::Char(c) => code.push(Op::Char(self.fold_char(*c))),
            Node::Set(set) => code.push(Op::Set(set.clone())),
            Node::Seq(nodes) => nodes.iter().for_each(|n| self.emit_node(n, code)),
            Node::Alt(nodes) => self.emit_choice(nodes, code),
            // Placeholder until the length of the body is known.
            Node::Many(inner) => {
                let split = code.len();
                code.push(Op::Fail);
                self.emit_node(inner, code);
                code.push(Op::Jump(split));
                code[split] = Op::Split(split + 1, code.len());
            }
            Node::Some(inner) => {
                let start = code.len();
                self.emit_node(inner, code);
                code.push(Op::Split(start, code.len() + 1));
            }
            Node::Ahead(look, inner) => {
                // Compiled first, so its table exists when this program runs.
                let program = self.compile_program(inner);
                code.push(Op::Ahead(*look, program));
            }
            Node::Start => code.push(Op::Start),
            Node::End => code.push(Op::End),
        }
    }

    fn emit_choice(&mut self, nodes: &[Node], code: &mut Vec<Op>) {
        let Some((last, firsts)) = nodes.split_last() else {
            code.push(Op::Fail);
            return;
        };
        let mut ends = Vec::new();
        for node in firsts {
            let split = code.len();
            code.push(Op::Fail);
            self.emit_node(node, code);
            ends.push(code.len());
            code.push(Op::Fail);
            code[split] = Op::Split(split + 1, code.len());
        }
        self.emit_node(last, code);
        let after = code.len();
        for end in ends {
            code[end] = Op::Jump(after);
        }
    }

    /// Whether the pattern fits from the beginning of the text.
    pub(crate) fn fits_text(&self, text: &[char]) -> bool {
        if text.len() < self.least {
            return false;
        }
        let mut tables: Vec<Vec<bool>> = Vec::with_capacity(self.programs.len());
        for code in &self.programs {
            let table = self.run_program(code, text, &tables);
            // In the order of compilation: a program only refers to earlier ones.
            tables.push(table);
        }
        tables
            .last()
            .is_some_and(|t| t.first().copied().unwrap_or(false))
    }

    /// For every place in the text, whether the program fits from there.
    fn run_program(&self, code: &[Op], text: &[char], tables: &[Vec<bool>]) -> Vec<bool> {
        let mut table = vec![false; text.len() + 1];
        let mut later = vec![false; code.len()];
        let mut now = vec![false; code.len()];
        for at in (0..=text.len()).rev() {
            let here = text.get(at).map(|&c| self.fold_char(c));
            now.fill(false);
            // Jumps go back only at the end of a repetition, so a few rounds settle it: as many
            // as repetitions are nested.
            loop {
                let mut changed = false;
                for pc in (0..code.len()).rev() {
                    let fits = match &code[pc] {
                        Op::Char(c) => here == Some(*c) && later[pc + 1],
                        Op::Set(set) => {
                            later[pc + 1] && here.is_some_and(|c| set.contains_char(c, self.case))
                        }
                        Op::Split(one, other) => now[*one] || now[*other],
                        Op::Jump(to) => now[*to],
                        Op::Ahead(look, program) => {
                            now[pc + 1] && tables[*program][at] == (*look == Lookahead::Fits)
                        }
                        Op::Start => at == 0 && now[pc + 1],
                        Op::End => at == text.len() && now[pc + 1],
                        Op::Fail => false,
                        Op::Accept => true,
                    };
                    changed |= fits && !now[pc];
                    now[pc] |= fits;
                }
                if !changed {
                    break;
                }
            }
            table[at] = now[0];
            std::mem::swap(&mut now, &mut later);
        }
        table
    }
}

/// One spelling for both cases, as JavaScript has it: through upper case, and
/// nothing beyond ASCII becomes ASCII.
pub(crate) fn fold_case(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_uppercase();
    }
    let mut upper = c.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(u), None) if !u.is_ascii() => u,
        _ => c,
    }
}

fn lower_case(c: char) -> char {
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(l), None) => l,
        _ => c,
    }
}
