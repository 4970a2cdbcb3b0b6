//! Notes as their headings cut them: a title, the facts of one long file, and
//! whether a file only lists others. Headings in code are none.

/// The parts of a text under its `##` headings, and what comes before them if
/// that says something. Empty when there is no such heading.
pub(super) fn split_sections(text: &str) -> Vec<(Option<String>, String)> {
    let mut parts: Vec<(Option<String>, String)> = vec![(None, String::new())];
    for (line, heading) in lines_with_headings(text) {
        if let Some((2, title)) = heading {
            parts.push((Some(title.to_owned()), String::new()));
        } else if let Some((_, body)) = parts.last_mut() {
            body.push_str(line);
            body.push('\n');
        }
    }
    if parts.len() == 1 {
        return Vec::new();
    }
    parts.retain_mut(|(title, body)| {
        *body = body.trim().to_owned();
        match title {
            Some(_) => !body.is_empty(),
            None => lines_with_headings(body)
                .any(|(line, heading)| heading.is_none() && !line.trim().is_empty()),
        }
    });
    parts
}

/// The first heading of any depth.
pub(super) fn first_heading(text: &str) -> Option<String> {
    lines_with_headings(text).find_map(|(_, heading)| heading.map(|(_, title)| title.to_owned()))
}

/// Whether a file is a list of other files.
pub(super) fn is_index(name: &str, text: &str) -> bool {
    let usual = ["readme", "index", "memory", "_index", "contents"];
    if !usual.contains(&name.to_lowercase().as_str()) {
        return false;
    }
    let (mut links, mut others) = (0, 0);
    for (line, heading) in lines_with_headings(text) {
        let line = line.trim();
        if line.is_empty() || heading.is_some() {
            continue;
        }
        let entry = line.starts_with(['-', '*', '+', '|'])
            || line.starts_with(|c: char| c.is_ascii_digit());
        if entry && (line.contains("](") || line.contains("[[") || line.contains(".md")) {
            links += 1;
        } else {
            others += 1;
        }
    }
    links > others
}

/// Lines outside of code, each with its heading's depth and title if it is one.
/// Lines of code come as they are.
fn lines_with_headings(text: &str) -> impl Iterator<Item = (&str, Option<(usize, &str)>)> {
    let mut fence: Option<&str> = None;
    text.lines().map(move |line| {
        let start = line.trim_start();
        let mark = ["```", "~~~"]
            .into_iter()
            .find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => {
                fence = Some(mark);
                return (line, None);
            }
            (Some(open), Some(mark)) if open == mark => {
                fence = None;
                return (line, None);
            }
            (Some(_), _) => return (line, None),
            (None, None) => {}
        }
        let depth = line.bytes().take_while(|b| *b == b'#').count();
        let title = line.get(depth..).unwrap_or_default();
        let is_heading = (1..=6).contains(&depth) && title.starts_with([' ', '\t']);
        let title = title.trim().trim_end_matches('#').trim_end();
        let heading = (is_heading && !title.is_empty()).then_some((depth, title));
        (line, heading)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_file_falls_into_its_facts() {
        let text = "# Facts\n\n## No mocks\nUse the real store.\n### Why\nThey lied.\n```\n## no heading\n```\n## Empty\n\n## Ports ##\n8080\n";
        let parts = split_sections(text);
        assert_eq!(
            parts,
            [
                (
                    Some("No mocks".to_owned()),
                    "Use the real store.\n### Why\nThey lied.\n```\n## no heading\n```".to_owned()
                ),
                (Some("Ports".to_owned()), "8080".to_owned()),
            ]
        );
        assert_eq!(split_sections("# One fact\nonly"), []);
        let lead = split_sections("Always first.\n## Then\nthis");
        assert_eq!(lead[0], (None, "Always first.".to_owned()));
    }

    #[test]
    fn headings_and_indexes_are_told_from_words() {
        assert_eq!(first_heading("text\n\n## Deep\n"), Some("Deep".to_owned()));
        assert_eq!(first_heading("#no\n```\n# code\n```"), None);
        let index = "# Notes\n- [One](one.md): first\n- [Two](two.md)\n";
        assert!(is_index("README", index));
        assert!(!is_index("decisions", index));
        assert!(!is_index(
            "README",
            "# App\nRun it with make.\nThen stop.\n"
        ));
    }
}
