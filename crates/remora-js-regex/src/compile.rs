//! Turns the syntax tree into instructions for the matcher.
//!
//! Every part becomes a fixed number of instructions, so that the program is proportional to
//! the pattern. Inside a look-behind the parts come in reverse order and match backwards.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::class::{Class, fold_unit};
use super::node::{Node, ParsedPattern, Quantifier, Repeat, UNLIMITED};

/// A compiled pattern: its instructions, the classes they use, and how many registers they need.
#[derive(Debug, Clone)]
pub(super) struct Program {
    pub(super) code: Vec<Inst>,
    pub(super) classes: Vec<Class>,
    pub(super) registers: usize,
}

/// One instruction. `back` matches the code unit before the position and moves backwards;
/// a `reg` names the first of two registers that belong to a group, loop or look-around.
#[derive(Debug, Clone)]
pub(super) enum Inst {
    /// One code unit, folded already if `fold`.
    Unit {
        unit: u16,
        fold: bool,
        back: bool,
    },
    /// One code unit of `classes[class]`.
    Class {
        class: usize,
        fold: bool,
        back: bool,
    },
    LineStart {
        multiline: bool,
    },
    LineEnd {
        multiline: bool,
    },
    WordBoundary {
        negated: bool,
    },
    /// What the one of `groups` that took part has captured.
    BackReference {
        groups: Arc<[usize]>,
        fold: bool,
        back: bool,
    },
    /// Stores the position.
    Save {
        reg: usize,
    },
    /// Goes to `first`, and on failure to `second`.
    Split {
        first: usize,
        second: usize,
    },
    Jump {
        to: usize,
    },
    /// Begins to count iterations.
    LoopStart {
        reg: usize,
    },
    /// Goes on with the next iteration (the following instruction), or to `exit`.
    LoopHead {
        reg: usize,
        count: Quantifier,
        exit: usize,
    },
    /// Enters an iteration and resets the groups in it.
    LoopEnter {
        reg: usize,
        captures: Range<usize>,
    },
    /// Ends an iteration, which fails if it was optional and consumed nothing.
    LoopEnd {
        reg: usize,
        min: u32,
        head: usize,
    },
    /// Begins a look-around; a negated one goes to `exit` when its body fails.
    Lookaround {
        reg: usize,
        negated: bool,
        exit: usize,
    },
    /// The body of a look-around has matched.
    LookaroundEnd {
        reg: usize,
        negated: bool,
    },
    Match,
}

/// Compiles a parsed pattern.
pub(super) fn compile_pattern(parsed: &ParsedPattern) -> Program {
    let program = Program {
        code: Vec::new(),
        classes: Vec::new(),
        // Groups have the first registers, so that those of a group follow from its number.
        registers: parsed.captures * 2,
    };
    let mut compiler = Compiler {
        program,
        names: &parsed.names,
    };
    compiler.compile_node(&parsed.root, false);
    compiler.emit(Inst::Match);
    compiler.program
}

/// The first of the two registers of a capturing group.
pub(super) fn group_register(group: usize) -> usize {
    group.saturating_sub(1) * 2
}

struct Compiler<'a> {
    program: Program,
    names: &'a BTreeMap<String, Arc<[usize]>>,
}

impl Compiler<'_> {
    /// Appends an instruction and returns where it is.
    fn emit(&mut self, inst: Inst) -> usize {
        self.program.code.push(inst);
        self.next_address() - 1
    }

    /// Where the next instruction will be.
    fn next_address(&self) -> usize {
        self.program.code.len()
    }

    /// Two fresh registers.
    fn allocate_registers(&mut self) -> usize {
        let first = self.program.registers;
        self.program.registers += 2;
        first
    }

    /// Lets the instruction at `at` lead to the next one: its jump, second way or exit.
    fn lead_here(&mut self, at: usize) {
        let here = self.next_address();
        match self.program.code.get_mut(at) {
            Some(Inst::Jump { to: target } | Inst::Split { second: target, .. }) => *target = here,
            Some(Inst::LoopHead { exit, .. } | Inst::Lookaround { exit, .. }) => *exit = here,
            _ => {}
        }
    }

    fn compile_node(&mut self, node: &Node, back: bool) {
        match node {
            Node::Empty => {}
            &Node::Unit { unit, fold } => {
                // Folded once here instead of at every step of the matcher.
                let unit = if fold { fold_unit(unit) } else { unit };
                self.emit(Inst::Unit { unit, fold, back });
            }
            Node::Class { class, fold } => {
                self.program.classes.push(class.clone());
                let class = self.program.classes.len() - 1;
                self.emit(Inst::Class {
                    class,
                    fold: *fold,
                    back,
                });
            }
            &Node::LineStart { multiline } => {
                self.emit(Inst::LineStart { multiline });
            }
            &Node::LineEnd { multiline } => {
                self.emit(Inst::LineEnd { multiline });
            }
            &Node::WordBoundary { negated } => {
                self.emit(Inst::WordBoundary { negated });
            }
            &Node::BackReference { group, fold } => {
                self.emit(Inst::BackReference {
                    groups: Arc::new([group]),
                    fold,
                    back,
                });
            }
            Node::NamedReference { name, fold } => {
                let groups = self.names.get(name).cloned().unwrap_or_default();
                self.emit(Inst::BackReference {
                    groups,
                    fold: *fold,
                    back,
                });
            }
            Node::Capture { group, body } => {
                let start = group_register(*group);
                // Backwards the end of a group is reached first. References need start and
                // end in order, whichever way the group was matched.
                let (first, last) = if back {
                    (start + 1, start)
                } else {
                    (start, start + 1)
                };
                self.emit(Inst::Save { reg: first });
                self.compile_node(body, back);
                self.emit(Inst::Save { reg: last });
            }
            Node::Lookaround {
                behind,
                negated,
                body,
            } => self.compile_lookaround(*behind, *negated, body),
            Node::Sequence(parts) => self.compile_sequence(parts, back),
            Node::Alternatives(parts) => self.compile_alternatives(parts, back),
            Node::Repeat(repeat) => self.compile_repeat(repeat, back),
        }
    }

    fn compile_sequence(&mut self, parts: &[Node], back: bool) {
        if back {
            for part in parts.iter().rev() {
                self.compile_node(part, back);
            }
        } else {
            for part in parts {
                self.compile_node(part, back);
            }
        }
    }

    fn compile_alternatives(&mut self, parts: &[Node], back: bool) {
        let Some((last, others)) = parts.split_last() else {
            return;
        };
        let mut jumps = Vec::with_capacity(others.len());
        for part in others {
            // The zeros here and below are placeholders until `lead_here` knows the
            // address.
            let split = self.emit(Inst::Split {
                first: self.next_address() + 1,
                second: 0,
            });
            self.compile_node(part, back);
            jumps.push(self.emit(Inst::Jump { to: 0 }));
            self.lead_here(split);
        }
        self.compile_node(last, back);
        for jump in jumps {
            self.lead_here(jump);
        }
    }

    fn compile_lookaround(&mut self, behind: bool, negated: bool, body: &Node) {
        let reg = self.allocate_registers();
        let lookaround = self.emit(Inst::Lookaround {
            reg,
            negated,
            exit: 0,
        });
        self.compile_node(body, behind);
        self.emit(Inst::LookaroundEnd { reg, negated });
        self.lead_here(lookaround);
    }

    fn compile_repeat(&mut self, repeat: &Repeat, back: bool) {
        let Quantifier { min, max, greedy } = repeat.count;
        let simple = !repeat.body_can_be_empty && repeat.captures.is_empty();
        match (min, max) {
            // The three common forms need no counter. A body that can be empty must use the
            // general loop, which rejects empty iterations; so must one with captures that
            // repeats, because each iteration resets them.
            (0, 1) if !repeat.body_can_be_empty => {
                let split = self.emit_fork(greedy);
                self.compile_node(&repeat.body, back);
                self.join(split, greedy);
            }
            (0, UNLIMITED) if simple => {
                let split = self.emit_fork(greedy);
                self.compile_node(&repeat.body, back);
                self.emit(Inst::Jump { to: split });
                self.join(split, greedy);
            }
            (1, UNLIMITED) if simple => {
                let body = self.next_address();
                self.compile_node(&repeat.body, back);
                let behind = self.next_address() + 1;
                let (first, second) = if greedy {
                    (body, behind)
                } else {
                    (behind, body)
                };
                self.emit(Inst::Split { first, second });
            }
            _ => {
                let reg = self.allocate_registers();
                self.emit(Inst::LoopStart { reg });
                let head = self.emit(Inst::LoopHead {
                    reg,
                    count: repeat.count,
                    exit: 0,
                });
                self.emit(Inst::LoopEnter {
                    reg,
                    captures: repeat.captures.clone(),
                });
                self.compile_node(&repeat.body, back);
                self.emit(Inst::LoopEnd { reg, min, head });
                self.lead_here(head);
            }
        }
    }

    /// A choice between the body that follows (preferred if `greedy`) and what comes behind it.
    fn emit_fork(&mut self, greedy: bool) -> usize {
        let body = self.next_address() + 1;
        self.emit(if greedy {
            Inst::Split {
                first: body,
                second: 0,
            }
        } else {
            Inst::Split {
                first: 0,
                second: body,
            }
        })
    }

    /// Fills in where the body of the choice at `split` ends: here.
    fn join(&mut self, split: usize, greedy: bool) {
        let here = self.next_address();
        if let Some(Inst::Split { first, second }) = self.program.code.get_mut(split) {
            *(if greedy { second } else { first }) = here;
        }
    }
}
