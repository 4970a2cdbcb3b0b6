//! Keys: read from a file that only its owner can read, and never shown.

use std::fmt;
use std::io::Read as _;
use std::path::Path;

/// A key. Printing it shows that there is one, not which.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a key; blanks around it do not count. `None` if nothing is left, or
    /// if it holds what no header can.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_plain = text.bytes().all(|b| b.is_ascii_graphic());
        (!text.is_empty() && is_plain).then(|| Self(text.to_owned()))
    }

    /// The key itself, for the one header that carries it.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// The longest key file that is read.
const MAX_KEY_BYTES: u64 = 8 * 1024;

/// Why a key file gives no key.
#[derive(Debug, PartialEq, Eq)]
pub enum KeyFileError {
    /// There is none.
    Missing,
    /// Others could read it.
    Shared,
    /// It cannot be read, or holds no key.
    Unusable(String),
}

impl fmt::Display for KeyFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("there is no such file"),
            Self::Shared => f.write_str("others can read it; `chmod 600` it"),
            Self::Unusable(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for KeyFileError {}

/// Reads a key from a regular file that only its owner can read.
pub fn read_key_file(path: &Path) -> Result<Secret, KeyFileError> {
    let file = remora_files::open_regular(path).map_err(|error| {
        if error.is_missing() {
            KeyFileError::Missing
        } else {
            KeyFileError::Unusable(error.to_string())
        }
    })?;
    let unusable = |error: std::io::Error| KeyFileError::Unusable(error.to_string());
    // Asked of the open file: the name may have come to mean another one.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        if file.metadata().map_err(unusable)?.permissions().mode() & 0o077 != 0 {
            return Err(KeyFileError::Shared);
        }
    }
    let mut text = String::new();
    file.take(MAX_KEY_BYTES)
        .read_to_string(&mut text)
        .map_err(unusable)?;
    Secret::new(&text).ok_or_else(|| KeyFileError::Unusable("it does not hold one key".to_owned()))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_key_is_never_printed() {
        let secret = Secret::new(" k-123\n").unwrap();
        assert_eq!(secret.reveal(), "k-123");
        assert_eq!(format!("{secret:?}"), "Secret(..)");
    }

    #[test]
    fn what_no_header_can_hold_is_no_key() {
        for text in ["", " \n", "a b", "a\nb", "schl\u{fc}ssel"] {
            assert_eq!(Secret::new(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_key_file_must_be_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        assert_eq!(read_key_file(&file), Err(KeyFileError::Missing));
        fs::write(&file, "k-123\n").unwrap();
        for (mode, expected) in [
            (0o600, Ok(Secret::new("k-123").unwrap())),
            (0o400, Ok(Secret::new("k-123").unwrap())),
            (0o640, Err(KeyFileError::Shared)),
            (0o604, Err(KeyFileError::Shared)),
        ] {
            fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
            assert_eq!(read_key_file(&file), expected, "{mode:o}");
        }
    }
}
