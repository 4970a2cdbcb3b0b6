use std::fs;
use std::os::unix::fs::symlink;

use rustix::fs::{CWD, Dev, FileType, Mode, mknodat};

use super::*;

#[test]
fn a_regular_file_is_read_up_to_the_limit_and_not_beyond() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a");
    fs::write(&file, "12345").unwrap();
    assert_eq!(read_text(&file, 5).unwrap(), "12345");
    let error = read_file(&file, 4).unwrap_err();
    assert_eq!(error.to_string(), "holds 5 bytes; at most 4 are read");
    let link = dir.path().join("link");
    symlink(&file, &link).unwrap();
    assert_eq!(read_file(&link, 5).unwrap(), b"12345");
    fs::write(&file, [0xff]).unwrap();
    assert!(matches!(read_text(&file, 5), Err(ReadError::NotText)));
}

#[test]
fn sparse_gigabytes_are_refused_without_being_read() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("large");
    File::create(&file).unwrap().set_len(1 << 40).unwrap();
    assert!(matches!(
        read_file(&file, 1024),
        Err(ReadError::TooLarge { bytes, .. }) if bytes == 1 << 40
    ));
}

#[test]
fn pipes_devices_and_directories_are_refused_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    let mode = Mode::RUSR | Mode::WUSR;
    mknodat(CWD, &pipe, FileType::Fifo, mode, Dev::default()).unwrap();
    let link = |name: &str, to: &Path| {
        let path = dir.path().join(name);
        symlink(to, &path).unwrap();
        path
    };
    for path in [
        pipe.clone(),
        link("to-pipe", &pipe),
        link("zero", Path::new("/dev/zero")),
        link("null", Path::new("/dev/null")),
    ] {
        assert!(
            matches!(read_file(&path, 10), Err(ReadError::Special)),
            "{}",
            path.display()
        );
    }
    assert!(matches!(
        read_file(dir.path(), 10),
        Err(ReadError::Directory)
    ));
}

#[test]
fn what_is_not_there_is_missing_and_a_loop_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    assert!(
        read_file(&dir.path().join("a"), 1)
            .unwrap_err()
            .is_missing()
    );
    fs::write(dir.path().join("file"), "").unwrap();
    let below = dir.path().join("file/below");
    assert!(read_file(&below, 1).unwrap_err().is_missing());
    let around = dir.path().join("loop");
    symlink(&around, &around).unwrap();
    assert!(matches!(read_file(&around, 1), Err(ReadError::Io(_))));
}

#[test]
fn a_file_of_the_kernel_that_reports_no_size_is_bounded_too() {
    let file = Path::new("/proc/self/maps");
    if file.exists() {
        assert!(matches!(
            read_file(file, 16),
            Err(ReadError::TooLarge { .. })
        ));
    }
}

#[test]
fn a_directory_is_listed_up_to_the_limit() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["c", "a", "b"] {
        fs::write(dir.path().join(name), "").unwrap();
    }
    let mut all = list_directory(dir.path(), 3).unwrap();
    all.sort();
    let names: Vec<_> = all.entries.iter().map(DirEntry::file_name).collect();
    assert_eq!(
        (names, all.is_cut),
        (vec!["a".into(), "b".into(), "c".into()], false)
    );
    assert!(list_directory(dir.path(), 2).unwrap().is_cut);
}

#[test]
fn the_end_of_a_file_is_read_and_no_more() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    std::fs::write(&path, "one\ntwo\nthree\n").unwrap();
    assert_eq!(read_file_end(&path, 6).unwrap(), b"three\n");
    assert_eq!(read_file_end(&path, 100).unwrap(), b"one\ntwo\nthree\n");
    assert!(read_file_end(dir.path(), 6).is_err());
    assert!(
        read_file_end(&dir.path().join("none"), 6)
            .unwrap_err()
            .is_missing()
    );
}
