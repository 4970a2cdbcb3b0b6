//! An archive that an earlier version wrote gives the same items, byte for byte.
//! The archive and its export under `fixtures/rebuild/v1` are never edited: a
//! difference here is a change of what users have stored.

use std::fs;
use std::path::Path;

use crate::hook::den::Den;

#[test]
fn an_archive_of_an_earlier_version_rebuilds_to_the_same_items() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/rebuild/v1");
    let den = Den::new();
    den.paths.prepare_data_dir().unwrap();
    // Items then wait for their embeddings, and no worker is left for that.
    let args = ["config", "set", "search.background", "false"];
    assert_eq!(den.remora(&args).go().code, Some(0));
    for entry in fs::read_dir(fixtures.join("archive")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(
            entry.path(),
            den.paths.archive_dir().join(entry.file_name()),
        )
        .unwrap();
    }
    let rebuilt = den.remora(&["rebuild"]).go();
    assert_eq!(rebuilt.code, Some(0), "{rebuilt}");
    let exported = den.remora(&["export", "--events"]).go();
    assert_eq!(exported.code, Some(0), "{exported}");
    // The first line names the program and the time.
    let (_, exported) = exported.raw.split_once('\n').unwrap();
    let expected = fs::read_to_string(fixtures.join("export.jsonl")).unwrap();
    let (mut ours, mut theirs) = (exported.lines(), expected.lines());
    for number in 1.. {
        let (ours, theirs) = (ours.next(), theirs.next());
        assert_eq!(ours, theirs, "line {number} of the export");
        if ours.is_none() {
            break;
        }
    }
}
