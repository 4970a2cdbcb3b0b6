//! A line diff for edits that came without a patch. Exact for small texts;
//! large ones are cut at lines that stand once in both.

use std::collections::HashMap;

use super::Hunk;

const CONTEXT_LINES: usize = 3;
/// Cells of the table that the exact diff may fill.
const MAX_TABLE_CELLS: usize = 90_000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum DiffStep {
    Same,
    Gone,
    Come,
}

/// The patch between two texts; the first line of both counts as `first`.
pub(crate) fn diff_texts(old: &str, new: &str, first: usize) -> Vec<Hunk> {
    let old: Vec<&str> = old.lines().collect();
    let new: Vec<&str> = new.lines().collect();
    let steps = diff_lines(&old, &new);
    let mut found: Vec<Hunk> = Vec::new();
    let (mut o, mut n) = (0, 0);
    let mut quiet = usize::MAX;
    for (at, step) in steps.iter().enumerate() {
        if *step == DiffStep::Same {
            if quiet < CONTEXT_LINES
                && let Some(hunk) = found.last_mut()
            {
                hunk.lines.push(format!(" {}", old[o]));
                hunk.old_lines += 1;
                hunk.new_lines += 1;
            }
            quiet = quiet.saturating_add(1);
            o += 1;
            n += 1;
            continue;
        }
        let back = steps[..at]
            .iter()
            .rev()
            .take_while(|s| **s == DiffStep::Same)
            .count();
        // The lines after the last change are its context already.
        let spent = if found.is_empty() {
            0
        } else {
            back.min(CONTEXT_LINES)
        };
        if found.is_empty() || back > 2 * CONTEXT_LINES {
            let lead = back.min(CONTEXT_LINES);
            found.push(Hunk {
                old_start: first + o - lead,
                new_start: first + n - lead,
                old_lines: lead,
                new_lines: lead,
                lines: old[o - lead..o].iter().map(|l| format!(" {l}")).collect(),
            });
        } else if let Some(hunk) = found.last_mut() {
            for line in &old[o - (back - spent)..o] {
                hunk.lines.push(format!(" {line}"));
                hunk.old_lines += 1;
                hunk.new_lines += 1;
            }
        }
        quiet = 0;
        if let Some(hunk) = found.last_mut() {
            if *step == DiffStep::Gone {
                hunk.lines.push(format!("-{}", old[o]));
                hunk.old_lines += 1;
                o += 1;
            } else {
                hunk.lines.push(format!("+{}", new[n]));
                hunk.new_lines += 1;
                n += 1;
            }
        }
    }
    found
}

fn diff_lines(old: &[&str], new: &[&str]) -> Vec<DiffStep> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[head..], &new[head..]);
    let tail = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let (old, new) = (&old[..old.len() - tail], &new[..new.len() - tail]);
    let mut steps = vec![DiffStep::Same; head];
    // What both sides share at the ends is most of an edit, so the exact table
    // is the usual way.
    if old.len().saturating_mul(new.len()) <= MAX_TABLE_CELLS {
        diff_exact(old, new, &mut steps);
    } else {
        diff_anchored(old, new, &mut steps);
    }
    steps.extend(vec![DiffStep::Same; tail]);
    steps
}

/// Large texts are cut at lines that stand once in both, in the same order.
fn diff_anchored(old: &[&str], new: &[&str], steps: &mut Vec<DiffStep>) {
    let (mut o, mut n) = (0, 0);
    for (at, place) in find_anchors(old, new) {
        diff_between(&old[o..at], &new[n..place], steps);
        steps.push(DiffStep::Same);
        (o, n) = (at + 1, place + 1);
    }
    diff_between(&old[o..], &new[n..], steps);
}

fn diff_between(old: &[&str], new: &[&str], steps: &mut Vec<DiffStep>) {
    if old.len().saturating_mul(new.len()) <= MAX_TABLE_CELLS / 10 {
        diff_exact(old, new, steps);
    } else {
        // Between two anchors a block this large was rewritten; pairing its
        // lines would only find chance.
        steps.extend(old.iter().map(|_| DiffStep::Gone));
        steps.extend(new.iter().map(|_| DiffStep::Come));
    }
}

/// The longest row of lines that stand once in both texts.
fn find_anchors(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let mut once: HashMap<&str, (usize, usize, usize, usize)> = HashMap::new();
    for (at, line) in old.iter().enumerate() {
        let entry = once.entry(line).or_default();
        (entry.0, entry.1) = (entry.0 + 1, at);
    }
    for (at, line) in new.iter().enumerate() {
        if let Some(entry) = once.get_mut(line) {
            (entry.2, entry.3) = (entry.2 + 1, at);
        }
    }
    let mut pairs: Vec<(usize, usize)> = once
        .into_values()
        .filter(|e| e.0 == 1 && e.2 == 1)
        .map(|e| (e.1, e.3))
        .collect();
    // Sorted by the old side, so that a rising row on the new side is an order
    // both share.
    pairs.sort_unstable();
    // The smallest end of a rising row of each length, by index into `pairs`.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].1 < pair.1);
        before.push(length.checked_sub(1).map(|l| ends[l]));
        if length == ends.len() {
            ends.push(at);
        } else {
            ends[length] = at;
        }
    }
    let mut row = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(at) = next {
        row.push(pairs[at]);
        next = before[at];
    }
    row.reverse();
    row
}

/// The longest common subsequence, removals before additions.
fn diff_exact(old: &[&str], new: &[&str], steps: &mut Vec<DiffStep>) {
    let width = new.len() + 1;
    let mut longest = vec![0u32; (old.len() + 1) * width];
    for o in (0..old.len()).rev() {
        for n in (0..new.len()).rev() {
            longest[o * width + n] = if old[o] == new[n] {
                longest[(o + 1) * width + n + 1] + 1
            } else {
                longest[(o + 1) * width + n].max(longest[o * width + n + 1])
            };
        }
    }
    let (mut o, mut n) = (0, 0);
    while o < old.len() || n < new.len() {
        if o < old.len() && n < new.len() && old[o] == new[n] {
            steps.push(DiffStep::Same);
            o += 1;
            n += 1;
        } else if n == new.len()
            || (o < old.len() && longest[(o + 1) * width + n] >= longest[o * width + n + 1])
        {
            steps.push(DiffStep::Gone);
            o += 1;
        } else {
            steps.push(DiffStep::Come);
            n += 1;
        }
    }
}
