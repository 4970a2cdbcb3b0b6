use proptest::strategy::Strategy as _;
use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct Case {
    name: String,
    patch: String,
    files: Option<Vec<Vec<String>>>,
    paths: Vec<String>,
}

/// A file in a few lines: what happened to it, its text, its pieces.
fn describe_edit(edit: &FileEdit) -> Vec<String> {
    let mut lines = vec![match &edit.change {
        FileChange::Created => format!("created {}", edit.path),
        FileChange::Updated => format!("updated {}", edit.path),
        FileChange::Deleted => format!("deleted {}", edit.path),
        FileChange::Moved { from } => format!("moved {from} to {}", edit.path),
    }];
    let text = edit.new.as_deref().unwrap_or_default();
    lines.extend(text.lines().map(|line| format!("+{line}")));
    for hunk in &edit.hunks {
        lines.push(format!("@@ {} {}", hunk.old_lines, hunk.new_lines));
        lines.extend(hunk.lines.iter().cloned());
    }
    lines
}

#[test]
fn patches_are_read_as_the_cases_say() {
    let cases: Vec<Case> =
        serde_json::from_str(include_str!("../../../cases/patches.json")).unwrap();
    for case in cases {
        let files = parse_patch(&case.patch)
            .map(|edits| edits.iter().map(describe_edit).collect::<Vec<_>>());
        assert_eq!(files, case.files, "{}", case.name);
        assert_eq!(list_patch_paths(&case.patch), case.paths, "{}", case.name);
    }
}

#[test]
fn an_added_file_is_known_whole() {
    let edits = parse_patch("*** Begin Patch\n*** Add File: a\n+x\n+\n+y\n*** End Patch").unwrap();
    assert_eq!(edits[0].new.as_deref(), Some("x\n\ny\n"));
    assert!(edits[0].is_whole_file && edits[0].is_named);
}

#[test]
fn of_a_huge_patch_the_first_files_are_read_and_all_paths_listed() {
    let files: Vec<String> = (0..1_000)
        .map(|n| format!("*** Delete File: f{n}"))
        .collect();
    let files = files.join("\n");
    let patch = format!("*** Begin Patch\n{files}\n*** End Patch");
    assert_eq!(parse_patch(&patch).unwrap().len(), MAX_PATCH_FILES);
    assert_eq!(list_patch_paths(&patch).len(), 1_000);
}

proptest::proptest! {
    #[test]
    fn any_text_is_read_without_complaint(lines in proptest::collection::vec(
        proptest::prop_oneof![
            "\\PC{0,12}",
            "[-+ @]{0,3}[a-z]{0,4}",
            proptest::sample::select(vec![
                BEGIN, END, END_OF_FILE, "*** Add File: a", "*** Update File: b",
                "*** Delete File: c", "*** Move to: d", "@@", "", "***",
            ]).prop_map(str::to_owned),
        ], 0..12,
    )) {
        let text = lines.join("\n");
        let paths = list_patch_paths(&text);
        for edit in parse_patch(&text).unwrap_or_default() {
            proptest::prop_assert!(paths.contains(&edit.path.as_str()), "{text}");
            if let FileChange::Moved { from } = &edit.change {
                proptest::prop_assert!(paths.contains(&from.as_str()), "{text}");
            }
        }
    }
}
