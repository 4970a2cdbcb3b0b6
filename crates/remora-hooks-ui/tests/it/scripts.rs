//! Scripts of keys against files: bytes outside the hook stay, and what is taken
//! back is as it was.

use std::fs;

use crate::stage::{LOCAL, PROJECT, Stage, USER};

#[test]
fn a_hook_is_added_where_the_form_says() {
    let stage = Stage::new();
    let before = stage.read(PROJECT);
    let mut play = stage.open();
    // Event, file and kind are right; the next lines are matcher and command.
    play.press("<Down><Down><Down>a<Down><Down><Down>Bash<Down>ls -l<Down><Down><Down>7<Enter>");
    assert_eq!(stage.read(PROJECT), before, "a review writes nothing");
    play.press("<Enter>");
    assert!(
        play.done()
            .starts_with("added a hook of PreToolUse in ~/app/"),
        "{}",
        play.done()
    );
    let with = before.replace(
        "exit 2\" } ] }",
        "exit 2\" }, {\"type\": \"command\", \"command\": \"ls -l\", \"timeout\": 7} ] }",
    );
    assert_eq!(stage.read(PROJECT), with);
    // The new hook is the chosen one.
    play.press("d<Enter>");
    assert_eq!(stage.read(PROJECT), before);
}

#[test]
fn a_first_hook_makes_its_file_and_its_undo_takes_the_file_away() {
    let stage = Stage::empty();
    let mut play = stage.open();
    play.press("as<Down><Down><Down><Down>true<Enter><Enter>");
    let written = stage.read(PROJECT);
    assert!(
        written.contains("\"SessionStart\"") || written.contains("\"S"),
        "{written}"
    );
    play.press("u");
    assert!(
        play.done().starts_with("taken back: added"),
        "{}",
        play.done()
    );
    assert!(!stage.path(PROJECT).exists());
    play.press("u");
    assert_eq!(play.failure(), "there is nothing to take back");
}

#[test]
fn a_field_is_changed_and_every_other_byte_stays() {
    let stage = Stage::new();
    let before = stage.read(USER);
    let mut play = stage.open();
    play.press("<Tab>/log<Enter>e<Down><Down> --all<Enter><Enter>");
    assert_eq!(
        stage.read(USER),
        before.replace(
            r#"{ "type": "command", "command": "log" }"#,
            r#"{"type": "command", "command": "log --all"}"#
        )
    );
    play.press("u");
    assert_eq!(stage.read(USER), before);
}

#[test]
fn a_matcher_changes_in_place_where_nothing_shares_it() {
    let stage = Stage::new();
    let before = stage.read(LOCAL);
    let mut play = stage.open();
    play.press("/notes<Enter>e<Down>|clear<Enter><Enter>");
    assert_eq!(
        stage.read(LOCAL),
        before.replace("startup|resume", "startup|resume|clear")
    );
}

#[test]
fn a_hook_is_switched_off_and_on_and_edits_are_taken_back_in_order() {
    let stage = Stage::new();
    let before = stage.read(PROJECT);
    let mut play = stage.open();
    play.press("/check-git<Enter> ");
    assert!(play.done().starts_with("switched off"), "{}", play.done());
    let off = stage.read(PROJECT);
    assert!(off.contains("remora:disabledHooks"), "{off}");
    // Still chosen, so the same key switches it on.
    play.press(" ");
    assert!(play.done().starts_with("switched on"), "{}", play.done());
    let on = stage.read(PROJECT);
    assert!(!on.contains("remora:disabledHooks"), "{on}");
    play.press("d<Enter>");
    assert!(!stage.read(PROJECT).contains("check-git"));
    play.press("u");
    assert_eq!(stage.read(PROJECT), on);
    play.press("u");
    assert_eq!(stage.read(PROJECT), off);
    play.press("u");
    assert_eq!(stage.read(PROJECT), before);
}

#[test]
fn what_somebody_else_wrote_is_never_lost() {
    let stage = Stage::new();
    let mut play = stage.open();
    play.press("/log<Enter>e<Down><Down> --all<Enter>");
    let theirs = stage.read(USER).replace("opus", "sonnet");
    stage.write(USER, &theirs);
    play.press("<Enter>");
    let failure = play.failure().to_owned();
    assert!(
        failure.contains("the file was changed meanwhile; try again"),
        "{failure}"
    );
    assert_eq!(stage.read(USER), theirs);
    // What was typed is still there, and goes into the file as it is now.
    play.press("<Enter><Enter>");
    assert_eq!(
        stage.read(USER),
        theirs.replace(
            r#"{ "type": "command", "command": "log" }"#,
            r#"{"type": "command", "command": "log --all"}"#
        )
    );
    // An undo does not take their next change away either.
    let theirs = stage.read(USER).replace("sonnet", "haiku");
    stage.write(USER, &theirs);
    play.press("u");
    assert!(
        play.failure().contains("the file was changed since"),
        "{}",
        play.failure()
    );
    assert_eq!(stage.read(USER), theirs);
}

#[test]
fn another_hook_in_the_same_place_is_left_alone() {
    let stage = Stage::new();
    let mut play = stage.open();
    play.press("/log<Enter>e<Down><Down> --all<Enter>");
    let theirs = stage.read(USER).replace("\"log\"", "\"other\"");
    stage.write(USER, &theirs);
    play.press("<Enter><Enter>");
    let failure = play.failure();
    assert!(
        failure.contains("`hooks.PreToolUse[0].hooks[1]` is another hook by now"),
        "{failure}"
    );
    assert_eq!(stage.read(USER), theirs);
}

#[test]
fn a_new_hook_does_not_replace_a_file_that_came_meanwhile() {
    let stage = Stage::empty();
    let mut play = stage.open();
    play.press("a<Down><Down><Down><Down>true<Enter>");
    stage.write(PROJECT, "{\"model\": \"opus\"}");
    play.press("<Enter>");
    assert!(
        play.failure().contains("changed meanwhile"),
        "{}",
        play.failure()
    );
    assert_eq!(stage.read(PROJECT), "{\"model\": \"opus\"}");
}

#[test]
fn what_is_wrong_in_a_form_is_said_and_the_form_stays() {
    let stage = Stage::new();
    let before = stage.read_all();
    let mut play = stage.open();
    play.press("a<Down><Down><Down>Bash<Down><Enter>");
    assert!(
        play.failure()
            .contains("the handler is malformed: `command`"),
        "{}",
        play.failure()
    );
    play.press("ls<Down><Down><Down>soon<Enter>");
    assert_eq!(play.failure(), "Timeout: `soon` is not a number of seconds");
    play.press("<C-u>3<Enter>");
    assert!(play.draw().contains("Is this right?"));
    play.press("<Esc><Esc>q");
    assert_eq!(stage.read_all(), before);
}

#[cfg(unix)]
#[test]
fn a_read_only_file_is_respected() {
    use std::os::unix::fs::PermissionsExt;
    let stage = Stage::new();
    fs::set_permissions(stage.path(USER), fs::Permissions::from_mode(0o444)).unwrap();
    let mut play = stage.open();
    play.press("/log<Enter> ");
    assert!(
        play.failure().contains("the file is read-only"),
        "{}",
        play.failure()
    );
}

#[test]
fn read_only_layers_say_so() {
    let stage = Stage::new();
    let before = stage.read_all();
    for (search, why) in [
        ("policy", "the organisation's settings are read-only"),
        ("plugin", "a plugin's hooks are read-only"),
    ] {
        for key in ["e", "d", " "] {
            let mut play = stage.open();
            play.press(&format!("/[{search}<Enter>{key}"));
            assert!(play.failure().contains(why), "{}", play.failure());
        }
    }
    assert_eq!(stage.read_all(), before);
}

#[test]
fn files_are_read_again_when_asked() {
    let stage = Stage::new();
    let mut play = stage.open();
    stage.write(
        LOCAL,
        "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"brand new\"}]}]}}",
    );
    play.press("r");
    assert!(play.draw().contains("brand new"));
}
