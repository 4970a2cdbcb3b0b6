use super::*;
use crate::HookInput;

fn put(paths: &DataPaths, now: i64, text: &str) -> String {
    let input = HookInput {
        bytes: text.as_bytes().to_vec(),
        cut: false,
    };
    spool_event(paths, "a", now, None, &input, false).unwrap()
}

#[test]
fn what_is_written_is_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let paths = DataPaths::new(dir.path().join("new"));
    let id = put(&paths, 1_794_731_400_250, "{\"a\":\n1}");
    let files = list_spooled(&paths, 10).unwrap();
    let back = read_spooled(&files[0], 1000).unwrap();
    assert_eq!(back.payload, b"{\"a\":\n1}");
    assert_eq!(
        back.envelope,
        Envelope {
            v: 1,
            id,
            agent: "a".into(),
            at: 1_794_731_400_250,
            len: 8,
            cut: false,
            project: None,
            branch: None
        }
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&files[0]), mode(&paths.spool_dir())), (0o600, 0o700));
    }
}

#[test]
fn the_oldest_come_first_and_half_written_ones_never() {
    let dir = tempfile::tempdir().unwrap();
    let paths = DataPaths::new(dir.path());
    let ids: Vec<String> = (0..20).rev().map(|n| put(&paths, n * 1000, "x")).collect();
    fs::write(paths.spool_dir().join("half.tmp"), "x").unwrap();
    let first: Vec<String> = list_spooled(&paths, 3)
        .unwrap()
        .iter()
        .map(|f| f.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(first, [&*ids[19], &*ids[18], &*ids[17]]);
    assert_eq!(list_spooled(&paths, 100).unwrap().len(), 20);
}

#[test]
fn what_is_no_event_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x.json");
    let good = "{\"v\":1,\"id\":\"i\",\"agent\":\"a\",\"at\":0,\"len\":3}\n";
    for (text, reason) in [
        (String::new(), "no envelope"),
        ("{}".into(), "no envelope"),
        (
            "x\n".into(),
            "bad envelope: expected value at line 1 column 1",
        ),
        (
            good.replace("\"v\":1", "\"v\":9"),
            "envelope version 9 is newer than this program",
        ),
        (format!("{good}ab"), "2 bytes of 3 are there"),
        (
            format!("{good}{}", "a".repeat(99)),
            "143 bytes are too many",
        ),
    ] {
        fs::write(&file, text).unwrap();
        let error = read_spooled(&file, 100).unwrap_err();
        assert_eq!(error.to_string(), reason);
    }
}
