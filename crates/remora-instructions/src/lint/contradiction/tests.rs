//! Which statements are compared; whether they oppose each other is tested
//! with the words themselves.

use super::{ComparedText, find_conflicts};

fn clashes(texts: &[(&str, usize)]) -> Vec<String> {
    let texts: Vec<ComparedText<'_>> = texts
        .iter()
        .map(|(body, group)| ComparedText {
            name: "CLAUDE.md",
            body,
            group: *group,
        })
        .collect();
    let told = |c: super::ConflictingPair| {
        format!(
            "{}:{} {} / {}:{} {}: {}",
            c.first.text,
            c.first.line,
            c.first.words,
            c.second.text,
            c.second.line,
            c.second.words,
            c.about
        )
    };
    find_conflicts(&texts).into_iter().map(told).collect()
}

#[test]
fn two_files_of_one_prompt() {
    let (one, other) = ("# A\n\nUse tabs.", "x\n\n- Use 2 spaces. Be kind.");
    assert_eq!(
        clashes(&[(one, 0), (other, 0)]),
        ["0:3 Use tabs / 1:3 Use 2 spaces: tabs or spaces (indentation)"]
    );
    assert_eq!(clashes(&[(one, 0), (other, 1)]), [""; 0]);
    assert_eq!(
        clashes(&[
            ("Keep answers short", 0),
            ("Give long, detailed answers", 0)
        ]),
        ["0:1 Keep answers short / 1:1 Give long, detailed answers: they ask for opposite things"]
    );
}

#[test]
fn two_lines_of_one_file() {
    let told = ["0:2 Use npm / 0:3 Use yarn: npm or yarn (package manager)"];
    assert_eq!(clashes(&[("# A\n- Use npm.\n- Use yarn.", 0)]), told);
    // Another heading is another matter.
    let apart = "## Web\n- Use npm.\n## App\n- Use yarn.";
    assert_eq!(clashes(&[(apart, 0)]), [""; 0]);
    // Lines of a list are alike on purpose, those of two files are not.
    let (one, other) = ("- Input is `&str`", "- Input is `&[u8]`");
    assert_eq!(clashes(&[(&format!("{one}\n{other}"), 0)]), [""; 0]);
    assert_eq!(clashes(&[(one, 0), (other, 0)]).len(), 1);
}
