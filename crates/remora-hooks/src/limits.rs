//! Caps what may enter a model's context. Longer texts go to a file; a pointer
//! and a preview take their place.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// UTF-16 units one text may have, counted as the client does (a JavaScript
/// string's length).
pub(crate) const MAX_TEXT_UTF16_UNITS: usize = 10_000;
/// UTF-16 units a text of a background handler may have. The client has no cap
/// there (10,106 units were seen to arrive whole); without one a single handler
/// could fill the context.
pub(crate) const MAX_LATE_TEXT_UTF16_UNITS: usize = 100_000;
/// UTF-16 units of the preview.
const PREVIEW_UTF16_UNITS: usize = 2_000;
/// UTF-16 units that all notes for the host's safety check share.
pub(crate) const MAX_CLASSIFIER_UTF16_UNITS: usize = 2_000;

/// Where long texts go.
#[derive(Debug)]
pub(crate) struct Spill<'a> {
    dir: Option<&'a Path>,
    stem: String,
    count: usize,
}

impl<'a> Spill<'a> {
    /// `stem` keeps the files of one event apart from those of others.
    pub(crate) fn new(dir: Option<&'a Path>, stem: String) -> Self {
        Self {
            dir,
            stem,
            count: 0,
        }
    }

    /// The text itself, or a pointer to the file that now holds it.
    pub(crate) fn cap_text(&mut self, text: String, warnings: &mut Vec<String>) -> String {
        self.cap_longer(text, MAX_TEXT_UTF16_UNITS, warnings)
    }

    /// The same with another cap.
    pub(crate) fn cap_longer(
        &mut self,
        text: String,
        max_utf16_units: usize,
        warnings: &mut Vec<String>,
    ) -> String {
        // Counted per text and before joining, as in the client: two texts of 6,000 stay.
        let units = text.encode_utf16().count();
        if units <= max_utf16_units {
            return text;
        }
        self.count += 1;
        let preview = truncate_utf16(&text, PREVIEW_UTF16_UNITS);
        match self.write_text(&text) {
            Ok(path) => format!(
                "<persisted-output>\n{units} characters are too many for the context; all of them are in {}\nThe first {PREVIEW_UTF16_UNITS}:\n{preview}\n</persisted-output>",
                path.display()
            ),
            Err(problem) => {
                warnings.push(format!(
                    "a text of {units} characters was cut because {problem}"
                ));
                format!(
                    "<persisted-output>\n{units} characters are too many for the context and could not be kept.\nThe first {PREVIEW_UTF16_UNITS}:\n{preview}\n</persisted-output>"
                )
            }
        }
    }

    fn write_text(&self, text: &str) -> Result<PathBuf, String> {
        let dir = self.dir.ok_or("the host named no place for long texts")?;
        let path = dir.join(format!("{}-{}.txt", self.stem, self.count));
        write_private(dir, &path, text)
            .map_err(|e| format!("{} cannot be written ({e})", path.display()))?;
        Ok(path)
    }
}

/// Writes a file that only its owner can read, into a folder of the same kind.
/// The folder may be in a shared temporary directory: another user who created
/// it, or put a file or a link there first, must not get the text.
fn write_private(dir: &Path, path: &Path, text: &str) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    // Succeeds for a folder that exists, whoever owns it; hence the check below.
    builder.create(dir)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
        // Not `metadata`: a link to a folder of ours would pass as ours.
        let meta = fs::symlink_metadata(dir)?;
        let ours = meta.is_dir() && meta.uid() == rustix::process::geteuid().as_raw();
        if !ours {
            return Err(io::Error::other("the folder is a link or someone else's"));
        }
        if meta.permissions().mode() & 0o077 != 0 {
            fs::set_permissions(dir, fs::Permissions::from_mode(0o700))?;
        }
    }
    // An earlier firing may have left a text under the same name. Removing a link removes
    // the link alone, and `create_new` then refuses whatever appears in between.
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    options.open(path)?.write_all(text.as_bytes())
}

/// The first `units` UTF-16 units, on a character boundary.
pub(crate) fn truncate_utf16(text: &str, units: usize) -> &str {
    let mut left = units;
    for (at, c) in text.char_indices() {
        match left.checked_sub(c.len_utf16()) {
            Some(rest) => left = rest,
            None => return &text[..at],
        }
    }
    text
}

/// A terminal sequence is sent only if it is nothing but bells and the title
/// and notification commands; anything else drops it whole. Other sequences
/// could move the cursor, type into the terminal or read the clipboard.
pub(crate) fn terminal_sequence_is_safe(text: &str) -> bool {
    const SAFE_OSC_COMMANDS: [&str; 6] = ["0", "1", "2", "9", "99", "777"];
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c == '\u{7}' {
            rest = &rest[1..];
            continue;
        }
        let Some(body) = rest.strip_prefix("\u{1b}]") else {
            return false;
        };
        let bell = body.find('\u{7}').map(|at| (at, 1));
        let string_end = body.find("\u{1b}\\").map(|at| (at, 2));
        let Some((at, len)) = [bell, string_end].into_iter().flatten().min() else {
            return false;
        };
        let inside = &body[..at];
        let command = inside.split(';').next().unwrap_or_default();
        if !SAFE_OSC_COMMANDS.contains(&command) || inside.chars().any(char::is_control) {
            return false;
        }
        rest = &body[at + len..];
    }
    !text.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cap_counts_utf16_units() {
        let mut warnings = Vec::new();
        let dir = tempfile::tempdir().unwrap();
        let mut spill = Spill::new(Some(dir.path()), "t".into());
        let emoji = "\u{1f600}".repeat(5_000);
        assert_eq!(spill.cap_text(emoji.clone(), &mut warnings), emoji);
        let pointer = spill.cap_text("\u{1f600}".repeat(5_001), &mut warnings);
        assert!(pointer.starts_with("<persisted-output>"));
        assert!(
            fs::read_to_string(dir.path().join("t-1.txt"))
                .unwrap()
                .chars()
                .count()
                == 5_001
        );
        assert!(warnings.is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn long_texts_are_for_their_owner_and_never_go_through_a_link() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let root = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let long = || "x".repeat(MAX_TEXT_UTF16_UNITS + 1);
        let mut warnings = Vec::new();
        let dir = root.path().join("spill");
        let file = dir.join("t-1.txt");
        Spill::new(Some(&dir), "t".into()).cap_text(long(), &mut warnings);
        assert_eq!((mode(&dir), mode(&file)), (0o700, 0o600));
        // Someone knew the name and was there first.
        let bait = root.path().join("bait");
        fs::write(&bait, "theirs").unwrap();
        fs::remove_file(&file).unwrap();
        symlink(&bait, &file).unwrap();
        Spill::new(Some(&dir), "t".into()).cap_text(long(), &mut warnings);
        assert_eq!(fs::read_to_string(&bait).unwrap(), "theirs");
        assert_eq!(fs::read_to_string(&file).unwrap(), long());
        assert!(warnings.is_empty(), "{warnings:?}");
        // The same with the folder.
        let (elsewhere, linked) = (root.path().join("elsewhere"), root.path().join("linked"));
        fs::create_dir(&elsewhere).unwrap();
        symlink(&elsewhere, &linked).unwrap();
        Spill::new(Some(&linked), "t".into()).cap_text(long(), &mut warnings);
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].contains("is a link"), "{warnings:?}");
    }

    #[test]
    fn only_titles_bells_and_notices_reach_the_terminal() {
        for (text, safe) in [
            ("\u{7}", true),
            ("\u{1b}]0;title\u{7}\u{7}", true),
            ("\u{1b}]777;notify;a;b\u{1b}\\", true),
            ("\u{1b}]52;c;AAAA\u{7}", false),
            ("\u{1b}[2J", false),
            ("\u{1b}]0;open", false),
            ("text", false),
            ("", false),
        ] {
            assert_eq!(terminal_sequence_is_safe(text), safe, "{text:?}");
        }
    }
}
