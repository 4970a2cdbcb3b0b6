use std::io::Read as _;
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

#[test]
fn a_link_that_takes_a_file_s_or_a_folder_s_place_is_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let theirs = dir.path().join("theirs");
    fs::create_dir(&theirs).unwrap();
    fs::write(theirs.join("bait"), "bait").unwrap();
    let ours = dir.path().join("ours");
    fs::create_dir(&ours).unwrap();
    symlink(theirs.join("bait"), ours.join("bait")).unwrap();
    symlink(&theirs, dir.path().join("swapped")).unwrap();
    for file in [ours.join("bait"), dir.path().join("swapped/bait")] {
        assert!(open_our_file(&file).is_err());
        assert!(append_our_file(&file).is_err());
        assert!(create_our_file(&file).is_err());
        assert!(write_our_file(&file, b"ours").is_err());
    }
    assert_eq!(fs::read_to_string(theirs.join("bait")).unwrap(), "bait");
    let real = ours.join("real");
    write_our_file(&real, b"one").unwrap();
    append_our_file(&real).unwrap().write_all(b" two").unwrap();
    let mut text = String::new();
    open_our_file(&real)
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    assert_eq!(text, "one two");
}
