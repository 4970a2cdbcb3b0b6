//! What people and agents say: requests, wishes, last messages.

use super::chance::Dice;

const REQUESTS: &[&str] = &[
    "Please look into why the {a} of the {b} fails when the {c} is empty.",
    "Add a {a} to the {b} so that we can {c} it later.",
    "The {a} is too slow. Measure it first, then make the {b} smaller.",
    "Rename {a} to {b} everywhere, also in the {c}.",
    "Write tests for the {a}, at least one for each kind of {b}.",
    "No, that is wrong: the {a} must stay as it was before the {b}.",
    "Always run the {a} before you touch the {b}.",
    "I prefer a plain {a} to a {b}, because nobody here understands the {c}.",
    "Let us use a {a} instead of the {b}, because the {c} cannot be trusted.",
    "请先检查 {a}，然后修改 {b} 的配置。",
];

const SAYINGS: &[&str] = &[
    "The {a} now goes through the {b}, and the {c} is checked first.",
    "I decided to keep the {a} in the {b}, because the {c} reads it twice.",
    "The cause was a missing {a} in `{b}`: the {c} was taken for granted.",
    "All tests of the {a} pass; the {b} is still slow with a large {c}.",
    "Next, the {a} should be moved out of the {b}.",
    "The {a} has no effect on the {b} unless a {c} is given.",
    "I left the {a} alone, since the {b} depends on its {c}.",
];

fn filled(dice: &mut Dice, template: &str) -> String {
    let (a, b, c) = (dice.name(), dice.name(), dice.name());
    template
        .replace("{a}", &a)
        .replace("{b}", &b)
        .replace("{c}", &c)
}

pub(super) fn sentence(dice: &mut Dice) -> String {
    let template = dice.pick(SAYINGS);
    filled(dice, template)
}

pub(super) fn prompt(dice: &mut Dice) -> String {
    let mut text = String::new();
    for n in 0..=dice.below(4) {
        if n > 0 {
            text.push(' ');
        }
        let template = dice.pick(REQUESTS);
        text.push_str(&filled(dice, template));
    }
    text
}

/// A last message: prose, a heading and a list, as agents write.
pub(super) fn message(dice: &mut Dice) -> String {
    let mut text = sentence(dice);
    for _ in 0..dice.below(3) {
        text.push(' ');
        text.push_str(&sentence(dice));
    }
    text.push_str("\n\n## What changed\n\n");
    for _ in 0..=dice.below(6) {
        let (file, line) = (dice.name(), dice.below(400));
        text.extend([format!("- `src/{file}.rs:{line}`: {}\n", sentence(dice))]);
    }
    text
}
