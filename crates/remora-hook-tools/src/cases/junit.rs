//! Results as `JUnit` XML, which CI systems read.

use std::fmt::Write;
use std::path::Path;

use super::CaseResult;

/// The whole document: one suite a file. Files below `root` are named relative
/// to it.
pub fn write_junit(results: &[CaseResult], root: &Path) -> String {
    let mut files: Vec<&Path> = results.iter().map(|r| r.file.as_path()).collect();
    files.dedup();
    let failures = results.iter().filter(|r| !r.passed).count();
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"remora hooks test\" tests=\"{}\" failures=\"{failures}\" time=\"{}\">\n",
        results.len(),
        format_seconds(results.iter()),
    );
    for file in files {
        let suite = || results.iter().filter(|r| r.file == file);
        let name = file.strip_prefix(root).unwrap_or(file).to_string_lossy();
        // Writing into a string cannot fail.
        let _ = writeln!(
            xml,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" time=\"{}\">",
            escape_xml(&name),
            suite().count(),
            suite().filter(|r| !r.passed).count(),
            format_seconds(suite()),
        );
        for result in suite() {
            let _ = write!(
                xml,
                "    <testcase classname=\"{}\" name=\"{}\" time=\"{}\"",
                escape_xml(&name),
                escape_xml(&result.name),
                format_seconds(std::iter::once(result)),
            );
            if result.passed {
                xml.push_str("/>\n");
                continue;
            }
            let keys: Vec<&str> = result.mismatches.iter().map(|m| m.key.as_str()).collect();
            let details = result.mismatches.iter().fold(String::new(), |mut all, m| {
                let _ = write!(
                    all,
                    "{}\nexpected: {}\nfound: {}\n",
                    m.key, m.expected, m.found
                );
                all
            });
            let _ = write!(
                xml,
                ">\n      <failure message=\"{} not as expected\">{}</failure>\n    </testcase>\n",
                escape_xml(&keys.join(", ")),
                escape_xml(&details),
            );
        }
        xml.push_str("  </testsuite>\n");
    }
    xml.push_str("</testsuites>\n");
    xml
}

fn format_seconds<'a>(results: impl Iterator<Item = &'a CaseResult>) -> String {
    let milliseconds: u64 = results.map(|r| r.duration_ms).sum();
    format!("{}.{:03}", milliseconds / 1000, milliseconds % 1000)
}

/// Text of an element or attribute; characters that XML has no place for become
/// the replacement character.
fn escape_xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {
                escaped.push('\u{fffd}');
            }
            c => escaped.push(c),
        }
    }
    escaped
}
