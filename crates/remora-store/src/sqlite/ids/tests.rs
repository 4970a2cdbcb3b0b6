//! Ids come out as they went in, and short where they can be.

use super::{pack_id, unpack_id};

#[test]
fn uuids_are_short_and_come_back() {
    let uuid = "0198c0de-7a3b-7c11-9f00-00000000abcd";
    for (tail, bytes) in [
        ("", 16),
        ("/0", 17),
        ("/1", 17),
        ("/255", 17),
        ("/256", 18),
        ("/4294967295", 20),
    ] {
        let id = format!("{uuid}{tail}");
        let packed = pack_id(&id).expect("a uuid");
        assert_eq!((packed.len(), unpack_id(&packed)), (bytes, Some(id)));
    }
}

#[test]
fn everything_else_stays_text() {
    for id in [
        "",
        "x",
        "/1",
        "0198C0DE-7a3b-7c11-9f00-00000000abcd",
        "0198c0de-7a3b-7c11-9f00-00000000abcd/",
        "0198c0de-7a3b-7c11-9f00-00000000abcd/01",
        "0198c0de-7a3b-7c11-9f00-00000000abcd/4294967296",
        "0198c0de-7a3b-7c11-9f00-00000000abcd/+1",
        "0198c0de-7a3b-7c11-9f00-00000000abcd/1/2",
        "0198c0de07a3b-7c11-9f00-00000000abcd",
        "é198c0de-7a3b-7c11-9f00-0000000abcd",
    ] {
        assert_eq!(pack_id(id), None, "{id}");
    }
}
