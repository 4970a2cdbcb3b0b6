//! The newest checkpoints are read once; whoever asks for those of a session gets
//! what the store would list.

use std::borrow::Cow;

use super::*;
use crate::recall::reader::RecallReader;
use crate::recall::recent::RecentTurns;
use crate::store::{Filter, PageRequest};

#[test]
fn the_checkpoints_of_a_session_are_those_that_the_store_lists() {
    let world = World::default();
    let add = |session: &str, minute: i64| {
        let item = Item {
            session: session.into(),
            time: minute,
            uid: format!("{session} {minute}").into(),
            ..turn(0, &format!("draw page {minute}"), "It is there.")
        };
        world.add(item.clone());
        item
    };
    for minute in 0..90 {
        let session = match minute {
            0..10 => "old",
            10..35 => "both",
            _ if minute % 9 == 0 => "both",
            _ if minute % 5 == 0 => "now",
            _ => "new",
        };
        let item = add(session, minute);
        if minute % 17 == 0 {
            world.reject(&item);
        }
    }
    let reader = RecallReader::new(&world.store, Some("project"), 0).unwrap();
    let recent = RecentTurns::list(&reader, &world.scene(400)).unwrap();
    assert!(recent.turns.len() > 40, "{}", recent.turns.len());
    assert!(recent.turns.iter().all(|turn| turn.session != "now"));
    for known in [&recent, &RecentTurns::default()] {
        for session in ["old", "both", "new", "unknown"] {
            for (since, look) in [(None, 8), (None, 24), (Some(20), 24), (Some(80), 24)] {
                let of_project = Filter {
                    project: Some("project".into()),
                    since,
                    ..Filter::default()
                };
                let of_session = Filter {
                    session: Some(session.into()),
                    kinds: vec![Kind::Summary],
                    ..of_project.clone()
                };
                let listed = reader
                    .list_items(&of_session, PageRequest::newest(look))
                    .unwrap();
                let found = known.of_session(&reader, &session.into(), &of_project, look);
                let found = found.unwrap().into_iter().map(Cow::into_owned);
                assert_eq!(found.collect::<Vec<_>>(), listed, "{session} {since:?}");
            }
        }
    }
}
