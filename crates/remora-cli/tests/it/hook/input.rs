//! Whatever may come in on stdin, or not come.

use std::io::{Read, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;

use super::den::{Den, call, feed, valid};

const MIB: usize = 1024 * 1024;
const PROGRAM: &str = env!("CARGO_BIN_EXE_remora");

#[test]
fn what_is_no_event_is_answered_and_becomes_a_dead_letter() {
    let den = Den::new();
    let deep = "[".repeat(100_000);
    let odd: [&[u8]; 9] = [
        b"not json at all",
        b"\x00\xff\xfe\x80 \x1b[31m\x07",
        b"[1,2,3]",
        b"null",
        b"\"PostToolUse\"",
        b"{}",
        b"{\"hook_event_name\":7,\"session_id\":[],\"cwd\":{}}",
        b"{\"session_id\":\"s\",\"cwd\":\"/p\",\"hook_event_name\":\"NeverHeardOf\"}",
        deep.as_bytes(),
    ];
    for bytes in odd {
        let done = den.hook(bytes);
        assert_eq!(done.raw, "", "{}", bytes.escape_ascii());
    }
    for nothing in ["", " \r\n\t "] {
        assert_eq!(den.hook(nothing).raw, "");
    }
    den.drain();
    let dead = remora_server::dead_letters(&den.paths).unwrap();
    // White space is something that was sent.
    assert_eq!(dead.len(), odd.len() + 1);
    assert_eq!(den.events(), []);
    let log = std::fs::read_to_string(den.paths.hook_log()).unwrap();
    assert_eq!(log.lines().count(), odd.len() + 2, "{log}");
}

#[test]
fn an_event_that_was_cut_off_is_kept_as_far_as_it_came() {
    let den = Den::new();
    let whole = call("s", &den.sandbox.path("project"), "wholeword").to_string();
    let (cut, _) = whole.split_at(whole.find("in the usual").unwrap());
    assert_eq!(den.hook(cut).raw, "{}\n");
    den.drain();
    let events = den.events();
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!(den.items().len(), 1);
}

#[test]
fn more_than_sixteen_mib_are_cut_and_marked() {
    let den = Den::new();
    let _ear = den.deaf();
    let mut event = call("s", &den.sandbox.path("project"), "hugeword");
    event["tool_response"]["stdout"] = json!("line of output\n".repeat(20 * MIB / 15));
    let bytes = event.to_string();
    assert!(bytes.len() > 20 * MIB);
    den.hook(bytes);
    let spooled = remora_client::read_spooled(&den.spooled()[0], u64::MAX).unwrap();
    assert_eq!(spooled.payload.len(), 16 * MIB);
    assert!(spooled.envelope.cut);
}

#[test]
fn a_cut_giant_is_remembered() {
    let den = Den::new();
    let mut event = call("s", &den.sandbox.path("project"), "giantword");
    event["tool_response"]["stdout"] = json!("line of output\n".repeat(17 * MIB / 15));
    den.hook(event.to_string());
    den.drain();
    assert_eq!(den.events().len(), 1);
    assert!(den.items()[0].title.contains("giantword"));
}

#[test]
fn an_end_that_never_comes_is_waited_for_about_a_second() {
    let den = Den::new();
    let whole = call("s", &den.sandbox.path("project"), "opened").to_string();
    for (sent, answer) in [(whole.as_str(), "{}\n"), ("{\"session_id\":", ""), ("", "")] {
        let started = Instant::now();
        let mut child = den
            .command(PROGRAM)
            .args(["hook", "claude-code"])
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(sent.as_bytes()).unwrap();
        let done = child.wait_with_output().unwrap();
        let took = started.elapsed();
        drop(stdin);
        assert_eq!(
            (done.status.code(), done.stdout, done.stderr),
            (Some(0), answer.into(), Vec::new())
        );
        assert!(took >= Duration::from_millis(900), "{took:?}");
        assert!(took < Duration::from_secs(20), "{took:?}");
        den.drain();
        assert_eq!(den.events().len(), 1);
    }
}

#[test]
fn a_writer_that_never_stops_is_left_behind() {
    let den = Den::new();
    let mut child = den
        .command(PROGRAM)
        .args(["hook", "claude-code"])
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || while stdin.write_all(&[b' '; 4096]).is_ok() {});
    let done = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert_eq!(
        (done.status.code(), done.stdout, done.stderr),
        (Some(0), Vec::new(), Vec::new())
    );
}

#[test]
fn closed_streams_harm_nobody() {
    let den = Den::new();
    let folder = den.sandbox.path("project");
    let event = call("s", &folder, "closed").to_string();
    let file = den.sandbox.write("event.json", &event);
    let lines = [
        ("exec \"$1\" hook claude-code <&-", ""),
        ("exec \"$1\" hook claude-code < \"$2\" >&-", ""),
        ("exec \"$1\" hook claude-code < \"$2\" 2>&-", "{}\n"),
        ("exec \"$1\" hook claude-code <&- >&- 2>&-", ""),
        // A folder can be opened but not read.
        ("exec \"$1\" hook claude-code < /", ""),
        ("exec \"$1\" hook claude-code < \"$2\" > /dev/full", ""),
    ];
    for (line, answer) in lines {
        let done = den
            .command("/bin/sh")
            .args(["-c", line, "sh", PROGRAM])
            .arg(&file)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = String::from_utf8(done.stdout).unwrap();
        assert_eq!(
            (done.status.code(), text.as_str(), done.stderr),
            (Some(0), answer, Vec::new()),
            "{line}"
        );
    }
    den.drain();
    assert_eq!(den.events().len(), 1, "the same call three times is one");
}

#[test]
fn a_reader_that_has_gone_is_no_failure() {
    let den = Den::new();
    let event = call("s", &den.sandbox.path("project"), "unread").to_string();
    let mut child = den
        .command(PROGRAM)
        .args(["hook", "claude-code"])
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    feed(child.stdin.take().unwrap(), event.into_bytes());
    let mut said = Vec::new();
    child.stderr.take().unwrap().read_to_end(&mut said).unwrap();
    assert_eq!((child.wait().unwrap().code(), said), (Some(0), Vec::new()));
    den.drain();
    assert_eq!(den.events().len(), 1);
}

#[test]
fn an_agent_that_is_not_known_is_answered_too() {
    let den = Den::new();
    let event = call("s", &den.sandbox.path("project"), "x").to_string();
    for args in [
        &["hook"][..],
        &["hook", ""],
        &["hook", "nobodys-agent"],
        &["hook", "--help"],
        &["hook", "../../etc"],
    ] {
        let done = den.remora(args).stdin(event.clone()).go();
        valid(&done);
        assert_eq!(done.raw, "", "{args:?}");
    }
    assert_eq!(den.spooled(), Vec::<std::path::PathBuf>::new());
    let log = std::fs::read_to_string(den.paths.hook_log()).unwrap();
    assert!(log.contains("`nobodys-agent` is not an agent"), "{log}");
}

#[test]
fn further_words_after_the_agent_change_nothing() {
    let den = Den::new();
    let event = call("s", &den.sandbox.path("project"), "further").to_string();
    let done = den
        .remora(&["hook", "claude-code", "--quick", "PostToolUse"])
        .stdin(event)
        .go();
    valid(&done);
    den.drain();
    assert_eq!(den.events().len(), 1);
}
