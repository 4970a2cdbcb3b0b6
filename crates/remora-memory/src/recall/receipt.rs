//! The answer to a prompt that asks for something to be remembered: one line
//! that quotes what is kept. The worker stores the item after the hook has
//! answered, so the line cites its words and no id.

use super::context_block::CONTEXT_TAG;
use super::sanitize::sanitize_line;
use crate::statement;
use remora_redact::private::{PRIVATE_PLACEHOLDER, strip_private};

/// Characters quoted of each statement.
const MAX_KEPT_CHARS: usize = 200;

/// The receipt for what a prompt asks to be remembered, if it asks for that.
pub fn save_confirmation(prompt: &str) -> Option<String> {
    // Private passages are never stored, so the receipt must not claim them.
    let kept = statement::find_on_purpose(&strip_private(prompt));
    let quoted: Vec<String> = kept
        .iter()
        .filter(|said| said.text != PRIVATE_PLACEHOLDER)
        .map(|said| format!("\"{}\"", sanitize_line(&said.text, MAX_KEPT_CHARS)))
        .collect();
    (!quoted.is_empty()).then(|| {
        format!(
            "<{CONTEXT_TAG}>\nRemora keeps this for later sessions of the project, as the user asked: {}. \
             `remora search` finds it by its words, `remora wrong` and `remora forget` take it back.\n</{CONTEXT_TAG}>",
            quoted.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::save_confirmation;

    #[test]
    fn what_is_asked_to_be_remembered_is_receipted_and_nothing_else() {
        let cases = [
            (
                "Remember: the staging database is wiped on Sundays.",
                Some("asked: \"The staging database is wiped on Sundays\". `remora"),
            ),
            (
                "fix the test. for the record, Petra owns the ledger",
                Some("asked: \"Petra owns the ledger\". `remora"),
            ),
            (
                "Remember:\n- deploys are on Tuesdays\n- no jQuery",
                Some("asked: \"Deploys are on Tuesdays\", \"No jQuery\". `remora"),
            ),
            ("remember that <private>the code is 1234</private>", None),
            ("from now on use tabs", None),
            ("do you remember the limit?", None),
            ("remember to push", None),
        ];
        for (prompt, wanted) in cases {
            let text = save_confirmation(prompt);
            let holds = |part: &str| text.as_ref().is_some_and(|text| text.contains(part));
            assert_eq!(text.is_some(), wanted.is_some(), "{prompt}: {text:?}");
            assert!(wanted.is_none_or(holds), "{prompt}: {text:?}");
        }
    }
}
