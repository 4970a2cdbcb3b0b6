use std::os::unix::fs::symlink;

use super::*;

#[test]
fn a_linked_folder_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let real = dir.path().join("documents");
    fs::create_dir(&real).unwrap();
    symlink(&real, dir.path().join("spool")).unwrap();
    let error = Folder::open(dir.path().join("spool")).unwrap_err();
    assert!(error.to_string().contains("is a link"), "{error}");
    Folder::open(&real).unwrap();
}

#[test]
fn what_is_done_stays_in_the_folder_that_was_opened() {
    let dir = tempfile::tempdir().unwrap();
    let (ours, theirs) = (dir.path().join("spool"), dir.path().join("documents"));
    fs::create_dir(&ours).unwrap();
    fs::create_dir(&theirs).unwrap();
    for folder in [&ours, &theirs] {
        fs::write(folder.join("a.json"), "x").unwrap();
    }
    let folder = Folder::open(&ours).unwrap();
    fs::rename(&ours, dir.path().join("moved")).unwrap();
    symlink(&theirs, &ours).unwrap();
    folder.remove_file(OsStr::new("a.json")).unwrap();
    assert!(theirs.join("a.json").exists());
    assert!(!dir.path().join("moved/a.json").exists());
}

#[test]
fn only_regular_files_are_listed_and_opened_and_no_folder_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::open(dir.path()).unwrap();
    fs::write(dir.path().join("file"), "x").unwrap();
    fs::create_dir(dir.path().join("folder")).unwrap();
    symlink("file", dir.path().join("link")).unwrap();
    assert_eq!(folder.list_files().unwrap(), ["file"]);
    folder.open_file(OsStr::new("file")).unwrap();
    for name in ["folder", "link"] {
        assert!(folder.open_file(OsStr::new(name)).is_err(), "{name}");
    }
    folder.remove_file(OsStr::new("folder")).unwrap_err();
    assert!(dir.path().join("folder").is_dir());
}
