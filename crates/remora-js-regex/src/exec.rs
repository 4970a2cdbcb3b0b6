//! The matcher: runs a program by backtracking on an explicit stack, within a step budget.
//!
//! Every change of a register is noted on the stack, so that going back undoes it.

use std::ops::Range;

use super::BudgetUsedUp;
use super::class::{fold_unit, is_line_end, is_word};
use super::compile::{Inst, Program, group_register};
use super::node::UNLIMITED;

/// The value of a capture register that holds no position.
const UNSET_REGISTER: usize = usize::MAX;
/// How many entries the backtracking stack may have, whatever the budget: about 24 MB.
const MAX_STACK_ENTRIES: usize = 1 << 20;

/// Whether `program` matches anywhere in `subject`.
pub(super) fn is_match(
    program: &Program,
    subject: &[u16],
    budget: u64,
) -> Result<bool, BudgetUsedUp> {
    let registers = vec![UNSET_REGISTER; program.registers];
    let mut matcher = RegexMatcher {
        program,
        subject,
        registers,
        stack: Vec::new(),
        left: budget,
    };
    // The end of the subject is a start as well: an empty match there counts.
    for start in 0..=subject.len() {
        // A failed attempt has undone all its changes: the registers are unset again.
        if matcher.match_at(start)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// An entry of the backtracking stack.
#[derive(Debug, Clone, Copy)]
enum BacktrackFrame {
    /// Another way to go on: the instruction and the position in the subject.
    Branch { pc: usize, pos: usize },
    /// The former value of a register.
    Restore { reg: usize, value: usize },
}

struct RegexMatcher<'a> {
    program: &'a Program,
    subject: &'a [u16],
    registers: Vec<usize>,
    stack: Vec<BacktrackFrame>,
    left: u64,
}

/// Where to go on (instruction and position), or `None` for failure.
type NextStep = Option<(usize, usize)>;

impl RegexMatcher<'_> {
    fn match_at(&mut self, start: usize) -> Result<bool, BudgetUsedUp> {
        let program = self.program;
        let mut next = Some((0, start));
        loop {
            let Some((pc, pos)) = next.or_else(|| self.backtrack()) else {
                return Ok(false);
            };
            self.charge_steps(1)?;
            next = match program.code.get(pc) {
                Some(Inst::Match) | None => return Ok(true),
                Some(inst) => self.execute_instruction(inst, pc, pos)?,
            };
        }
    }

    /// Performs one instruction.
    fn execute_instruction(
        &mut self,
        inst: &Inst,
        pc: usize,
        pos: usize,
    ) -> Result<NextStep, BudgetUsedUp> {
        let here = Some((pc + 1, pos));
        Ok(match *inst {
            Inst::Unit { unit, fold, back } => self
                .consume_unit(pos, back)
                .filter(|&(found, _)| {
                    if fold {
                        fold_unit(found) == unit
                    } else {
                        found == unit
                    }
                })
                .map(|(_, pos)| (pc + 1, pos)),
            Inst::Class { class, fold, back } => {
                let class = self.program.classes.get(class);
                self.consume_unit(pos, back)
                    .filter(|&(found, _)| class.is_some_and(|class| class.matches(found, fold)))
                    .map(|(_, pos)| (pc + 1, pos))
            }
            Inst::LineStart { multiline } => here.filter(|_| {
                self.consume_unit(pos, true)
                    .is_none_or(|(unit, _)| multiline && is_line_end(unit))
            }),
            Inst::LineEnd { multiline } => here.filter(|_| {
                self.consume_unit(pos, false)
                    .is_none_or(|(unit, _)| multiline && is_line_end(unit))
            }),
            Inst::WordBoundary { negated } => {
                let word = |back| {
                    self.consume_unit(pos, back)
                        .is_some_and(|(unit, _)| is_word(unit))
                };
                here.filter(|_| (word(true) != word(false)) != negated)
            }
            Inst::BackReference {
                ref groups,
                fold,
                back,
            } => self
                .back_reference(groups, fold, back, pos)?
                .map(|pos| (pc + 1, pos)),
            Inst::Save { reg } => {
                self.set_register(reg, pos)?;
                here
            }
            Inst::Split { first, second } => {
                self.push(BacktrackFrame::Branch { pc: second, pos })?;
                Some((first, pos))
            }
            Inst::Jump { to } => Some((to, pos)),
            Inst::LoopStart { reg } => {
                self.set_register(reg, 0)?;
                here
            }
            Inst::LoopHead { reg, count, exit } => {
                let done = self.get(reg);
                if done < to_iterations(count.min) {
                    here
                } else if count.max != UNLIMITED && done >= to_iterations(count.max) {
                    Some((exit, pos))
                } else {
                    let (first, second) = if count.greedy {
                        (pc + 1, exit)
                    } else {
                        (exit, pc + 1)
                    };
                    self.push(BacktrackFrame::Branch { pc: second, pos })?;
                    Some((first, pos))
                }
            }
            Inst::LoopEnter { reg, ref captures } => {
                self.enter_loop(reg, captures, pos)?;
                here
            }
            Inst::LoopEnd { reg, min, head } => {
                // An optional iteration that consumes nothing could repeat for ever; the
                // specification lets it fail. A required one may be empty.
                let optional = self.get(reg) > to_iterations(min);
                Some((head, pos)).filter(|_| !optional || self.get(reg + 1) != pos)
            }
            Inst::Lookaround { reg, negated, exit } => {
                // The body cannot come back here before it has ended: nothing to undo.
                self.write_register(reg, self.stack.len());
                self.write_register(reg + 1, pos);
                if negated {
                    self.push(BacktrackFrame::Branch { pc: exit, pos })?;
                }
                here
            }
            Inst::LookaroundEnd { reg, negated: true } => {
                // The body matched, so the look-around fails. Its own exit branch is above
                // that height and goes too; backtracking into it would count as success.
                self.undo_to(self.get(reg));
                None
            }
            Inst::LookaroundEnd {
                reg,
                negated: false,
            } => {
                // A look-around is not entered again once it has matched, but captures made
                // in it stay.
                self.drop_branches(self.get(reg))?;
                Some((pc + 1, self.get(reg + 1)))
            }
            Inst::Match => here,
        })
    }

    /// Begins an iteration: counts it, notes where it starts and resets the groups in it.
    fn enter_loop(
        &mut self,
        reg: usize,
        captures: &Range<usize>,
        pos: usize,
    ) -> Result<(), BudgetUsedUp> {
        self.set_register(reg, self.get(reg).saturating_add(1))?;
        self.set_register(reg + 1, pos)?;
        // Charged one by one: a loop around thousands of groups would otherwise do all this
        // work in a single step.
        for reg in group_register(captures.start)..group_register(captures.end) {
            self.charge_steps(1)?;
            self.set_register(reg, UNSET_REGISTER)?;
        }
        Ok(())
    }

    /// The code unit behind the position (before it, if `back`) and the position beyond it.
    fn consume_unit(&self, pos: usize, back: bool) -> Option<(u16, usize)> {
        let index = if back { pos.checked_sub(1)? } else { pos };
        let unit = self.subject.get(index)?;
        Some((*unit, if back { index } else { index + 1 }))
    }

    /// The position behind what a group has captured; where no group has, `pos` itself.
    fn back_reference(
        &mut self,
        groups: &[usize],
        fold: bool,
        back: bool,
        pos: usize,
    ) -> Result<Option<usize>, BudgetUsedUp> {
        for &group in groups {
            self.charge_steps(1)?;
            let reg = group_register(group);
            let (start, end) = (self.get(reg), self.get(reg + 1));
            if start == UNSET_REGISTER || end == UNSET_REGISTER {
                // A group that took no part matches the empty text, unlike in most other
                // engines.
                continue;
            }
            let Some(captured) = self.subject.get(start..end) else {
                continue;
            };
            let length = captured.len();
            let begin = if back {
                pos.checked_sub(length)
            } else {
                Some(pos)
            };
            let found =
                begin.and_then(|begin| self.subject.get(begin..begin.saturating_add(length)));
            let same = |(a, b): (&u16, &u16)| a == b || fold && fold_unit(*a) == fold_unit(*b);
            let equal = found.is_some_and(|found| captured.iter().zip(found).all(same));
            // By length, or comparing a long capture again and again would be almost free.
            self.charge_steps(u64::try_from(length).unwrap_or(u64::MAX))?;
            return Ok(if !equal {
                None
            } else if back {
                begin
            } else {
                Some(pos + length)
            });
        }
        Ok(Some(pos))
    }

    /// Uses up steps of the budget.
    fn charge_steps(&mut self, steps: u64) -> Result<(), BudgetUsedUp> {
        self.left = self.left.checked_sub(steps).ok_or(BudgetUsedUp)?;
        Ok(())
    }

    fn push(&mut self, entry: BacktrackFrame) -> Result<(), BudgetUsedUp> {
        if self.stack.len() >= MAX_STACK_ENTRIES {
            return Err(BudgetUsedUp);
        }
        self.stack.push(entry);
        Ok(())
    }

    fn get(&self, reg: usize) -> usize {
        self.registers.get(reg).copied().unwrap_or(UNSET_REGISTER)
    }

    /// Changes a register for good.
    fn write_register(&mut self, reg: usize, value: usize) {
        if let Some(register) = self.registers.get_mut(reg) {
            *register = value;
        }
    }

    /// Changes a register until the matcher goes back.
    fn set_register(&mut self, reg: usize, value: usize) -> Result<(), BudgetUsedUp> {
        let old = self.get(reg);
        if old != value {
            self.push(BacktrackFrame::Restore { reg, value: old })?;
            self.write_register(reg, value);
        }
        Ok(())
    }

    /// Goes back to the last open branch and undoes all changes since then.
    fn backtrack(&mut self) -> NextStep {
        while let Some(entry) = self.stack.pop() {
            match entry {
                BacktrackFrame::Branch { pc, pos } => return Some((pc, pos)),
                BacktrackFrame::Restore { reg, value } => self.write_register(reg, value),
            }
        }
        None
    }

    /// Undoes everything above `height` of the stack and forgets the branches there.
    fn undo_to(&mut self, height: usize) {
        while self.stack.len() > height {
            if let Some(BacktrackFrame::Restore { reg, value }) = self.stack.pop() {
                self.write_register(reg, value);
            }
        }
    }

    /// Forgets the branches above `height` of the stack, but not how to undo the changes.
    fn drop_branches(&mut self, height: usize) -> Result<(), BudgetUsedUp> {
        self.charge_steps(
            u64::try_from(self.stack.len().saturating_sub(height)).unwrap_or(u64::MAX),
        )?;
        let mut kept = height;
        for index in height..self.stack.len() {
            if let Some(BacktrackFrame::Restore { .. }) = self.stack.get(index) {
                self.stack.swap(kept, index);
                kept += 1;
            }
        }
        self.stack.truncate(kept);
        Ok(())
    }
}

/// A repeat count as a number of iterations.
fn to_iterations(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
