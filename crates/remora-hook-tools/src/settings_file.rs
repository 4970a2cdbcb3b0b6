//! A settings file on disk, edited as a whole: read, changed by a function,
//! backed up and replaced, unless somebody else has changed it meanwhile.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use remora_files::{
    DraftName, Durability, FileAccess, MAX_SETTINGS_BYTES, ReadError, ReplaceOptions, StagedFile,
    read_file, replace_file,
};

use crate::edit::{EditError, EditedSettings};

/// As many symbolic links as the system itself follows.
const MAX_SYMLINKS: usize = 40;
/// What the file before the last edit is called, behind its own name.
const BACKUP_SUFFIX: &str = ".before-edit";

/// Why a file was left as it is.
#[derive(Debug, thiserror::Error)]
pub enum SettingsFileError {
    /// The disk said no.
    #[error("cannot {action} {}: {source}", file.display())]
    Io {
        /// The step that failed, as a verb.
        action: &'static str,
        /// The file that the step was about.
        file: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The text cannot be edited.
    #[error("{}: {source}", file.display())]
    Edit {
        /// The settings file.
        file: PathBuf,
        /// What is wrong with it.
        source: EditError,
    },
    /// Not text at all.
    #[error("{}: not UTF-8 text", .0.display())]
    NotText(PathBuf),
    /// The user has made the file read-only, which we respect.
    #[error("{}: the file is read-only; make it writable first", .0.display())]
    ReadOnly(PathBuf),
    /// Somebody else wrote to it.
    #[error("{}: the file was changed meanwhile; try again", .0.display())]
    Raced(PathBuf),
}

/// A settings file as it was found.
#[derive(Debug)]
pub struct SettingsFile {
    target: PathBuf,
    bytes: Option<Vec<u8>>,
}

impl SettingsFile {
    /// Reads a file, which need not be there; links are followed and stay links.
    pub fn read(file: &Path) -> Result<Self, SettingsFileError> {
        let failed = |action| {
            move |source| SettingsFileError::Io {
                action,
                file: file.to_path_buf(),
                source,
            }
        };
        let target = resolve_symlinks(file).map_err(failed("follow"))?;
        let bytes = read_optional(&target).map_err(failed("read"))?;
        Ok(Self { target, bytes })
    }

    /// Where it is, with links followed.
    pub fn path(&self) -> &Path {
        &self.target
    }

    /// What it holds; `None` if it is not there.
    pub fn text(&self) -> Result<Option<&str>, SettingsFileError> {
        let text = self.bytes.as_deref().map(str::from_utf8).transpose();
        text.map_err(|_| SettingsFileError::NotText(self.target.clone()))
    }

    /// The result of an edit, with the file named if it fails.
    pub fn edit(
        &self,
        change: impl FnOnce(Option<&str>) -> Result<EditedSettings, EditError>,
    ) -> Result<EditedSettings, SettingsFileError> {
        change(self.text()?).map_err(|source| SettingsFileError::Edit {
            file: self.target.clone(),
            source,
        })
    }

    /// Puts a new text in its place, and the old one beside it. Says where the
    /// old one is.
    pub fn replace(&self, text: &str) -> Result<Option<PathBuf>, SettingsFileError> {
        let failed = |action, file: &Path| {
            let file = file.to_path_buf();
            move |source| SettingsFileError::Io {
                action,
                file,
                source,
            }
        };
        let Some(old) = &self.bytes else {
            let folder = self.target.parent().unwrap_or(Path::new("/"));
            fs::create_dir_all(folder).map_err(failed("create", folder))?;
            self.swap(text, FileAccess::Umask)?;
            return Ok(None);
        };
        let like = fs::metadata(&self.target).map_err(failed("read", &self.target))?;
        if like.permissions().readonly() {
            return Err(SettingsFileError::ReadOnly(self.target.clone()));
        }
        let access = FileAccess::SameOwner(&like);
        let mut backup = self.target.clone().into_os_string();
        backup.push(BACKUP_SUFFIX);
        let backup = PathBuf::from(backup);
        replace_file(&backup, old, &durable(access)).map_err(failed("write", &backup))?;
        self.swap(text, access)?;
        Ok(Some(backup))
    }

    /// Takes the file away again, if it still holds what was read: the way back
    /// from an edit that made it.
    pub fn remove(&self) -> Result<(), SettingsFileError> {
        let failed = |source| SettingsFileError::Io {
            action: "remove",
            file: self.target.clone(),
            source,
        };
        if read_optional(&self.target).map_err(failed)? != self.bytes {
            return Err(SettingsFileError::Raced(self.target.clone()));
        }
        match self.bytes {
            Some(_) => fs::remove_file(&self.target).map_err(failed),
            None => Ok(()),
        }
    }

    fn swap(&self, text: &str, access: FileAccess<'_>) -> Result<(), SettingsFileError> {
        let failed = |source| SettingsFileError::Io {
            action: "write",
            file: self.target.clone(),
            source,
        };
        let staged = StagedFile::stage_bytes(&self.target, text.as_bytes(), &durable(access));
        let staged = staged.map_err(failed)?;
        // As late as can be: between this look and the rename others may still write.
        if read_optional(&self.target).map_err(failed)? != self.bytes {
            return Err(SettingsFileError::Raced(self.target.clone()));
        }
        staged.commit().map_err(failed)
    }
}

fn durable(access: FileAccess<'_>) -> ReplaceOptions<'_> {
    ReplaceOptions {
        draft: DraftName::Unique,
        access,
        durability: Durability::File,
    }
}

fn read_optional(file: &Path) -> io::Result<Option<Vec<u8>>> {
    match read_file(file, MAX_SETTINGS_BYTES) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(ReadError::Missing) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Dotfiles are often links into a repository; the link must stay a link.
fn resolve_symlinks(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..MAX_SYMLINKS {
        if !fs::symlink_metadata(&path).is_ok_and(|m| m.is_symlink()) {
            return Ok(path);
        }
        let target = fs::read_link(&path)?;
        path = path.parent().unwrap_or(Path::new("/")).join(target);
    }
    Err(io::Error::other("too many symbolic links"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_old_text_is_kept_and_a_race_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a/settings.json");
        let new = SettingsFile::read(&file).unwrap();
        assert_eq!(new.text().unwrap(), None);
        assert_eq!(new.replace("{}").unwrap(), None);
        let found = SettingsFile::read(&file).unwrap();
        let backup = found.replace("{ }").unwrap().unwrap();
        assert_eq!(fs::read_to_string(&backup).unwrap(), "{}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "{ }");
        let error = found.replace("{  }").unwrap_err();
        assert!(matches!(error, SettingsFileError::Raced(_)), "{error}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "{ }");
        let left = fs::read_dir(folder.path().join("a")).unwrap().count();
        assert_eq!(left, 2);
    }

    #[test]
    fn a_file_is_removed_only_as_it_was_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.json");
        fs::write(&file, "{}").unwrap();
        let read = SettingsFile::read(&file).unwrap();
        fs::write(&file, "{ }").unwrap();
        let error = read.remove().unwrap_err();
        assert!(matches!(error, SettingsFileError::Raced(_)), "{error}");
        assert!(file.exists());
        SettingsFile::read(&file).unwrap().remove().unwrap();
        assert!(!file.exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link_and_the_mode_stays() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("real.json");
        let link = folder.path().join("settings.json");
        fs::write(&real, "{}").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("real.json", &link).unwrap();
        SettingsFile::read(&link).unwrap().replace("{ }").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "{ }");
        assert_eq!(
            fs::metadata(&real).unwrap().permissions().mode() & 0o777,
            0o640
        );
        fs::set_permissions(&real, fs::Permissions::from_mode(0o440)).unwrap();
        let error = SettingsFile::read(&link)
            .unwrap()
            .replace("{}")
            .unwrap_err();
        assert!(matches!(error, SettingsFileError::ReadOnly(_)), "{error}");
    }
}
