//! One line in a log that does not grow for ever.

use std::io::{self, Write};
use std::path::Path;

use remora_core::time::format_rfc3339;

use crate::Folder;

const MAX_LOG_BYTES: u64 = 1024 * 1024;

/// Appends a line with its time. Line ends within the text are shown as
/// spaces, so that one event is one line. A full log becomes `.1`.
pub fn append_line(file: &Path, now: i64, text: &str) -> io::Result<()> {
    let (folder, name) = Folder::of_file(file)?;
    let mut log = folder.append_file(name)?;
    if log.metadata()?.len() > MAX_LOG_BYTES {
        let full = Path::new(name).with_extension("log.1");
        // Two hooks may rotate at once, and the older file is lost; a log can
        // bear that, a lock would cost every line.
        folder.rename_file(name, full.as_os_str())?;
        log = folder.append_file(name)?;
    }
    let line = format!(
        "{} {}\n",
        format_rfc3339(now),
        text.replace(['\n', '\r'], " ")
    );
    log.write_all(line.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_full_log_is_put_aside() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("hook.log");
        append_line(&file, 0, "first\nline").unwrap();
        assert_eq!(
            fs::read_to_string(&file).unwrap(),
            "1970-01-01T00:00:00.000Z first line\n"
        );
        fs::write(&file, vec![b'x'; 1024 * 1024 + 1]).unwrap();
        append_line(&file, 0, "next").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), 1);
        assert!(dir.path().join("hook.log.1").exists());
    }
}
