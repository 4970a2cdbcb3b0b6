//! Markdown as lines of plain text, as one would read it aloud. Tables become
//! lines, long code is left out, and the length is bounded.

use remora_core::text::truncate_bytes;

use crate::sentence::{self, BlockKind, strip_markup};

/// Characters of an agent's last message that are kept.
const MAX_MESSAGE_CHARS: usize = 2_400;
/// Characters of the prompts of a turn that are kept.
const MAX_PROMPT_CHARS: usize = 1_500;
/// Bytes of a text that are read; what follows is pasted material.
const MAX_READ_BYTES: usize = 24_000;
/// Code of up to so many lines is part of what is said, such as a command to run.
const MAX_CODE_LINES: usize = 2;
/// Characters of one line.
const MAX_LINE_CHARS: usize = 600;
/// A truncated line of fewer characters is left out.
const MIN_CUT_CHARS: usize = 40;
/// Marks where lines were left out.
const GAP_MARK: &str = "[…]";

/// An agent's last message as lines.
pub(crate) fn read_message(markdown: &str) -> Vec<String> {
    bound_lines(read_lines(markdown), MAX_MESSAGE_CHARS)
}

/// The prompts of a turn, one entry each, without what the client wrote.
pub(crate) fn read_prompts(prompts: &[&str]) -> Vec<String> {
    let said = prompts.iter().filter(|p| !sentence::is_not_spoken(p));
    let each = said
        .map(|prompt| read_lines(prompt).join(" "))
        .filter(|text| !text.is_empty());
    bound_lines(each.collect(), MAX_PROMPT_CHARS)
}

fn read_lines(markdown: &str) -> Vec<String> {
    let text = sentence::without_tagged(truncate_bytes(markdown, MAX_READ_BYTES));
    let mut lines = Vec::new();
    let mut prose = String::new();
    let mut code: Option<Vec<&str>> = None;
    for line in text.lines() {
        let body = line.trim();
        if body.starts_with("```") || body.starts_with("~~~") {
            if let Some(held) = code.take() {
                push_code(&mut lines, &held);
            } else {
                flush_prose(&mut lines, &mut prose);
                code = Some(Vec::new());
            }
        } else if let Some(held) = &mut code {
            held.push(body);
        } else if body.starts_with('|') && body.len() > 1 {
            flush_prose(&mut lines, &mut prose);
            lines.extend(table_row(body));
        } else {
            prose.push_str(line);
            prose.push('\n');
        }
    }
    // The text may have been cut before the closing fence.
    if let Some(held) = code {
        push_code(&mut lines, &held);
    }
    flush_prose(&mut lines, &mut prose);
    lines
}

fn flush_prose(lines: &mut Vec<String>, prose: &mut String) {
    for block in sentence::parse_blocks(prose) {
        let text = strip_markup(&block.text);
        if text.is_empty() {
            continue;
        }
        let text = sentence::one_line(&text, MAX_LINE_CHARS);
        lines.push(match block.kind {
            BlockKind::Item { .. } => format!("- {text}"),
            BlockKind::Heading if !text.ends_with([':', '：']) => format!("{text}:"),
            BlockKind::Heading | BlockKind::Paragraph => text,
        });
    }
    prose.clear();
}

fn push_code(lines: &mut Vec<String>, code: &[&str]) {
    let held: Vec<&str> = code.iter().copied().filter(|l| !l.is_empty()).collect();
    if !held.is_empty() && held.len() <= MAX_CODE_LINES {
        lines.push(sentence::one_line(&held.join("; "), MAX_LINE_CHARS));
    }
}

/// The cells of a table row; `None` for the line between head and body.
fn table_row(body: &str) -> Option<String> {
    let cells: Vec<String> = body
        .trim_matches('|')
        .split('|')
        .map(|cell| strip_markup(cell.trim()))
        .collect();
    let tells = |cell: &String| cell.contains(|c: char| c.is_alphanumeric());
    let row = cells.join(" | ");
    cells
        .iter()
        .any(tells)
        .then(|| sentence::one_line(&row, MAX_LINE_CHARS))
}

/// At most this many characters, three quarters of them from the beginning: results
/// come first, what is left to do comes last.
fn bound_lines(lines: Vec<String>, max_chars: usize) -> Vec<String> {
    let length = |line: &String| line.chars().count() + 1;
    if lines.iter().map(length).sum::<usize>() <= max_chars {
        return lines;
    }
    let mut tail: Vec<String> = Vec::new();
    let mut room = max_chars / 4;
    for line in lines.iter().rev() {
        match room.checked_sub(length(line)) {
            Some(left) => room = left,
            None => break,
        }
        tail.push(line.clone());
    }
    tail.reverse();
    let mut head: Vec<String> = Vec::new();
    let mut room = max_chars - max_chars / 4;
    for line in &lines[..lines.len() - tail.len()] {
        let Some(left) = room.checked_sub(length(line)) else {
            // A few words of a line say nothing.
            if room > MIN_CUT_CHARS {
                head.push(sentence::one_line(line, room - 1));
            }
            break;
        };
        room = left;
        head.push(line.clone());
    }
    if head.len() + tail.len() < lines.len() {
        head.push(GAP_MARK.to_owned());
    }
    head.extend(tail);
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_read_as_lines() {
        let message = "The importer **works**.\n\n## Results\n\n| size | before | after |\n|---|:--:|---|\n\
            | 200 MB | 1.9 GB | 20 MB |\n\n- `src/a.rs` – reads [bytes](http://x.y)\n\n```sh\nmake release\n```\n\
            ```rust\nfn a() {}\nfn b() {}\nfn c() {}\n```\nNot done: the rest.";
        assert_eq!(
            read_message(message),
            [
                "The importer works.",
                "Results:",
                "size | before | after",
                "200 MB | 1.9 GB | 20 MB",
                "- src/a.rs – reads bytes",
                "make release",
                "Not done: the rest.",
            ]
        );
    }

    #[test]
    fn of_a_long_message_both_ends_stay() {
        let lines: Vec<String> = (0..400).map(|n| format!("Line {n} says this.")).collect();
        let message = lines.join("\n\n");
        let lines = read_message(&message);
        let chars: usize = lines.iter().map(|l| l.chars().count() + 1).sum();
        assert!(chars <= MAX_MESSAGE_CHARS + GAP_MARK.len(), "{chars}");
        assert_eq!(lines[0], "Line 0 says this.");
        assert_eq!(lines.last().unwrap(), "Line 399 says this.");
        assert!(lines.iter().any(|line| line == GAP_MARK));
    }

    #[test]
    fn what_the_client_wrote_is_no_prompt() {
        let prompts = ["<system-reminder>x</system-reminder>", "fix it\nplease", ""];
        assert_eq!(read_prompts(&prompts), ["fix it please"]);
    }
}
