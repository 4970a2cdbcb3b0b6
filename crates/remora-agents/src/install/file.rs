//! The same on disk: a settings file is edited, backed up and put back.
//!
//! A file is only ever replaced as a whole, after a check that no other process
//! has changed it meanwhile. What was written is noted in a record, so that
//! taking our entries out again can give back the very bytes that were there.

mod record;
mod replace;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{EntryChange, InstallError, Installable, PriorState, Removable, SettingsEdit};
use record::{InstallRecord, RecordedFile, SettingsFileHash};
use replace::{SwapOutcome, swap_file};

/// How often a file may change under our hands before we give up.
const MAX_ATTEMPTS: usize = 5;

/// What an installation did, or would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallReport {
    /// The settings file, with symbolic links followed.
    pub file: PathBuf,
    /// What became of it.
    pub outcome: FileOutcome,
    /// Our entries that changed.
    pub changes: Vec<EntryChange>,
    /// What in the file keeps the client from using it.
    pub warnings: Vec<String>,
    /// Where the bytes before our first change are kept, if there were any.
    pub backup: Option<PathBuf>,
}

/// What became of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileOutcome {
    /// All was as it should be.
    Unchanged,
    /// The file did not exist and was created.
    Created,
    /// Our entries were put in, brought up to date or cut out.
    Edited,
    /// It has the bytes again that it had before us.
    Restored,
    /// It was made by us and held nothing else.
    Deleted,
}

/// Why a settings file was left as it is.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The disk said no.
    #[error("cannot {action} {}: {source}", file.display())]
    Io {
        /// The step that failed, as a verb phrase.
        action: &'static str,
        /// The file that the step was about.
        file: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The text cannot be edited.
    #[error("{}: {source}", file.display())]
    Settings {
        /// The settings file.
        file: PathBuf,
        /// What is wrong with its contents.
        source: InstallError,
    },
    /// Not text at all.
    #[error("{}: not UTF-8 text", .0.display())]
    NotText(PathBuf),
    /// The user has made the file read-only, which we respect.
    #[error("{}: the file is read-only; make it writable or install elsewhere", .0.display())]
    ReadOnly(PathBuf),
    /// Somebody else keeps writing to it.
    #[error("{}: the file keeps changing; try again later", .0.display())]
    Busy(PathBuf),
}

impl FileError {
    fn io_error(action: &'static str, file: &Path) -> impl FnOnce(io::Error) -> Self {
        let file = file.to_owned();
        move |source| Self::Io {
            action,
            file,
            source,
        }
    }
}

/// What [`install_into_file`] would do, and the text that it would write. Writes nothing.
pub fn preview_install(
    file: &Path,
    piece: &dyn Installable,
) -> Result<(InstallReport, String), FileError> {
    let state = SettingsFile::read(file)?;
    let edited = state.plan_edit(piece)?;
    let outcome = match (&state.bytes, edited.changes.is_empty()) {
        (_, true) => FileOutcome::Unchanged,
        (None, _) => FileOutcome::Created,
        (Some(_), _) => FileOutcome::Edited,
    };
    let report = state.build_report(outcome, edited.changes, edited.warnings);
    Ok((report, edited.text))
}

/// Puts our entries into a settings file; makes file and folders if need be.
/// `record` is a file in our own data directory, the same for all settings.
pub fn install_into_file(
    file: &Path,
    record: &Path,
    piece: &dyn Installable,
) -> Result<InstallReport, FileError> {
    let _lock = record::lock_record(record)?;
    // The client or an editor may write the file between our reading and our writing.
    for _ in 0..MAX_ATTEMPTS {
        if let Some(report) = try_install(file, record, piece)? {
            return Ok(report);
        }
    }
    Err(FileError::Busy(file.to_owned()))
}

/// Takes our entries out of a settings file. Its bytes are then as before the
/// installation, unless something else has changed it since.
pub fn uninstall_from_file(
    file: &Path,
    record: &Path,
    ours: &dyn Removable,
) -> Result<InstallReport, FileError> {
    let _lock = record::lock_record(record)?;
    for _ in 0..MAX_ATTEMPTS {
        if let Some(report) = try_uninstall(file, record, ours)? {
            return Ok(report);
        }
    }
    Err(FileError::Busy(file.to_owned()))
}

/// A settings file as it was found.
struct SettingsFile {
    target: PathBuf,
    bytes: Option<Vec<u8>>,
}

impl SettingsFile {
    fn read(file: &Path) -> Result<Self, FileError> {
        let target =
            replace::resolve_symlinks(file).map_err(FileError::io_error("follow", file))?;
        let bytes =
            replace::read_optional(&target).map_err(FileError::io_error("read", &target))?;
        Ok(Self { target, bytes })
    }

    fn as_text(&self) -> Result<Option<&str>, FileError> {
        self.bytes
            .as_deref()
            .map(str::from_utf8)
            .transpose()
            .map_err(|_| FileError::NotText(self.target.clone()))
    }

    fn map_settings_error<T>(&self, result: Result<T, InstallError>) -> Result<T, FileError> {
        result.map_err(|source| FileError::Settings {
            file: self.target.clone(),
            source,
        })
    }

    fn plan_edit(&self, piece: &dyn Installable) -> Result<SettingsEdit, FileError> {
        let text = self.as_text()?;
        self.map_settings_error(piece.plan(text))
    }

    fn backup_path(&self) -> PathBuf {
        let mut name = self.target.clone().into_os_string();
        name.push(".remora-backup");
        name.into()
    }

    fn build_report(
        &self,
        outcome: FileOutcome,
        changes: Vec<EntryChange>,
        warnings: Vec<String>,
    ) -> InstallReport {
        let backup = Some(self.backup_path()).filter(|backup| backup.exists());
        InstallReport {
            file: self.target.clone(),
            outcome,
            changes,
            warnings,
            backup,
        }
    }

    fn swap_contents(&self, new: &[u8]) -> Result<SwapOutcome, FileError> {
        let metadata = fs::metadata(&self.target).ok();
        // A rename would replace a read-only file all the same; its owner
        // protected it on purpose.
        if metadata.is_some_and(|metadata| metadata.permissions().readonly()) {
            return Err(FileError::ReadOnly(self.target.clone()));
        }
        swap_file(&self.target, self.bytes.as_deref(), new)
            .map_err(FileError::io_error("write", &self.target))
    }

    /// The bytes to go back to one day, if this file is ours to change for the
    /// first time, or was changed by others after us.
    fn restore_bytes(
        &self,
        piece: &dyn Installable,
        kept: &PriorState,
    ) -> Result<Option<Vec<u8>>, FileError> {
        let Some(text) = self.as_text()? else {
            return Ok(None);
        };
        if !self.map_settings_error(piece.is_there(text))? {
            return Ok(Some(text.as_bytes().to_vec()));
        }
        let clean = self.map_settings_error(piece.remove(text, kept))?;
        Ok(Some(clean.text.into_bytes()))
    }
}

/// `None`: the file changed meanwhile.
fn try_install(
    file: &Path,
    record: &Path,
    piece: &dyn Installable,
) -> Result<Option<InstallReport>, FileError> {
    let state = SettingsFile::read(file)?;
    let edited = state.plan_edit(piece)?;
    if edited.changes.is_empty() {
        let report = state.build_report(FileOutcome::Unchanged, edited.changes, edited.warnings);
        return Ok(Some(report));
    }
    let backup = state.backup_path();
    let mut notes = InstallRecord::read(record);
    let old = notes.remove_entry(&state.target);
    let first = old.is_none();
    let mut written = RecordedFile::new(&state.target, edited.text.as_bytes());
    written.kept = edited.kept;
    let mut intact = false;
    if let Some(old) = old {
        // Unchanged since our last write, so the backup is still what to go
        // back to.
        intact = state.bytes.as_deref().is_some_and(|b| old.after.is_of(b))
            && old.before.as_ref().is_none_or(|b| b.is_of_file(&backup));
        written.folders = old.folders;
        // What was there before our first installation, not before this one.
        written.kept.join(old.kept);
        written.before = old.before;
    }
    let folder = state.target.parent().unwrap_or(Path::new("/"));
    let made = replace::make_folders(folder).map_err(FileError::io_error("create", folder))?;
    written
        .folders
        .extend(made.iter().map(|made| made.to_string_lossy().into_owned()));
    // Best effort: a failed installation leaves nothing behind that was not
    // there.
    let undo = |error| {
        if first {
            let _ = fs::remove_file(&backup);
        }
        made.iter()
            .rev()
            .for_each(|made| drop(fs::remove_dir(made)));
        error
    };
    if !intact {
        let base = state.restore_bytes(piece, &written.kept)?;
        written.before = base.as_deref().map(SettingsFileHash::from_bytes);
        if let Some(base) = base {
            replace::write_file(&backup, &base, Some(&state.target))
                .map_err(FileError::io_error("write", &backup))
                .map_err(&undo)?;
        }
    }
    // Noted before it is done: an interrupted installation can then be undone.
    let before = InstallRecord::read(record);
    notes.add_entry(written);
    notes.write(record).map_err(&undo)?;
    match state.swap_contents(edited.text.as_bytes()) {
        Ok(SwapOutcome::Raced) => Ok(None),
        Ok(SwapOutcome::Done) => {
            let outcome = match state.bytes {
                None => FileOutcome::Created,
                Some(_) => FileOutcome::Edited,
            };
            Ok(Some(state.build_report(
                outcome,
                edited.changes,
                edited.warnings,
            )))
        }
        Err(error) => {
            let _ = before.write(record);
            Err(undo(error))
        }
    }
}

/// `None`: the file changed meanwhile.
fn try_uninstall(
    file: &Path,
    record: &Path,
    ours: &dyn Removable,
) -> Result<Option<InstallReport>, FileError> {
    let state = SettingsFile::read(file)?;
    let backup = state.backup_path();
    let mut notes = InstallRecord::read(record);
    let old = notes.remove_entry(&state.target);
    let edited = match state.as_text()? {
        Some(text) => {
            let none = PriorState::default();
            let kept = old.as_ref().map_or(&none, |old| &old.kept);
            Some(state.map_settings_error(ours.remove(text, kept))?)
        }
        None => None,
    };
    let (changes, warnings, outcome) = match edited {
        None => (Vec::new(), Vec::new(), FileOutcome::Unchanged),
        Some(edited) => {
            let Some(outcome) = take_out(&state, &edited, old.as_ref(), &backup)? else {
                return Ok(None);
            };
            (edited.changes, edited.warnings, outcome)
        }
    };
    // After the file: an interruption before this point can still be undone.
    replace::delete_if_exists(&backup).map_err(FileError::io_error("remove", &backup))?;
    if let Some(old) = &old {
        for folder in old.folders.iter().rev() {
            // Only empty ones go. One that holds another file of ours goes with
            // that.
            if fs::remove_dir(folder).is_err() {
                notes.hand_over_folder(folder);
            }
        }
        notes.write(record)?;
    }
    Ok(Some(state.build_report(outcome, changes, warnings)))
}

fn take_out(
    state: &SettingsFile,
    edited: &SettingsEdit,
    old: Option<&RecordedFile>,
    backup: &Path,
) -> Result<Option<FileOutcome>, FileError> {
    let bytes = state.bytes.as_deref().unwrap_or_default();
    // Only a file that is unchanged since our last write can be put back byte for
    // byte.
    let intact = old.is_some_and(|old| old.after.is_of(bytes));
    let made = old.is_some_and(|old| old.before.is_none());
    // A file that we made and that holds nothing else goes again.
    if made && (intact || (!edited.changes.is_empty() && matches!(edited.text.trim(), "" | "{}"))) {
        let now = replace::read_optional(&state.target)
            .map_err(FileError::io_error("read", &state.target))?;
        if now.as_deref() != Some(bytes) {
            return Ok(None);
        }
        replace::delete_if_exists(&state.target)
            .map_err(FileError::io_error("remove", &state.target))?;
        return Ok(Some(FileOutcome::Deleted));
    }
    // The very bytes, not an equal text: formatting and order are the user's.
    if intact
        && let Some(before) = old.and_then(|old| old.before.as_ref())
        && let Ok(Some(original)) = replace::read_optional(backup)
        && before.is_of(&original)
    {
        let done = state.swap_contents(&original)? == SwapOutcome::Done;
        return Ok(done.then_some(FileOutcome::Restored));
    }
    if edited.changes.is_empty() {
        return Ok(Some(FileOutcome::Unchanged));
    }
    let done = state.swap_contents(edited.text.as_bytes())? == SwapOutcome::Done;
    Ok(done.then_some(FileOutcome::Edited))
}

#[cfg(test)]
mod tests;
