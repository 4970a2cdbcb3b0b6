//! What is open after a few turns, as cases.

use serde_json::{Value, json};

use super::super::tests::row;
use super::{LaterWork, left_open};
use crate::summary::{Turn, summarise_turn};
use remora_core::record::{Item, Kind};

const CASES: &str = include_str!("../../../cases/open_steps.json");

/// The checkpoint of a turn, as the worker writes it.
fn read_turn(case: &Value, day: i64) -> Item {
    let text = |name: &str| case[name].as_str().expect("a text");
    let (asked, said) = (text("asked"), text("said"));
    let turn = Turn {
        prompts: &[asked],
        requests: &[asked],
        last_message: Some(said),
        ..Turn::default()
    };
    let summary = summarise_turn(&turn).expect("a checkpoint");
    let files = case["files"].as_array().map(Vec::as_slice);
    let files = files.unwrap_or_default().iter();
    Item {
        prompt: Some(u32::try_from(day).expect("a day")),
        files_modified: files
            .filter_map(|file| file.as_str().map(str::to_owned))
            .collect(),
        detail: Some(
            json!({
                "completed": summary.completed,
                "next_steps": summary.next_steps,
                "notes": summary.notes,
                "learned": summary.learned,
                "asked": summary.asked,
                "said": summary.said,
                "conclusion": summary.conclusion,
            })
            .into(),
        ),
        ..row(Kind::Summary, asked, day)
    }
}

#[test]
fn steps_close_by_evidence() {
    let cases: Vec<Value> = serde_json::from_str(CASES).expect("cases");
    for case in cases {
        let turns = case["turns"].as_array().expect("turns");
        let mut rows: Vec<Item> = turns
            .iter()
            .zip(1..)
            .map(|(turn, day)| Item {
                id: day,
                ..read_turn(turn, day)
            })
            .collect();
        rows.reverse();
        let rows: Vec<_> = rows.into_iter().map(std::borrow::Cow::Owned).collect();
        let open = left_open(&rows, None, &mut LaterWork::default());
        let wanted: Vec<String> = case["open"]
            .as_array()
            .expect("open steps")
            .iter()
            .filter_map(|step| step.as_str().map(str::to_owned))
            .collect();
        assert_eq!(open, wanted, "{}", case["name"]);
    }
}
