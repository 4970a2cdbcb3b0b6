use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

const OURS: ReplaceOptions<'_> = ReplaceOptions::private(Durability::None);

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_file_is_replaced_and_nothing_stays_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a");
    let beside = dir.path().join("a.part");
    let drafts = [
        DraftName::Unique,
        DraftName::Overwrite(&beside),
        DraftName::Recreate(&beside),
    ];
    for (number, draft) in drafts.into_iter().enumerate() {
        let durability = Durability::FileAndName;
        let options = ReplaceOptions {
            draft,
            durability,
            ..OURS
        };
        let bytes = number.to_string();
        // What a killed writer left has the mode that it would have had.
        fs::write(&beside, "half a fi").unwrap();
        fs::set_permissions(&beside, Permissions::from_mode(0o600)).unwrap();
        replace_file(&file, bytes.as_bytes(), &options).unwrap();
        let _ = fs::remove_file(&beside);
        assert_eq!(fs::read_to_string(&file).unwrap(), bytes);
        assert_eq!(mode(&file), 0o600);
        assert_eq!(names(dir.path()), ["a"]);
    }
}

#[test]
fn a_link_in_the_place_of_a_recreated_draft_is_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let [file, beside, other] = ["a", "a.part", "other"].map(|name| dir.path().join(name));
    fs::write(&other, "not ours").unwrap();
    symlink(&other, &beside).unwrap();
    let draft = DraftName::Recreate(&beside);
    replace_file(&file, b"ours", &ReplaceOptions { draft, ..OURS }).unwrap();
    assert_eq!(fs::read_to_string(&other).unwrap(), "not ours");
    assert_eq!(fs::read_to_string(&file).unwrap(), "ours");
    assert_eq!(names(dir.path()), ["a", "other"]);
}

#[test]
fn a_link_in_the_place_of_the_file_is_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let [file, other] = ["a", "other"].map(|name| dir.path().join(name));
    fs::write(&other, "not ours").unwrap();
    symlink(&other, &file).unwrap();
    replace_file(&file, b"ours", &OURS).unwrap();
    assert_eq!(fs::read_to_string(&other).unwrap(), "not ours");
    assert!(fs::symlink_metadata(&file).unwrap().is_file());
}

#[test]
fn a_mode_is_the_owner_s_the_umask_s_or_another_file_s() {
    let dir = tempfile::tempdir().unwrap();
    let [file, plain, like] = ["a", "plain", "like"].map(|name| dir.path().join(name));
    fs::write(&plain, "").unwrap();
    fs::write(&like, "").unwrap();
    fs::set_permissions(&like, Permissions::from_mode(0o751)).unwrap();
    let about = fs::metadata(&like).unwrap();
    for (access, expected) in [
        (FileAccess::OwnerOnly, 0o600),
        (FileAccess::Umask, mode(&plain)),
        (FileAccess::SameMode(&about), 0o751),
        (FileAccess::SameOwner(&about), 0o751),
    ] {
        replace_file(&file, b"x", &ReplaceOptions { access, ..OURS }).unwrap();
        assert_eq!(mode(&file), expected, "{access:?}");
    }
}

#[test]
fn a_draft_that_is_dropped_or_fails_goes_and_the_file_stays() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a");
    fs::write(&file, "old").unwrap();
    drop(StagedFile::stage_bytes(&file, b"new", &OURS).unwrap());
    assert_eq!(fs::read_to_string(&file).unwrap(), "old");
    assert_eq!(names(dir.path()), ["a"]);
    // A folder cannot be replaced by a file.
    fs::create_dir(dir.path().join("folder")).unwrap();
    replace_file(&dir.path().join("folder"), b"new", &OURS).unwrap_err();
    assert_eq!(names(dir.path()), ["a", "folder"]);
}

#[test]
fn writers_at_once_have_drafts_of_their_own_also_beside_a_long_name() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("n".repeat(255));
    let one = StagedFile::stage_bytes(&file, b"one", &OURS).unwrap();
    let two = StagedFile::stage_bytes(&file, b"two", &OURS).unwrap();
    assert_ne!(one.draft_path(), two.draft_path());
    two.commit().unwrap();
    one.commit().unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "one");
}
