//! Each screen as text at 80x24, and every screen in areas that are too small.

use remora_hooks_ui::{Flow, Key};

use crate::stage::{LOCAL, Stage};

/// Keys that lead to each screen.
const SCREENS: &[(&str, &str)] = &[
    ("first", ""),
    ("event", "<Down><Down><Down><Enter>"),
    ("details", "<Tab><Down><Enter>"),
    ("broken", "<Tab>/stpo<Enter>"),
    ("problems", "p"),
    ("help", "?"),
    ("search", "/guard"),
    ("nothing", "/nothing"),
    ("add", "<Tab><Down>a"),
    ("change", "<Tab><Down>e"),
    ("review", "<Tab><Down>e<Down><Down><C-u>guard -v<Enter>"),
    ("remove", "<Tab><Down>d"),
    ("off", "<Tab><Down> "),
    ("try", "<Tab><Down>t<Down><Down>rm -rf /"),
    ("read_only", "<Tab>e"),
];

fn play(keys: &str, columns: u16, rows: u16) -> String {
    let stage = Stage::new();
    let mut play = stage.open();
    (play.columns, play.rows) = (columns, rows);
    play.press(keys);
    let shown = play.draw();
    // The name of the folder is another one each time.
    let home = stage.path("").display().to_string();
    assert!(!shown.contains(home.trim_end_matches('/')), "{shown}");
    shown
}

#[test]
fn every_screen_looks_as_it_did() {
    for (name, keys) in SCREENS {
        insta::assert_snapshot!(*name, play(keys, 80, 24));
    }
}

#[test]
fn smaller_areas_show_what_fits() {
    insta::assert_snapshot!("first_60x15", play("", 60, 15));
    insta::assert_snapshot!("first_20x5", play("", 20, 5));
    insta::assert_snapshot!("hooks_20x5", play("<Tab><Down>", 20, 5));
    let stage = Stage::new();
    for (_, keys) in SCREENS {
        let mut play = stage.open();
        play.press(keys);
        for columns in [1, 2, 3, 7, 20, 60, 200] {
            for rows in [1, 2, 5, 6, 7, 15, 50] {
                (play.columns, play.rows) = (columns, rows);
                play.draw();
            }
        }
    }
}

#[test]
fn without_any_hook_the_screen_says_how_to_begin() {
    let stage = Stage::empty();
    let shown = stage.open().draw();
    assert!(shown.contains("no hooks yet; a adds one"), "{shown}");
}

#[test]
fn a_file_that_cannot_be_read_is_a_problem_and_the_rest_is_shown() {
    let stage = Stage::new();
    stage.write(LOCAL, "{ // no\n}");
    let mut play = stage.open();
    let shown = play.press("p").draw();
    assert!(
        shown.contains("settings.local.json:1:3 error invalid-json"),
        "{shown}"
    );
    play.press("<Esc>a<Down><Right><Down><Down><Down>x<Enter>");
    let failure = play.failure();
    assert!(
        failure.contains("settings.local.json: 1:3: not valid JSON"),
        "{failure}"
    );
}

#[test]
fn managed_settings_that_are_not_whole_are_a_problem_and_the_rest_is_shown() {
    let stage = Stage::new();
    stage.write("managed/managed-settings.json", "{");
    let mut play = stage.open();
    let shown = play.press("p").draw();
    assert!(shown.contains("managed-settings.json"), "{shown}");
    play.press("<Esc><Tab>");
    assert!(play.draw().contains("guard --strict"));
    play.press("t");
    assert!(play.draw().contains("managed-settings.json"));
}

#[test]
fn text_that_a_terminal_would_obey_is_shown_instead() {
    let stage = Stage::empty();
    stage.write(
        LOCAL,
        r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a\u001b[2Jb\u202ec"}]}]}}"#,
    );
    let shown = stage.open().draw();
    assert!(shown.contains(r"a\u{1b}[2Jb\u{202e}c"), "{shown}");
}

#[test]
fn both_keys_leave_from_the_first_screen() {
    let stage = Stage::new();
    assert_eq!(stage.open().key(Key::Char('q')), Flow::Leave);
    let mut play = stage.open();
    play.press("a");
    assert_eq!(play.key(Key::Char('q')), Flow::Stay);
    assert_eq!(play.key(Key::Ctrl('c')), Flow::Leave);
}
