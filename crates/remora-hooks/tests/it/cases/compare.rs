//! Comparing what was found with what a case names, and only that.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::book::{ByLabel, Fields, text};

/// Endings of a key that say how it is compared.
pub(super) const SUFFIXES: [&str; 3] = ["_contains", "_lacks", "_units"];

pub(super) struct Problems(pub(super) Vec<String>);

impl Problems {
    pub(super) fn equal(&mut self, what: &str, found: &Value, expected: &Value) {
        if found != expected {
            self.0.push(format!("{what}: {found}, expected {expected}"));
        }
    }

    pub(super) fn contains(&mut self, what: &str, found: &str, part: &str) {
        if !found.contains(part) {
            self.0.push(format!("{what}: {found:?} lacks {part:?}"));
        }
    }

    pub(super) fn table(&mut self, what: &str, found: Vec<(String, Fields)>, expected: &ByLabel) {
        let found: BTreeMap<String, Fields> = found.into_iter().collect();
        for (label, fields) in expected {
            match found.get(label) {
                Some(row) => self.fields(&format!("{what} {label}"), row, fields),
                None => self.0.push(format!("{what}: there is no {label}")),
            }
        }
    }

    pub(super) fn fields(&mut self, what: &str, found: &Fields, expected: &Fields) {
        for (key, want) in expected {
            let suffix = SUFFIXES
                .iter()
                .find_map(|s| Some((key.strip_suffix(s)?, *s)));
            let (base, suffix) = suffix.unwrap_or((key, ""));
            let value = found.get(base).unwrap_or(&Value::Null);
            let what = format!("{what}.{key}");
            let parts = || match want {
                Value::Array(list) => list.iter().map(text).collect(),
                other => vec![text(other)],
            };
            match suffix {
                "_contains" => parts()
                    .iter()
                    .for_each(|p| self.contains(&what, &text(value), p)),
                "_lacks" if parts().iter().any(|p| text(value).contains(p.as_str())) => {
                    self.0.push(format!("{what}: {value} holds {want}"));
                }
                "_lacks" => {}
                "_units" => {
                    let units = |v: &Value| json!(text(v).encode_utf16().count());
                    let found = match value {
                        Value::Array(list) => list.iter().map(units).collect(),
                        other => units(other),
                    };
                    self.equal(&what, &found, want);
                }
                // Of headers only those named.
                _ if base == "headers" => {
                    let (all, some) = (value.as_object().unwrap(), want.as_object().unwrap());
                    self.fields(&what, all, some);
                }
                _ => self.equal(&what, value, want),
            }
        }
    }
}
