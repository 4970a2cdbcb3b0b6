use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_new_or_empty_folder_is_marked_and_private() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("empty")).unwrap();
    for home in ["new/deep", "empty"] {
        let paths = DataPaths::new(dir.path().join(home));
        assert_eq!(paths.check_ownership(), None);
        paths.prepare_data_dir().unwrap();
        assert!(paths.is_marked());
        assert_eq!(
            (mode(paths.home()), mode(&paths.spool_dir())),
            (0o700, 0o700)
        );
        paths.prepare_data_dir().unwrap();
    }
}

#[test]
fn a_folder_with_other_files_is_refused_and_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(dir.path().join("thesis.txt"), "mine").unwrap();
    fs::write(dir.path().join("config.toml"), "").unwrap();
    let paths = DataPaths::new(dir.path());
    let error = paths.prepare_data_dir().unwrap_err().to_string();
    assert!(
        error.contains("`thesis.txt`") && error.contains("REMORA_HOME"),
        "{error}"
    );
    assert_eq!(mode(dir.path()), 0o755);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    fs::write(dir.path().join(MARKER_FILE), "").unwrap();
    paths.prepare_data_dir().unwrap();
}

#[test]
fn a_data_directory_from_before_the_mark_gets_one() {
    let dir = tempfile::tempdir().unwrap();
    for (home, folders, file) in [
        ("a", &["spool"][..], "remora.db"),
        ("b", &["spool"], "config.toml"),
        (
            "c",
            &["spool", "dead", "archive", "logs", "run"],
            "joined.jsonl",
        ),
        // Settings that were written before anything else.
        ("d", &[], "config.toml"),
    ] {
        let home = dir.path().join(home);
        fs::create_dir(&home).unwrap();
        for folder in folders {
            fs::create_dir(home.join(folder)).unwrap();
        }
        fs::write(home.join(file), "").unwrap();
        if !folders.is_empty() {
            fs::write(home.join("notes of mine.txt"), "").unwrap();
        }
        let paths = DataPaths::new(&home);
        paths.prepare_data_dir().unwrap();
        assert!(paths.is_marked(), "{}", home.display());
    }
}

#[test]
fn the_data_directory_may_be_a_link_but_no_folder_in_it() {
    let dir = tempfile::tempdir().unwrap();
    let (disk, documents) = (dir.path().join("disk"), dir.path().join("documents"));
    fs::create_dir(&disk).unwrap();
    fs::create_dir(&documents).unwrap();
    fs::set_permissions(&documents, fs::Permissions::from_mode(0o755)).unwrap();
    symlink(&disk, dir.path().join("home")).unwrap();
    let paths = DataPaths::new(dir.path().join("home"));
    paths.prepare_data_dir().unwrap();
    assert_eq!(mode(&disk), 0o700);
    for folder in [
        paths.dead_letter_dir(),
        paths.archive_dir(),
        paths.log_dir(),
        paths.run_dir(),
    ] {
        fs::remove_dir(&folder).unwrap();
        symlink(&documents, &folder).unwrap();
        let error = paths.prepare_data_dir().unwrap_err().to_string();
        assert!(error.contains("is a link"), "{error}");
        assert_eq!(paths.find_linked_folder().as_ref(), Some(&folder));
        assert_eq!(mode(&documents), 0o755);
        fs::remove_file(&folder).unwrap();
        paths.prepare_data_dir().unwrap();
    }
    symlink(&documents, paths.home().join("memory")).unwrap();
    assert_eq!(paths.find_linked_folder(), None);
}

#[test]
fn a_newer_layout_is_left_to_a_newer_program() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(MARKER_FILE), "x\nversion 2\n").unwrap();
    let error = DataPaths::new(dir.path())
        .prepare_data_dir()
        .unwrap_err()
        .to_string();
    assert!(error.contains("newer Remora (layout 2"), "{error}");
}
