use remora_memory::CapturePolicy;
use remora_server::rebuild_database;

use crate::place::{NOW, Place};

#[test]
fn rebuilding_gives_the_same_rows_and_numbers() {
    let place = Place::new();
    let mut inbox = place.inbox();
    for n in 0..20 {
        place.put(NOW + n, &Place::call(usize::try_from(n).unwrap()));
        inbox.ingest_batch(NOW).unwrap();
    }
    drop(inbox);
    let before = place.items();
    let mut steps = 0;
    let done =
        rebuild_database(&place.paths, &CapturePolicy::default(), &mut |_| steps += 1).unwrap();
    assert_eq!((done.events, done.carried, done.unreadable), (20, 0, 0));
    assert!(steps > 0);
    assert_eq!(place.items(), before);
    assert_eq!(place.events().len(), 20);
}
