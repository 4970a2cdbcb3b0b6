//! One line in a log that does not grow for ever.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use remora_protocol::time::rfc3339;

const LIMIT: u64 = 1024 * 1024;

/// Appends a line with its moment. Line ends within the text are shown as
/// spaces, so that one event is one line. A full log becomes `.1`.
pub fn append_line(file: &Path, now: i64, text: &str) -> io::Result<()> {
    if fs::metadata(file).is_ok_and(|m| m.len() > LIMIT) {
        fs::rename(file, file.with_extension("log.1"))?;
    }
    let line = format!("{} {}\n", rfc3339(now), text.replace(['\n', '\r'], " "));
    open(file)?.write_all(line.as_bytes())
}

fn open(file: &Path) -> io::Result<fs::File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)
}

#[cfg(test)]
mod tests {
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
