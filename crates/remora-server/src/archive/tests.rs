use super::*;

const DAY: i64 = 86_400_000;

fn line(n: usize) -> Vec<u8> {
    let envelope = Envelope {
        v: 1,
        id: format!("id-{n}"),
        agent: "a".into(),
        at: 0,
        len: 0,
        cut: false,
        project: None,
        branch: None,
    };
    let mut event = Map::new();
    event.insert("text".into(), "the same words again ".repeat(20).into());
    let mut line = serde_json::to_vec(&ArchivedEvent { envelope, event }).unwrap();
    line.push(b'\n');
    line
}

fn ids(archive: &Archive) -> Vec<String> {
    let mut ids = Vec::new();
    for file in archive.list_files().unwrap() {
        read_events(&file, |a| ids.push(a.envelope.id)).unwrap();
    }
    ids
}

fn numbered(range: std::ops::Range<usize>) -> Vec<String> {
    range.map(|n| format!("id-{n}")).collect()
}

#[test]
fn what_is_appended_is_read_in_order_over_days() {
    let dir = tempfile::tempdir().unwrap();
    let mut archive = Archive::new(dir.path());
    for n in 0..6_usize {
        archive
            .append(&line(n), i64::try_from(n / 2).unwrap() * DAY)
            .unwrap();
    }
    assert_eq!(ids(&archive), numbered(0..6));
    assert_eq!(archive.list_files().unwrap().len(), 3);
    assert!(archive.trim_to_bytes(1).unwrap() > 0);
    assert_eq!(ids(&archive), numbered(4..6));
}

#[test]
fn a_frame_cut_by_death_is_dropped_and_the_next_one_follows_the_last_whole_one() {
    let dir = tempfile::tempdir().unwrap();
    for keep in 0..40 {
        let mut archive = Archive::new(dir.path().join(keep.to_string()));
        fs::create_dir(&archive.folder).unwrap();
        archive.append(&line(0), 0).unwrap();
        let whole = fs::metadata(&archive.list_files().unwrap()[0])
            .unwrap()
            .len();
        archive.append(&line(1), 0).unwrap();
        let file = archive.list_files().unwrap().remove(0);
        let cut = fs::OpenOptions::new().write(true).open(&file).unwrap();
        cut.set_len(whole + keep).unwrap();
        let mut next = Archive::new(&archive.folder);
        next.append(&line(2), 0).unwrap();
        assert_eq!(ids(&next), ["id-0", "id-2"], "{keep} bytes kept");
    }
}

#[test]
fn damage_in_the_middle_costs_one_frame() {
    let dir = tempfile::tempdir().unwrap();
    let mut archive = Archive::new(dir.path());
    let mut ends = vec![0];
    for n in 0..3 {
        archive.append(&line(n), 0).unwrap();
        ends.push(archive.disk_bytes());
    }
    let file = archive.list_files().unwrap().remove(0);
    let mut bytes = fs::read(&file).unwrap();
    let middle = usize::try_from(u64::midpoint(ends[1], ends[2])).unwrap();
    bytes[middle] ^= 0xff;
    fs::write(&file, bytes).unwrap();
    let mut read_ids = Vec::new();
    let bad = read_events(&file, |a| read_ids.push(a.envelope.id)).unwrap();
    assert_eq!((read_ids, bad), (vec!["id-0".into(), "id-2".into()], 1));
}

#[test]
fn a_damaged_file_stays_as_it_is_and_others_are_compacted() {
    let dir = tempfile::tempdir().unwrap();
    let mut archive = Archive::new(dir.path());
    let day = 86_400_000 * 40;
    for n in 0..40 {
        archive.append(&line(n), 0).unwrap();
    }
    for n in 40..80 {
        archive.append(&line(n), day).unwrap();
    }
    let files = archive.list_files().unwrap();
    assert_eq!(files.len(), 2);
    let mut bytes = fs::read(&files[0]).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    fs::write(&files[0], &bytes).unwrap();
    let before = fs::metadata(&files[1]).unwrap().len();
    archive.compact_files().unwrap();
    assert_eq!(fs::read(&files[0]).unwrap(), bytes);
    assert!(fs::metadata(&files[1]).unwrap().len() < before / 4);
}

#[test]
fn tightening_keeps_everything_and_makes_it_smaller() {
    let dir = tempfile::tempdir().unwrap();
    let mut archive = Archive::new(dir.path());
    for n in 0..40 {
        archive.append(&line(n), 0).unwrap();
    }
    let before = archive.disk_bytes();
    archive.compact_files().unwrap();
    assert_eq!(ids(&archive), numbered(0..40));
    assert!(
        archive.disk_bytes() < before / 4,
        "{} of {before}",
        archive.disk_bytes()
    );
    archive.append(&line(40), 0).unwrap();
    assert_eq!(ids(&archive), numbered(0..41));
}
