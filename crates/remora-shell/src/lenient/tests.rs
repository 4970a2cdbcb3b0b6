use super::*;

/// The parts of a line, the words of each with `|` between them.
fn parts(line: &str) -> Vec<String> {
    let parts = CommandLine::parse(line).parts;
    parts.iter().map(|part| part.words.join("|")).collect()
}

#[test]
fn a_line_falls_into_programs_with_their_words() {
    for (line, expected) in [
        ("cargo test -p a", &["cargo|test|-p|a"][..]),
        ("cd x && make; ls", &["cd|x", "make", "ls"]),
        ("a || b | c |& d & e", &["a", "b", "c", "d", "e"]),
        ("echo 'a b' \"c \\\"d\" e\\ f", &["echo|a b|c \"d|e f"]),
        ("(cd x; { ls; } )", &["cd|x", "ls"]),
        ("ls # not a word", &["ls"]),
        ("echo a#b", &["echo|a#b"]),
        (
            "echo $(git log; ls) `pwd; ls`",
            &["echo|$(git log; ls)|`pwd; ls`"],
        ),
        ("a \\\n  b", &["a|b"]),
        ("cat <<'E' > x\nrm -rf /\nE\nls", &["cat", "ls"]),
        ("diff <(a b) c", &["diff|<(a b)|c"]),
        ("", &[]),
    ] {
        assert_eq!(parts(line), expected, "{line:?}");
    }
}

#[test]
fn what_only_says_how_a_program_runs_goes() {
    for (line, expected) in [
        ("X=1 sudo -u me cargo test", &["cargo|test"][..]),
        ("timeout -s KILL 5 nice -n 3 make", &["make"]),
        ("bash -lc 'cd x && make'", &["cd|x", "make"]),
        ("if make; then ls; fi", &["make", "ls", "fi"]),
        ("time", &["time"]),
    ] {
        assert_eq!(parts(line), expected, "{line:?}");
    }
}

#[test]
fn redirections_are_no_arguments() {
    let line = CommandLine::parse("make 2>/dev/null > out.txt 2>&1 < in.txt");
    let expected = CommandPart {
        join: PartJoin::First,
        words: vec!["make".to_owned()],
        into: Some("out.txt".to_owned()),
        fed: false,
    };
    assert_eq!(line.parts, [expected]);
    assert!(CommandLine::parse("psql <<E\nselect 1\nE").parts[0].fed);
}

#[test]
fn verbs_are_found_behind_options_with_values() {
    let line = CommandLine::parse("cd x; git -C folder status | head; cargo +nightly test");
    assert!(line.runs_program(&["git", "status"]));
    assert!(line.runs_program(&["cargo", "test"]));
    assert!(!line.runs_program(&["git", "folder"]));
    let working: Vec<&str> = line.working_parts().map(CommandPart::program).collect();
    assert_eq!(working, ["git", "cargo"]);
}

#[test]
fn what_is_cut_or_deep_still_gives_words() {
    assert_eq!(parts("echo 'not closed"), ["echo|not closed"]);
    assert_eq!(parts("echo $(not closed"), ["echo|$(not closed"]);
    assert_eq!(parts(&"ls;".repeat(100)).len(), MAX_PARTS);
    let long = format!("echo {}", "ä".repeat(MAX_SCANNED_BYTES));
    assert_eq!(parts(&long).len(), 1);
}
