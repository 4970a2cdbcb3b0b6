//! Keys at random: nothing panics, and only the files that can be edited are
//! ever written.

use std::collections::BTreeSet;
use std::path::PathBuf;

use proptest::prelude::*;
use remora_hooks_ui::{Effect, Flow, Key, Model, Snapshot, update};

use crate::stage::{LOCAL, PROJECT, Stage, USER};

fn any_key() -> impl Strategy<Value = Key> {
    prop_oneof![
        8 => proptest::sample::select("aedu tp/?rjkhlgGynq<[\"é漢x1".chars().collect::<Vec<_>>())
            .prop_map(Key::Char),
        2 => Just(Key::Enter),
        1 => any::<char>().prop_map(Key::Char),
        1 => any::<String>().prop_map(Key::Paste),
        8 => proptest::sample::select(vec![
            Key::Enter, Key::Escape, Key::Tab, Key::BackTab, Key::Up, Key::Down, Key::Left,
            Key::Right, Key::Home, Key::End, Key::PageUp, Key::PageDown, Key::Backspace,
            Key::Delete, Key::Ctrl('u'), Key::Ctrl('w'), Key::Ctrl('s'),
        ]),
    ]
}

/// The files that users write, and what is kept beside each.
fn editable_files(stage: &Stage) -> BTreeSet<PathBuf> {
    [USER, PROJECT, LOCAL]
        .iter()
        .flat_map(|file| [stage.path(file), stage.path(&format!("{file}.before-edit"))])
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn keys_never_panic_and_write_nowhere_else(
        keys in proptest::collection::vec(any_key(), 0..60),
        columns in 1_u16..120,
        rows in 1_u16..40,
    ) {
        let stage = Stage::new();
        let before = stage.read_all();
        let mut play = stage.open();
        (play.columns, play.rows) = (columns, rows);
        for key in keys {
            if play.key(key) == Flow::Leave {
                break;
            }
        }
        let mut after = stage.read_all();
        let mut before = before;
        for file in editable_files(&stage) {
            after.remove(&file);
            before.remove(&file);
        }
        prop_assert_eq!(after, before);
    }

    #[test]
    fn an_edit_names_a_file_that_was_listed(keys in proptest::collection::vec(any_key(), 0..120)) {
        let stage = Stage::new();
        let play = stage.open();
        let snapshot: Snapshot = play.ui.model().snapshot().clone();
        let mut model = Model::new(snapshot.clone());
        for key in keys {
            if let Effect::Prepare(edit) | Effect::Write(edit) = update(&mut model, key) {
                let listed = snapshot.files.iter().any(|(_, file)| *file == edit.file);
                prop_assert!(listed, "{:?}", edit.file);
            }
        }
    }
}
