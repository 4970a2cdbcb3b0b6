//! Boils an output down to what a reader needs: no escape sequences, no
//! progress, repeated lines folded, the beginning and the end kept.

use std::fmt::Write as _;

use super::text;

/// Characters of one kept line.
const MAX_LINE_CHARS: usize = 240;

/// A form of any output in at most `limit` characters. What was left out is
/// marked, so that a reader does not take the rest for the whole.
pub fn compact_output(output: &str, limit: usize) -> String {
    let bounded = text::bound_text(output);
    let plain = text::strip_control_codes(&bounded);
    let lines: Vec<&str> = plain.lines().collect();
    compact_around(&lines, &[], limit)
}

/// Head, the given ranges of lines, and tail.
pub(super) fn compact_around(lines: &[&str], ranges: &[(usize, usize)], limit: usize) -> String {
    let folded = fold_lines(lines);
    let total: usize = folded.iter().map(FoldedLine::cost_chars).sum();
    if total <= limit {
        return render_lines(&folded, &vec![true; folded.len()], limit);
    }
    let mut kept = vec![false; folded.len()];
    // Room for the marks of what is left out.
    let mut room = limit.saturating_sub(limit / 10).saturating_sub(24);
    let mut keep = |at: usize, room: &mut usize, most: usize| -> bool {
        if kept[at] {
            return true;
        }
        let cost = folded[at].cost_chars();
        if cost > *room || cost > most {
            return false;
        }
        *room -= cost;
        kept[at] = true;
        true
    };
    if ranges.is_empty() {
        // The end says more than the beginning: two thirds of the room.
        let mut head = room / 3;
        for at in 0..folded.len() {
            let before = room;
            if !keep(at, &mut room, head) {
                break;
            }
            head = head.saturating_sub(before - room);
        }
        for at in (0..folded.len()).rev() {
            if !keep(at, &mut room, usize::MAX) {
                break;
            }
        }
    } else {
        // The first lines name the run and the last ones its result; the
        // problems get the rest of the room.
        for at in 0..folded.len().min(2) {
            keep(at, &mut room, limit / 8);
        }
        for at in (folded.len().saturating_sub(3)..folded.len()).rev() {
            keep(at, &mut room, limit / 6);
        }
        for (from, to) in ranges {
            let first = folded.partition_point(|f| f.last < *from);
            let mut at = first;
            while at < folded.len() && folded[at].first < *to {
                if !keep(at, &mut room, usize::MAX) {
                    break;
                }
                at += 1;
            }
        }
    }
    render_lines(&folded, &kept, limit)
}

/// One line, or several that say the same.
struct FoldedLine {
    text: String,
    chars: usize,
    first: usize,
    last: usize,
    times: usize,
}

impl FoldedLine {
    fn cost_chars(&self) -> usize {
        self.chars + 1 + if self.times > 1 { 8 } else { 0 }
    }
}

fn fold_lines(lines: &[&str]) -> Vec<FoldedLine> {
    let mut out: Vec<FoldedLine> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let line = line.trim_end();
        if line.trim().is_empty() {
            continue;
        }
        if is_progress(line) {
            continue;
        }
        let text = cut_line(line);
        // Only neighbours: folding lines that are far apart would change what
        // was said when.
        if let Some(last) = out.last_mut()
            && last.text == text
        {
            last.times += 1;
            last.last = at;
            continue;
        }
        out.push(FoldedLine {
            chars: text.chars().count(),
            text,
            first: at,
            last: at,
            times: 1,
        });
    }
    out
}

fn cut_line(line: &str) -> String {
    let indent = line.len() - line.trim_start().len();
    let spaces = line[..indent].chars().count().min(8);
    format!(
        "{}{}",
        " ".repeat(spaces),
        text::truncate_chars(line, MAX_LINE_CHARS)
    )
}

/// Lines that only say that work goes on.
pub(super) fn is_progress(line: &str) -> bool {
    let t = line.trim();
    let first = t.split(' ').next().unwrap_or_default();
    match first {
        "Compiling" | "Downloading" | "Downloaded" | "Checking" | "Fetching" | "Blocking"
        | "Unpacking" | "Get:" | "Collecting" | "Using" | "Receiving" | "Resolving"
        | "Counting" | "Compressing" | "Writing" | "Preparing" | "Selecting" | "Hit:" => {
            t.len() < 200
        }
        "remote:" => ["Counting", "Compressing", "Enumerating", "Total"]
            .iter()
            .any(|w| t["remote:".len()..].trim_start().starts_with(w)),
        "test" => t.ends_with("... ok"),
        "PASS" | "PASS:" => t.contains('['),
        "Enumerating" | "Delta" | "Total" => t.contains("objects") || t.contains("delta"),
        _ => is_bar(t),
    }
}

/// A progress bar: mostly bar characters, with a percentage.
fn is_bar(t: &str) -> bool {
    if t.len() < 12 || !t.contains('%') {
        return false;
    }
    let bar = t
        .chars()
        .filter(|c| {
            matches!(
                c,
                '#' | '=' | '█' | '░' | '▏' | '━' | '╸' | '─' | '>' | '-' | '.'
            )
        })
        .count();
    bar * 2 > t.chars().count() && bar >= 8 || t.starts_with('#') && bar > 8
}

fn render_lines(folded: &[FoldedLine], kept: &[bool], limit: usize) -> String {
    let mut out = String::new();
    let mut left_out = 0_usize;
    for (line, kept) in folded.iter().zip(kept) {
        if !kept {
            left_out += line.times;
            continue;
        }
        if left_out > 0 {
            let _ = writeln!(out, "… {left_out} lines");
            left_out = 0;
        }
        out.push_str(&line.text);
        if line.times > 1 {
            let _ = write!(out, " (×{})", line.times);
        }
        out.push('\n');
    }
    if left_out > 0 {
        let _ = write!(out, "… {left_out} lines");
    }
    text::truncate_chars(out.trim_end(), limit)
}
