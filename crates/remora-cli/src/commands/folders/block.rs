//! The part of a file that is ours: put in, renewed and removed again, with
//! every other byte as it was. Works on bytes, because a user's file may hold
//! any. Pure.

use std::collections::HashSet;

const OPEN_TAG: &str = "<remora-activity>";
const CLOSE_TAG: &str = "</remora-activity>";

/// What a file holds besides our part, and what we added around that.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct BlockSurroundings {
    /// The file is ours altogether.
    pub(super) created: bool,
    /// What was put between the user's text and our part.
    pub(super) before: String,
}

/// Why a file is left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockError {
    /// A tag without its partner, or several pairs.
    Tags,
}

impl BlockError {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Tags => "its <remora-activity> tags are not one pair; fix or remove them",
        }
    }
}

/// Where our part is, from the first byte of its tag to the end of the
/// closing tag's line.
fn find_block(bytes: &[u8]) -> Result<Option<(usize, usize)>, BlockError> {
    let lines: Vec<&[u8]> = bytes.split_inclusive(|b| *b == b'\n').collect();
    let mut open = None;
    let mut found = None;
    let mut at = 0;
    let mut code = CodeFences::default();
    for (number, line) in lines.iter().enumerate() {
        let text = line.trim_ascii();
        let end = at + line.len();
        if open.is_none() && code.contains_line(&lines, number) {
            // Not ours.
        } else if text == OPEN_TAG.as_bytes() {
            if open.is_some() || found.is_some() {
                return Err(BlockError::Tags);
            }
            open = Some(at);
        } else if text == CLOSE_TAG.as_bytes() {
            match open.take() {
                Some(start) if found.is_none() => found = Some((start, end)),
                _ => return Err(BlockError::Tags),
            }
        }
        at = end;
    }
    match open {
        Some(_) => Err(BlockError::Tags),
        None => Ok(found),
    }
}

/// Code between fences, in which tags are an example.
#[derive(Default)]
struct CodeFences {
    /// The line after the code that was met last.
    end: usize,
    /// Fences of which none is closed from here on, so that none is looked for
    /// twice.
    open: HashSet<Fence>,
}

/// What a fence is made of, and of how many.
type Fence = (u8, usize);

impl CodeFences {
    /// Whether a line belongs to code. A fence that is never closed begins none:
    /// our part may come after it.
    fn contains_line(&mut self, lines: &[&[u8]], number: usize) -> bool {
        if number < self.end {
            return true;
        }
        let Some((fence, _)) = parse_fence(lines[number]) else {
            return false;
        };
        if self.open.contains(&fence) {
            return false;
        }
        let closes = |line: &&[u8]| match self::parse_fence(line) {
            Some(((mark, length), rest)) => mark == fence.0 && length >= fence.1 && rest.is_empty(),
            None => false,
        };
        match lines[number + 1..].iter().position(closes) {
            Some(at) => self.end = number + at + 2,
            None => {
                self.open.insert(fence);
            }
        }
        number < self.end
    }
}

/// The fence that a line is, and the words behind it.
fn parse_fence(line: &[u8]) -> Option<(Fence, &[u8])> {
    let text = line.trim_ascii();
    let mark = *text.first().filter(|mark| matches!(mark, b'`' | b'~'))?;
    let length = text.iter().take_while(|b| **b == mark).count();
    let rest = text[length..].trim_ascii();
    // Three backticks around a word are a word.
    let is_fence = length >= 3 && !(mark == b'`' && rest.contains(&b'`'));
    is_fence.then_some(((mark, length), rest))
}

/// How lines end in a text: as its first one does.
fn line_end(bytes: &[u8]) -> &'static str {
    match bytes.iter().position(|b| *b == b'\n') {
        Some(at) if at > 0 && bytes[at - 1] == b'\r' => "\r\n",
        _ => "\n",
    }
}

/// Whether a text holds our part.
pub(super) fn is_in(bytes: &[u8]) -> bool {
    matches!(find_block(bytes), Ok(Some(_)))
}

/// The file with these lines as our part. `known` is what was noted when it was
/// last written.
pub(super) fn insert_block(
    old: Option<&[u8]>,
    lines: &[String],
    known: Option<&BlockSurroundings>,
) -> Result<(Vec<u8>, BlockSurroundings), BlockError> {
    let Some(old) = old else {
        let around = BlockSurroundings {
            created: true,
            before: String::new(),
        };
        return Ok((format_block(lines, "\n").into_bytes(), around));
    };
    let end = line_end(old);
    if let Some((start, stop)) = find_block(old)? {
        let mut new = old[..start].to_vec();
        let mut ours = format_block(lines, end).into_bytes();
        // The user may have removed the line's end after the closing tag.
        if !old[..stop].ends_with(b"\n") {
            ours.truncate(ours.trim_ascii_end().len());
        }
        new.extend_from_slice(&ours);
        new.extend_from_slice(&old[stop..]);
        return Ok((new, known.cloned().unwrap_or_default()));
    }
    let before = match old {
        [] => String::new(),
        text if text.ends_with(b"\n") => end.to_owned(),
        _ => end.repeat(2),
    };
    let mut new = old.to_vec();
    new.extend_from_slice(before.as_bytes());
    new.extend_from_slice(format_block(lines, end).as_bytes());
    let around = BlockSurroundings {
        created: false,
        before,
    };
    Ok((new, around))
}

fn format_block(lines: &[String], end: &str) -> String {
    let mut out = String::new();
    let all = [OPEN_TAG].into_iter();
    let all = all
        .chain(lines.iter().map(String::as_str))
        .chain([CLOSE_TAG]);
    for line in all {
        out.push_str(line);
        out.push_str(end);
    }
    out
}

/// What is left without our part.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BlockRemoval {
    /// Our part is not there.
    AsItWas,
    /// Nothing: the file was ours alone.
    Nothing,
    Text(Vec<u8>),
}

/// Takes our part out, with what was put before it.
pub(super) fn remove_block(
    old: &[u8],
    around: &BlockSurroundings,
) -> Result<BlockRemoval, BlockError> {
    let Some((start, stop)) = find_block(old)? else {
        return Ok(BlockRemoval::AsItWas);
    };
    let head = &old[..start];
    let head = head.strip_suffix(around.before.as_bytes()).unwrap_or(head);
    let tail = &old[stop..];
    if around.created && head.is_empty() && tail.is_empty() {
        return Ok(BlockRemoval::Nothing);
    }
    // What was added behind our part stays on lines of its own.
    let glued = !tail.is_empty() && !head.is_empty() && !head.ends_with(b"\n");
    let gap = if glued { line_end(old) } else { "" };
    Ok(BlockRemoval::Text([head, gap.as_bytes(), tail].concat()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn every_text_comes_back_byte_for_byte() {
        for text in [
            &b""[..],
            b"\n",
            b"# Notes\n",
            b"# Notes",
            b"# Notes\n\n\n",
            b"a\r\nb\r\n",
            b"a\r\nb",
            b"\xef\xbb\xbf# BOM\r\n",
            b"\xff\xfe not text",
            b"say <remora-activity> in a line\n",
            b"```md\n<remora-activity>\nmine\n</remora-activity>\n```\n",
            b"~~~~\r\n~~~\r\n<remora-activity>\r\n~~~~\r\n",
            b"```\nnever closed\n",
            b"  ",
        ] {
            let (one, around) = insert_block(Some(text), &lines("x\ny"), None).unwrap();
            assert!(one.starts_with(text) && one.len() > text.len());
            let (same, _) = insert_block(Some(&one), &lines("x\ny"), Some(&around)).unwrap();
            assert_eq!(same, one);
            let (two, around) = insert_block(Some(&one), &lines("z"), Some(&around)).unwrap();
            assert_ne!(two, one);
            assert_eq!(
                remove_block(&two, &around),
                Ok(BlockRemoval::Text(text.to_vec()))
            );
        }
    }

    #[test]
    fn a_file_of_ours_goes_unless_somebody_added_to_it() {
        let (file, around) = insert_block(None, &lines("x"), None).unwrap();
        assert_eq!(file, b"<remora-activity>\nx\n</remora-activity>\n");
        assert_eq!(remove_block(&file, &around), Ok(BlockRemoval::Nothing));
        let more = [&file[..], b"mine\n"].concat();
        assert_eq!(
            remove_block(&more, &around),
            Ok(BlockRemoval::Text(b"mine\n".to_vec()))
        );
        let (renewed, around) = insert_block(Some(&more), &lines("y"), Some(&around)).unwrap();
        assert_eq!(renewed, b"<remora-activity>\ny\n</remora-activity>\nmine\n");
        assert_eq!(
            remove_block(&renewed, &around),
            Ok(BlockRemoval::Text(b"mine\n".to_vec()))
        );
    }

    #[test]
    fn what_was_edited_around_it_stays() {
        let (file, around) = insert_block(Some(b"a\n"), &lines("x"), None).unwrap();
        let text = String::from_utf8(file).unwrap();
        let edited = text.replace("a\n\n", "b\n").replace("y>\n", "y>\nc");
        assert_eq!(
            remove_block(edited.as_bytes(), &around),
            Ok(BlockRemoval::Text(b"b\nc".to_vec()))
        );
        let (file, around) = insert_block(Some(b"# Mine\r\nno end"), &lines("x"), None).unwrap();
        assert_eq!(
            remove_block(&[&file[..], b"added\n"].concat(), &around),
            Ok(BlockRemoval::Text(b"# Mine\r\nno end\r\nadded\n".to_vec()))
        );
        assert_eq!(remove_block(b"a\n", &around), Ok(BlockRemoval::AsItWas));
        let bare = b"<remora-activity>\nx\n</remora-activity>";
        let (renewed, _) = insert_block(Some(bare), &lines("x"), None).unwrap();
        assert_eq!(renewed, bare);
    }

    #[test]
    fn tags_that_are_not_one_pair_are_left_alone() {
        for text in [
            "<remora-activity>\nx\n",
            "x\n</remora-activity>\n",
            "<remora-activity>\n<remora-activity>\n</remora-activity>\n",
            "<remora-activity>\n</remora-activity>\n<remora-activity>\n</remora-activity>\n",
            "<remora-activity>\n</remora-activity>\n</remora-activity>\n",
        ] {
            assert_eq!(
                insert_block(Some(text.as_bytes()), &[], None),
                Err(BlockError::Tags)
            );
            let around = BlockSurroundings::default();
            assert_eq!(
                remove_block(text.as_bytes(), &around),
                Err(BlockError::Tags)
            );
        }
    }
}
