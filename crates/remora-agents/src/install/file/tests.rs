use std::thread;

use super::*;
use crate::AgentSpec;
use crate::install::{ChangeKind, InstallRequest, find_entries};

const SPEC: &AgentSpec = &crate::claude_code::SPEC;
const OLD: &[u8] = b"{\n    \"model\": \"opus\",\n    \"env\": { }\n}";

struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn with(bytes: &[u8]) -> Self {
        let desk = Self::new();
        fs::create_dir(desk.path("home")).unwrap();
        fs::write(desk.file(), bytes).unwrap();
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn file(&self) -> PathBuf {
        self.path("home/settings.json")
    }

    fn backup(&self) -> PathBuf {
        self.path("home/settings.json.remora-backup")
    }

    fn record(&self) -> PathBuf {
        self.path("data/installed.json")
    }

    fn install_from(&self, program: &str) -> Result<InstallReport, FileError> {
        let entry = InstallRequest {
            program: Path::new(program),
            spec: SPEC,
        };
        install_into_file(&self.file(), &self.record(), &entry)
    }

    fn install(&self) -> InstallReport {
        self.install_from("/opt/remora").unwrap()
    }

    fn uninstall(&self) -> InstallReport {
        uninstall_from_file(&self.file(), &self.record(), SPEC).unwrap()
    }

    fn read(&self) -> String {
        fs::read_to_string(self.file()).unwrap()
    }

    /// Everything in the settings' folder, by name.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.path("home"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

#[test]
fn what_was_there_comes_back_to_the_byte() {
    let desk = Desk::with(OLD);
    let report = desk.install();
    assert_eq!(report.outcome, FileOutcome::Edited);
    assert_eq!(report.file, desk.file());
    assert_eq!(report.backup, Some(desk.backup()));
    assert_eq!(report.changes.len(), SPEC.registered.len());
    assert_eq!(fs::read(desk.backup()).unwrap(), OLD);
    assert_eq!(desk.install().outcome, FileOutcome::Unchanged);
    // A second change keeps the bytes from before the first.
    let moved = desk.install_from("/usr/bin/remora").unwrap();
    assert!(moved.changes.iter().all(|c| c.what == ChangeKind::Updated));
    assert_eq!(fs::read(desk.backup()).unwrap(), OLD);
    assert_eq!(desk.uninstall().outcome, FileOutcome::Restored);
    assert_eq!(fs::read(desk.file()).unwrap(), OLD);
    assert_eq!(desk.names(), ["settings.json"]);
    assert!(!desk.record().exists());
    assert_eq!(desk.uninstall().outcome, FileOutcome::Unchanged);
}

#[test]
fn a_file_that_we_made_goes_again_and_so_do_its_folders() {
    let desk = Desk::new();
    assert_eq!(desk.install().outcome, FileOutcome::Created);
    assert_eq!(desk.names(), ["settings.json"]);
    assert_eq!(desk.uninstall().outcome, FileOutcome::Deleted);
    assert!(!desk.path("home").exists());

    desk.install();
    desk.install_from("/usr/bin/remora").unwrap();
    assert_eq!(desk.uninstall().outcome, FileOutcome::Deleted);
    assert!(!desk.path("home").exists());

    desk.install();
    fs::write(desk.path("home/other"), "").unwrap();
    desk.uninstall();
    assert_eq!(desk.names(), ["other"]);
}

#[test]
fn a_blank_file_is_filled_and_blanked() {
    let desk = Desk::with(b"\n");
    desk.install();
    desk.uninstall();
    assert_eq!(desk.read(), "\n");
}

#[test]
fn what_others_changed_meanwhile_stays() {
    let desk = Desk::with(OLD);
    desk.install();
    let edited = desk.read().replace("opus", "sonnet");
    fs::write(desk.file(), edited).unwrap();
    let report = desk.uninstall();
    assert_eq!(report.outcome, FileOutcome::Edited);
    let expected = String::from_utf8(OLD.to_vec())
        .unwrap()
        .replace("opus", "sonnet");
    assert_eq!(desk.read(), expected);
    assert_eq!(desk.names(), ["settings.json"]);
}

#[test]
fn what_others_changed_before_a_second_installation_is_backed_up() {
    let desk = Desk::with(OLD);
    desk.install();
    fs::write(desk.file(), desk.read().replace("opus", "sonnet")).unwrap();
    desk.install_from("/usr/bin/remora").unwrap();
    assert_eq!(desk.uninstall().outcome, FileOutcome::Restored);
    let expected = String::from_utf8(OLD.to_vec())
        .unwrap()
        .replace("opus", "sonnet");
    assert_eq!(desk.read(), expected);
}

#[test]
fn what_was_empty_before_us_stays_though_others_edit_the_file() {
    let desk = Desk::with(b"{\"hooks\": {\"Stop\": []}}\n");
    desk.install();
    desk.install_from("/usr/bin/remora").unwrap();
    fs::write(desk.file(), desk.read() + "\n").unwrap();
    assert_eq!(desk.uninstall().outcome, FileOutcome::Edited);
    assert_eq!(desk.read(), "{\"hooks\": {\"Stop\": []}}\n\n");
}

#[test]
fn a_lost_record_or_a_changed_backup_means_cutting_out() {
    for loss in ["record", "backup", "garbage"] {
        let desk = Desk::with(OLD);
        desk.install();
        match loss {
            "record" => fs::remove_file(desk.record()).unwrap(),
            "backup" => fs::write(desk.backup(), "{}").unwrap(),
            _ => fs::write(desk.record(), "not a record").unwrap(),
        }
        assert_eq!(desk.uninstall().outcome, FileOutcome::Edited, "{loss}");
        assert_eq!(desk.read().as_bytes(), OLD, "{loss}");
        assert_eq!(desk.names(), ["settings.json"], "{loss}");
    }
}

#[test]
fn a_file_that_cannot_be_edited_is_left_alone_and_named() {
    for bytes in [
        &b"{\n  \"a\": 1,\n}"[..],
        b"\xff{}",
        b"[]",
        b"{\"hooks\":7}",
    ] {
        let desk = Desk::with(bytes);
        let error = desk.install_from("/opt/remora").unwrap_err().to_string();
        assert!(
            error.starts_with(&desk.file().display().to_string()),
            "{error}"
        );
        assert_eq!(fs::read(desk.file()).unwrap(), bytes);
        assert_eq!(desk.names(), ["settings.json"]);
        let result = uninstall_from_file(&desk.file(), &desk.record(), SPEC);
        // Where nothing of ours can be, there is nothing to take out.
        let readable = serde_json::from_slice::<serde_json::Value>(bytes).is_ok();
        assert_eq!(result.is_ok(), readable);
        assert_eq!(fs::read(desk.file()).unwrap(), bytes);
        assert!(!desk.record().exists());
    }
    let desk = Desk::new();
    fs::create_dir_all(desk.file()).unwrap();
    let error = desk.install_from("/opt/remora").unwrap_err().to_string();
    assert!(error.contains("not a regular file"), "{error}");
}

#[test]
fn a_preview_writes_nothing() {
    let desk = Desk::with(OLD);
    let entry = InstallRequest {
        program: Path::new("/opt/remora"),
        spec: SPEC,
    };
    let (report, text) = preview_install(&desk.file(), &entry).unwrap();
    assert_eq!(report.outcome, FileOutcome::Edited);
    assert_eq!(report.backup, None);
    assert_eq!(fs::read(desk.file()).unwrap(), OLD);
    assert_eq!(desk.names(), ["settings.json"]);
    assert!(!desk.path("data").exists());
    desk.install();
    assert_eq!(desk.read(), text);
    assert_eq!(
        preview_install(&desk.file(), &entry).unwrap().0.outcome,
        FileOutcome::Unchanged
    );
}

#[test]
fn a_swap_refuses_bytes_that_it_did_not_expect() {
    let desk = Desk::with(b"now");
    let file = desk.file();
    assert_eq!(
        swap_file(&file, Some(b"then"), b"new").unwrap(),
        SwapOutcome::Raced
    );
    assert_eq!(
        swap_file(&desk.path("home/none"), Some(b"then"), b"new")
            .unwrap_err()
            .kind(),
        io::ErrorKind::NotFound
    );
    assert_eq!(swap_file(&file, None, b"new").unwrap(), SwapOutcome::Raced);
    assert_eq!(desk.read(), "now");
    assert_eq!(
        swap_file(&file, Some(b"now"), b"new").unwrap(),
        SwapOutcome::Done
    );
    assert_eq!(desk.read(), "new");
    assert_eq!(desk.names(), ["settings.json"]);
}

#[test]
fn many_at_once_leave_one_whole_file() {
    let desk = Desk::with(OLD);
    thread::scope(|scope| {
        for number in 0..8 {
            let desk = &desk;
            scope.spawn(move || {
                for _ in 0..5 {
                    desk.install_from(&format!("/opt/{number}/remora")).unwrap();
                }
            });
        }
    });
    let found = find_entries(&desk.read(), SPEC).unwrap();
    assert_eq!(found.len(), SPEC.registered.len());
    assert!(found.iter().all(|entry| entry.program == found[0].program));
    assert_eq!(
        desk.names(),
        ["settings.json", "settings.json.remora-backup"]
    );
    desk.uninstall();
    assert_eq!(desk.read().as_bytes(), OLD);
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};

    use super::*;

    fn set_mode(file: &Path, mode: u32) {
        fs::set_permissions(file, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn mode(file: &Path) -> u32 {
        fs::metadata(file).unwrap().mode() & 0o7777
    }

    #[test]
    fn mode_and_owner_are_kept() {
        let desk = Desk::with(OLD);
        let owner = |file: &Path| {
            let metadata = fs::metadata(file).unwrap();
            (metadata.uid(), metadata.gid())
        };
        // Only root may give a file away; for anybody else it is their own.
        let _ = chown(desk.file(), Some(4_321), Some(4_321));
        let before = owner(&desk.file());
        for wanted in [0o600, 0o644, 0o664] {
            set_mode(&desk.file(), wanted);
            desk.install();
            assert_eq!(mode(&desk.file()), wanted);
            assert_eq!(mode(&desk.backup()), wanted);
            assert_eq!(mode(&desk.record()), 0o600);
            desk.uninstall();
            assert_eq!(mode(&desk.file()), wanted);
            assert_eq!(owner(&desk.file()), before);
        }
    }

    #[test]
    fn links_are_followed_and_stay_links() {
        let desk = Desk::new();
        fs::create_dir(desk.path("home")).unwrap();
        fs::create_dir(desk.path("dotfiles")).unwrap();
        let real = desk.path("dotfiles/claude.json");
        symlink("../dotfiles/claude.json", desk.file()).unwrap();
        for before in [Some(OLD), None] {
            match before {
                Some(bytes) => fs::write(&real, bytes).unwrap(),
                None => fs::remove_file(&real).unwrap(),
            }
            let report = desk.install();
            assert_eq!(report.file, real);
            assert!(fs::symlink_metadata(desk.file()).unwrap().is_symlink());
            assert_eq!(
                find_entries(&desk.read(), SPEC).unwrap().len(),
                SPEC.registered.len()
            );
            desk.uninstall();
            assert!(fs::symlink_metadata(desk.file()).unwrap().is_symlink());
            assert_eq!(fs::read(&real).ok().as_deref(), before);
        }
        fs::remove_file(desk.file()).unwrap();
        symlink("settings.json", desk.file()).unwrap();
        let error = desk.install_from("/opt/remora").unwrap_err().to_string();
        assert!(error.ends_with("too many symbolic links"), "{error}");
    }

    #[test]
    fn a_read_only_file_is_respected() {
        let desk = Desk::with(OLD);
        set_mode(&desk.file(), 0o444);
        let error = desk.install_from("/opt/remora").unwrap_err();
        assert!(matches!(error, FileError::ReadOnly(_)), "{error}");
        assert_eq!(fs::read(desk.file()).unwrap(), OLD);
        assert_eq!(desk.names(), ["settings.json"]);
        assert!(!desk.record().exists());
    }
}
