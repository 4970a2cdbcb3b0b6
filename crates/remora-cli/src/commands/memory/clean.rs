//! What must not be kept goes before a memory is written, and before its name
//! is made: secrets become marks, private passages are left out.

use remora_notes::advice::{Advice, AdviceTopic};
use remora_redact::private::strip_private;
use remora_redact::{RedactionCounts, Redactor};

use crate::error::CliError;

/// What replaces a private passage.
const PRIVATE_MARK: &str = "[private]";
/// How every mark of a secret begins.
const REDACTION_MARK_PREFIX: &str = "[redacted:";

/// Cleans the texts of one memory, and knows what went.
pub(super) struct MemoryRedactor<'a> {
    /// `None` where secrets are refused instead.
    redactor: Option<&'a Redactor>,
    marks: RedactionCounts,
    private: bool,
}

impl<'a> MemoryRedactor<'a> {
    pub(super) fn new(redactor: Option<&'a Redactor>) -> Self {
        Self {
            redactor,
            marks: RedactionCounts::new(),
            private: false,
        }
    }

    pub(super) fn redact_text(&mut self, text: &str) -> String {
        let kept = strip_private(text);
        self.private |= kept != text;
        match self.redactor {
            Some(redactor) => redactor.redact_text(&kept, &mut self.marks).into_owned(),
            None => kept.into_owned(),
        }
    }

    /// The words of a memory; the error says that nothing is left of them.
    pub(super) fn redact_body(&mut self, text: &str) -> Result<String, CliError> {
        let text = self.redact_text(text);
        match self.nothing_left(&text) {
            None => Ok(text),
            Some(why) => Err(CliError::Usage(format!("{why}; nothing was saved"))),
        }
    }

    /// Why a text that was cleaned is not worth keeping.
    pub(super) fn nothing_left(&self, text: &str) -> Option<String> {
        let marked = text.contains(REDACTION_MARK_PREFIX) || text.contains(PRIVATE_MARK);
        if !marked || says_something(text) {
            return None;
        }
        Some(match self.secret_kinds().join(", ").as_str() {
            "" => "the memory is nothing but a private passage".to_owned(),
            kinds => format!("the memory is nothing but a secret ({kinds})"),
        })
    }

    /// A name that a user chose becomes a file's name as it is, or not at all.
    pub(super) fn name(&self, name: &str) -> Result<(), CliError> {
        let mut alone = Self::new(self.redactor);
        alone.redact_text(name);
        match alone.secret_kinds().join(", ").as_str() {
            "" => Ok(()),
            kinds => Err(CliError::Usage(format!(
                "the name holds a secret ({kinds}); give another name, nothing was saved"
            ))),
        }
    }

    /// The kinds of secrets that went.
    pub(super) fn secret_kinds(&self) -> Vec<String> {
        self.marks.iter().map(|mark| mark.kind.to_owned()).collect()
    }

    /// What went from these of its texts, in a word each.
    pub(super) fn removed_kinds(&self, texts: &[&str]) -> Vec<String> {
        let occurs = |mark: &str| texts.iter().any(|text| text.contains(mark));
        let mut gone = self.secret_kinds();
        gone.retain(|kind| occurs(&format!("{REDACTION_MARK_PREFIX}{kind}]")));
        if self.private && occurs(PRIVATE_MARK) {
            gone.push("private".to_owned());
        }
        gone
    }

    /// What to say about it.
    pub(super) fn to_advice(&self) -> Vec<Advice> {
        let mut notes: Vec<String> = self
            .secret_kinds()
            .into_iter()
            .map(|kind| {
                format!("a secret was redacted: {REDACTION_MARK_PREFIX}{kind}] is in its place")
            })
            .collect();
        if self.private {
            notes.push("a passage that is marked as private was left out".to_owned());
        }
        notes
            .into_iter()
            .map(|text| Advice {
                matter: AdviceTopic::Secret,
                text,
            })
            .collect()
    }
}

/// Whether there is a word beside the marks.
fn says_something(text: &str) -> bool {
    let text = text.replace(PRIVATE_MARK, "");
    let mut parts = text.split(REDACTION_MARK_PREFIX);
    let first = parts.next().unwrap_or_default();
    let after = parts.map(|part| part.split_once(']').map_or("", |(_, rest)| rest));
    std::iter::once(first)
        .chain(after)
        .any(|part| part.contains(char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use remora_redact::RedactionRules;

    use super::*;

    #[test]
    fn what_is_left_of_a_text() {
        let redactor = Redactor::new(&RedactionRules::default()).unwrap();
        let secret = ["ghp", "_0123456789abcdefghijklmnopqrstuvwxyzAB"].concat();
        for (text, left) in [
            ("✓".to_owned(), Some("✓")),
            (format!("`{secret}`."), None),
            (format!("{secret}\n<private>x</private>\n{secret}"), None),
            (format!("{secret} 1"), Some("[redacted:github-token] 1")),
            ("<private>x</private>".to_owned(), None),
            ("<private>x</private>é".to_owned(), Some("[private]é")),
        ] {
            let kept = MemoryRedactor::new(Some(&redactor)).redact_body(&text).ok();
            assert_eq!(kept.as_deref(), left, "{text}");
        }
    }
}
