//! Findings as SARIF 2.1.0, the format that code hosts show beside the lines.

use std::fmt::Write;
use std::path::Path;

use serde_json::{Value, json};

use super::{LINT_RULES, LintFinding, Severity};

/// The whole document. Files below `root` are named relative to it.
pub fn write_sarif(findings: &[LintFinding], root: &Path, version: &str) -> Value {
    let level = |severity| match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let rules: Vec<Value> = LINT_RULES
        .iter()
        .map(|rule| {
            json!({
                "id": rule.code,
                "shortDescription": { "text": rule.doc },
                "defaultConfiguration": { "level": level(rule.severity) },
            })
        })
        .collect();
    let results: Vec<Value> = findings
        .iter()
        .map(|finding| {
            json!({
                "ruleId": finding.code,
                "ruleIndex": LINT_RULES.iter().position(|rule| rule.code == finding.code),
                "level": level(finding.severity),
                "message": { "text": format!("{}. {}", finding.message, finding.advice) },
                "locations": [{ "physicalLocation": {
                    "artifactLocation": describe_file(&finding.file, root),
                    "region": {
                        "startLine": finding.position.line,
                        "startColumn": finding.position.column,
                    },
                }}],
            })
        })
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "remora hooks lint", "version": version, "rules": rules } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn describe_file(file: &Path, root: &Path) -> Value {
    match file.strip_prefix(root) {
        Ok(relative) => json!({ "uri": encode_path(relative), "uriBaseId": "%SRCROOT%" }),
        Err(_) => json!({ "uri": format!("file://{}", encode_path(file)) }),
    }
}

/// A path as part of a URI.
fn encode_path(path: &Path) -> String {
    let mut text = String::new();
    for byte in path.to_string_lossy().bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            // Writing into a string cannot fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_parts_of_uris() {
        assert_eq!(encode_path(Path::new("/a b/é.json")), "/a%20b/%C3%A9.json");
    }
}
