//! Whether a later turn amends an earlier one: it says that something is to be
//! otherwise, and it is about the same thing. What a turn gives up is worked out
//! when it is stored, because recall compares many turns in a few milliseconds.

use std::cell::{OnceCell, RefCell};

use remora_core::detail::{DetailFlag, DetailList};
use remora_core::record::{Item, Kind};

use crate::fix::REVERTED_PREFIX;
use crate::recall::supersession::{chosen_words, dropped_things, find_withdrawal};
use crate::words::{TermSplitter, WordHashes, is_stop, word_number};

/// How somebody says that what was done is to be otherwise, beside the ways to
/// take something back by name.
const CHANGE_CUES: &[&str] = &[
    "actually",
    "changed how",
    "changed my mind",
    "does not hold",
    "doesn't hold",
    "go back",
    "is not enough",
    "is wrong",
    "isn't enough",
    "migrate",
    "move the",
    "moving",
    "not good enough",
    "on second thought",
    "redo",
    "replacing",
    "rethink",
    "reverse",
    "supersedes",
    "switch to",
    "turned out",
    "was wrong",
    "we were wrong",
];
/// How a conclusion says that it takes the place of an earlier one.
const REPLACEMENT_CUES: &[&str] = &[
    "amended",
    "amending",
    "amendment",
    "overrides the",
    "replaces the old",
    "supersedes",
    "superseding",
];
/// The words of a prompt that a turn must share to be about it.
const MIN_ABOUT_WORDS: usize = 3;
/// The same of a turn that speaks of what the earlier one spoke of.
const MIN_TALK_ABOUT_WORDS: usize = 1;
/// The share of the shorter one's words that both turns must have in common, and
/// how many words that must be: where they changed a file in common, and where
/// they did not.
const MIN_SHARED_SAME_FILE: (f64, usize) = (0.3, 2);
const MIN_SHARED_OTHER_FILE: (f64, usize) = (0.4, 3);
/// The same where the later one says that it replaces another.
const MIN_SHARED_REPLACED: (f64, usize) = (0.2, 4);
/// The same for talk that goes on within a session.
const MIN_SHARED_TALK: (f64, usize) = (0.25, 4);
/// The same where the later one took out lines that the earlier one put in.
const MIN_SHARED_WORK: (f64, usize) = (0.12, 3);
/// Words of a statement that a turn must say to be about it, and not about what
/// else was stated with it.
const MIN_STATED_WORDS: usize = 2;
/// Words in common that make a number the same one.
const MIN_NUMBER_CONTEXT_WORDS: usize = 1;
/// What stands before a number that was given up.
const NUMBER_MARK: char = '#';

/// What a turn gives up by name, each thing as words with spaces between.
pub(crate) fn given_up(asked: &[String], conclusion: &[String]) -> Vec<String> {
    let said: Vec<&str> = asked.iter().chain(conclusion).map(String::as_str).collect();
    let text = said.join("\n");
    let things = dropped_things(&text).into_iter();
    let mut things: Vec<String> = things.map(|thing| thing.join(" ")).collect();
    things.extend(numbers_given_up(&text));
    things
}

/// Numbers that another one took the place of: `from 8 to 12`, `8 → 12`,
/// `180, not 90`. With a mark before them, because a number names nothing by
/// itself.
fn numbers_given_up(text: &str) -> Vec<String> {
    let number = |word: &str| -> Option<String> {
        let digits = word.trim_matches(|c: char| !c.is_ascii_digit());
        (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
            .then(|| digits.to_owned())
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let after = |n: usize| words.get(at + n).copied().unwrap_or_default();
        let old = match *word {
            "from" if after(2) == "to" && number(after(3)).is_some() => number(after(1)),
            "→" | "->" if number(after(1)).is_some() => {
                at.checked_sub(1).and_then(|before| number(words[before]))
            }
            "not"
                if words[..at]
                    .iter()
                    .rev()
                    .take(3)
                    .any(|w| number(w).is_some()) =>
            {
                number(after(1))
            }
            _ => None,
        };
        found.extend(old.map(|old| format!("{NUMBER_MARK}{old}")));
    }
    found.dedup();
    found
}

/// Whether what is asked for, or concluded, is to be otherwise than before.
pub(crate) fn takes_turn(asked: &[String], conclusion: &[String]) -> bool {
    let asks = asked.iter().any(|prompt| {
        let lower = prompt.to_lowercase();
        find_withdrawal(prompt).is_some() || CHANGE_CUES.iter().any(|cue| lower.contains(cue))
    });
    asks || conclusion.iter().any(|said| has_replacement_cue(said))
}

fn has_replacement_cue(said: &str) -> bool {
    let lower = said.to_lowercase();
    REPLACEMENT_CUES.iter().any(|cue| lower.contains(cue))
}

/// A turn or a statement as it is compared with many others: its words are read
/// when they are asked for, and once.
#[derive(Debug)]
pub(crate) struct ComparedTurn<'a> {
    item: &'a Item,
    splitter: &'a RefCell<TermSplitter>,
    /// Whether it asks for something to be otherwise than before.
    turns: bool,
    gives_up: Vec<&'a str>,
    /// Whether a conclusion of it says that it replaces another.
    replaces: OnceCell<bool>,
    asked: OnceCell<WordHashes>,
    subject: OnceCell<WordHashes>,
    all: OnceCell<WordHashes>,
    chosen: OnceCell<WordHashes>,
    added: OnceCell<WordHashes>,
    removed: OnceCell<WordHashes>,
}

impl<'a> ComparedTurn<'a> {
    pub(crate) fn from_item(item: &'a Item, splitter: &'a RefCell<TermSplitter>) -> Self {
        Self {
            item,
            splitter,
            turns: item.detail_flag(DetailFlag::Turns) == Some(true),
            gives_up: item.detail_list(DetailList::GivesUp).collect(),
            replaces: OnceCell::new(),
            asked: OnceCell::new(),
            subject: OnceCell::new(),
            all: OnceCell::new(),
            chosen: OnceCell::new(),
            added: OnceCell::new(),
            removed: OnceCell::new(),
        }
    }

    pub(crate) fn of_all(
        items: impl IntoIterator<Item = &'a Item>,
        splitter: &'a RefCell<TermSplitter>,
    ) -> Vec<Self> {
        let items = items.into_iter();
        items.map(|item| Self::from_item(item, splitter)).collect()
    }

    /// Whether it is this row.
    pub(crate) fn is_of(&self, item: &Item) -> bool {
        self.item.id == item.id && self.item.uid == item.uid
    }

    /// Whether a checkpoint may amend any other.
    fn may_amend(&self) -> bool {
        self.turns || !self.gives_up.is_empty() || !self.removed_line_hashes().is_empty()
    }

    fn is_replacement(&self) -> bool {
        let concludes = || {
            self.item
                .detail_list(DetailList::Conclusion)
                .any(has_replacement_cue)
        };
        *self.replaces.get_or_init(concludes)
    }

    /// The words of what was asked.
    fn asked_words(&self) -> &WordHashes {
        let asked = || self.read_words([asked_of(self.item)]);
        self.asked.get_or_init(asked)
    }

    /// The words of what was asked and concluded.
    fn subject_words(&self) -> &WordHashes {
        self.subject
            .get_or_init(|| self.asked_and(DetailList::Conclusion))
    }

    /// The words of all that was asked and said.
    fn all_words(&self) -> &WordHashes {
        self.all.get_or_init(|| self.asked_and(DetailList::Said))
    }

    /// The words of what was asked, and of this list.
    fn asked_and(&self, list: DetailList) -> WordHashes {
        self.read_words(self.item.detail_list(list))
            .with(self.asked_words())
    }

    /// The words of what was chosen.
    fn selected_words(&self) -> &WordHashes {
        let chosen = || chosen_words(&asked_of(self.item)).iter().collect();
        self.chosen.get_or_init(chosen)
    }

    /// Prints of the lines of code that were put in.
    fn added_line_hashes(&self) -> &WordHashes {
        let added = || self.item.detail_list(DetailList::AddedLines).collect();
        self.added.get_or_init(added)
    }

    /// Prints of the lines of code that were taken out.
    fn removed_line_hashes(&self) -> &WordHashes {
        let removed = || self.item.detail_list(DetailList::RemovedLines).collect();
        self.removed.get_or_init(removed)
    }

    fn read_words<S: AsRef<str>>(&self, texts: impl IntoIterator<Item = S>) -> WordHashes {
        words_of(texts, &mut self.splitter.borrow_mut())
    }
}

/// Whether a later checkpoint amends an earlier one, or a statement.
pub(crate) fn amends_turn(later: &ComparedTurn<'_>, earlier: &ComparedTurn<'_>) -> bool {
    let (new, old) = (later.item, earlier.item);
    let is_later = new.time > old.time.max(old.last_time) && new.uid != old.uid;
    if !is_later || is_same_turn(new, old) || !later.may_amend() {
        return false;
    }
    replaces_work(later, earlier)
        || takes_another_turn(later, earlier)
        || drops_what(later, earlier)
}

/// Whether a later checkpoint amends a statement of this earlier turn: it took out
/// what the turn put in, and speaks of what was stated. Where nothing else was
/// stated in the turn, that is what was carried out.
pub(crate) fn amends_stated(
    later: &ComparedTurn<'_>,
    turn: &ComparedTurn<'_>,
    statement: &Item,
    is_only: bool,
) -> bool {
    if later.item.time <= turn.item.time || !replaces_work(later, turn) {
        return false;
    }
    let stated = || later.read_words([&statement.title]);
    is_only || stated().count_shared(later.subject_words()) >= MIN_STATED_WORDS
}

/// Whether another session took out what the earlier turn put in, and both speak
/// of the same thing. Within a session that is how work goes on.
pub(crate) fn replaces_work(later: &ComparedTurn<'_>, earlier: &ComparedTurn<'_>) -> bool {
    later.item.session != earlier.item.session
        && later
            .removed_line_hashes()
            .count_shared(earlier.added_line_hashes())
            > 0
        && later
            .all_words()
            .shares(earlier.all_words(), MIN_SHARED_WORK)
}

fn is_same_turn(one: &Item, other: &Item) -> bool {
    !one.session.is_empty() && one.session == other.session && one.prompt == other.prompt
}

fn have_same_file(one: &Item, other: &Item) -> bool {
    let mut files = one.files_modified.iter();
    files.any(|file| other.files_modified.contains(file))
}

/// Whether what is asked for is the subject of the earlier turn, to be otherwise.
fn takes_another_turn(later: &ComparedTurn<'_>, earlier: &ComparedTurn<'_>) -> bool {
    if !later.turns {
        return false;
    }
    let same_file = have_same_file(later.item, earlier.item);
    let least = match (same_file, later.is_replacement()) {
        (true, _) => MIN_SHARED_SAME_FILE,
        (false, true) => MIN_SHARED_REPLACED,
        (false, false) => MIN_SHARED_OTHER_FILE,
    };
    // A conclusion that says so tells what it is about, too.
    let new = if later.is_replacement() {
        later.subject_words()
    } else {
        later.asked_words()
    };
    new.shares(earlier.subject_words(), least)
}

/// Whether a later turn of a session is still about what the earlier one was, so
/// that its conclusion is the one that counts: both are talk about the prompt at
/// hand. Where something was done, each turn tells what came of its own work.
pub(crate) fn goes_on(later: &Item, earlier: &Item, prompt: &str) -> bool {
    let is_work = |turn: &Item| {
        // What was tried and taken back was work, too.
        let mut notes = turn.detail_list(DetailList::Notes);
        !turn.files_modified.is_empty() || notes.any(|note| note.starts_with(REVERTED_PREFIX))
    };
    if is_work(later) || is_work(earlier) {
        return false;
    }
    let splitter = &mut TermSplitter::default();
    let new = words_of([all_of(later)], splitter);
    let about = new.count_shared(&words_of([prompt], splitter));
    about >= MIN_ABOUT_WORDS
        || about >= MIN_TALK_ABOUT_WORDS
            && new.shares(&words_of([all_of(earlier)], splitter), MIN_SHARED_TALK)
}

/// Whether a later checkpoint says by name that something goes which the earlier
/// one chose or set up.
pub(crate) fn drops_by_name(later: &ComparedTurn<'_>, earlier: &ComparedTurn<'_>) -> bool {
    later.item.time > earlier.item.time && drops_what(later, earlier)
}

/// Whether something goes by name that the earlier turn chose, or set up in a
/// file that both changed.
fn drops_what(later: &ComparedTurn<'_>, earlier: &ComparedTurn<'_>) -> bool {
    if later.gives_up.is_empty() {
        return false;
    }
    let same_file = have_same_file(later.item, earlier.item);
    let held = if same_file {
        earlier.subject_words()
    } else {
        earlier.selected_words()
    };
    let named = |word: &str| word.chars().count() > 2 && held.contains(word);
    let mut things = later.gives_up.iter();
    things.any(|thing| {
        if let Some(number) = thing.strip_prefix(NUMBER_MARK) {
            return same_file && holds_number(later, earlier, number);
        }
        let is_named = !thing.is_empty() && thing.split(' ').all(named);
        is_named && !earlier.gives_up.contains(thing)
    })
}

/// Whether the earlier turn told the number of the same thing.
fn holds_number(later: &ComparedTurn<'_>, earlier: &ComparedTurn<'_>, number: &str) -> bool {
    let subject = subject_of(earlier.item);
    let mut words = subject.split(|c: char| !c.is_ascii_digit() && c != '.');
    words.any(|word| word.trim_end_matches('.') == number)
        && later.subject_words().count_shared(earlier.subject_words()) >= MIN_NUMBER_CONTEXT_WORDS
}

pub(super) fn asked_of(item: &Item) -> String {
    if item.kind == Kind::Summary {
        item.detail_list(DetailList::Asked)
            .collect::<Vec<_>>()
            .join(" ")
    } else {
        item.title.clone()
    }
}

/// What a turn was about: what was asked and what was concluded; of a statement
/// what it says.
fn subject_of(item: &Item) -> String {
    let said = item
        .detail_list(DetailList::Conclusion)
        .collect::<Vec<_>>()
        .join(" ");
    format!("{} {said}", asked_of(item))
}

/// All that was asked and said in a turn.
fn all_of(item: &Item) -> String {
    let said = item
        .detail_list(DetailList::Said)
        .collect::<Vec<_>>()
        .join(" ");
    format!("{} {said}", asked_of(item))
}

pub(super) fn words_of<S: AsRef<str>>(
    texts: impl IntoIterator<Item = S>,
    splitter: &mut TermSplitter,
) -> WordHashes {
    let mut numbers = Vec::new();
    for text in texts {
        splitter.for_each_term(text.as_ref(), |term, _| {
            if !is_stop(term) && term.chars().count() > 2 {
                numbers.push(word_number(term));
            }
        });
    }
    WordHashes::of_numbers(numbers)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::item;

    fn amends(later: &Item, earlier: &Item) -> bool {
        let splitter = RefCell::default();
        super::amends_turn(
            &ComparedTurn::from_item(later, &splitter),
            &ComparedTurn::from_item(earlier, &splitter),
        )
    }

    fn turn(time: i64, asked: &str, conclusion: &str, file: &str) -> Item {
        let (asked, said) = (vec![asked.to_owned()], vec![conclusion.to_owned()]);
        Item {
            kind: Kind::Summary,
            time,
            last_time: time,
            prompt: Some(1),
            session: format!("s{time}").into(),
            files_modified: vec![file.to_owned()],
            detail: Some(
                json!({
                    "gives_up": given_up(&asked, &said),
                    "turns": takes_turn(&asked, &said),
                    "asked": asked,
                    "said": said.clone(),
                    "conclusion": said,
                })
                .into(),
            ),
            ..item(&format!("t{time}"), "")
        }
    }

    #[test]
    fn a_later_turn_amends_what_it_gives_up_or_does_otherwise() {
        let redux = turn(
            1,
            "state for the editor, I'd say Redux Toolkit",
            "Redux is set up.",
            "store.ts",
        );
        let cases = [
            // By name, in a file that both changed; the agent says it.
            (
                "redux is overkill, go zustand",
                "Zustand instead of Redux.",
                "store.ts",
                true,
            ),
            // Another file, and the earlier turn chose nothing by a word for it.
            (
                "clean up the readme",
                "Removed Redux from the list.",
                "README.md",
                false,
            ),
            // The same file and nothing given up.
            (
                "add a slice for filters to the editor state",
                "Filters have a slice.",
                "store.ts",
                false,
            ),
            // To be otherwise, about the same.
            (
                "the state for the editor is wrong, make it a machine",
                "A machine.",
                "store.ts",
                true,
            ),
        ];
        for (asked, said, file, wanted) in cases {
            let later = turn(2, asked, said, file);
            assert_eq!(amends(&later, &redux), wanted, "{asked}");
            assert!(!amends(&redux, &later), "{asked}");
        }
        let tries = turn(
            1,
            "retry schedule: exponential, 8 tries, then dead letter",
            "8 tries are in.",
            "retry.go",
        );
        let more = turn(
            2,
            "make it 12 tries over 3 days",
            "maxTries went from 8 to 12.",
            "retry.go",
        );
        assert!(amends(&more, &tries));
        let mapbox = turn(
            1,
            "use mapbox-gl for the map",
            "The map is there.",
            "map.ts",
        );
        let later = turn(
            2,
            "the bill is too high, so maplibre instead of mapbox",
            "Done.",
            "tiles.ts",
        );
        assert!(amends(&later, &mapbox));
    }

    #[test]
    fn a_conclusion_may_say_that_it_replaces_another() {
        let old = turn(
            1,
            "how do we bill overage?",
            "Settled: overage bills in blocks, no free units.",
            "a.md",
        );
        let new = turn(
            2,
            "support keeps crediting small overage units",
            "Amended rule, superseding no free units: 25 overage units are free, the rest bills in blocks.",
            "b.md",
        );
        assert!(amends(&new, &old));
        let other = turn(2, "the logo is off", "Amended: the logo is higher.", "b.md");
        assert!(!amends(&other, &old));
    }

    #[test]
    fn talk_goes_on_until_its_last_turn_about_the_prompt() {
        let talk = |time, asked: &str, said: &str| Item {
            files_modified: Vec::new(),
            ..turn(time, asked, said, "")
        };
        let first = talk(
            1,
            "window_p95 is too high",
            "I could drop the largest sample.",
        );
        let prompt = "window_p95 reports more latency than the traces, fix the window";
        let last = talk(
            2,
            "always two",
            "window_p95 drops the top 2 of every window.",
        );
        let other = talk(3, "and the rollout?", "On Monday, region by region.");
        assert!(goes_on(&last, &first, prompt));
        assert!(!goes_on(&other, &first, prompt));
        // Where work was done, each turn speaks for itself.
        let work = turn(
            2,
            "window_p95",
            "window_p95 drops the top 2 of a window.",
            "a.rs",
        );
        assert!(!goes_on(&work, &first, prompt));
    }

    #[test]
    fn a_turn_that_takes_out_the_lines_of_another_amends_it() {
        let lines = |item: Item, added: &[&str], removed: &[&str]| {
            let mut item = item;
            if let Some(detail) = &mut item.detail {
                detail.set_list(DetailList::AddedLines, added);
                detail.set_list(DetailList::RemovedLines, removed);
            }
            item
        };
        let hold = turn(
            1,
            "while a customer pays, hold the slot for 15 minutes",
            "Slots are held for 15 minutes.",
            "holds.ts",
        );
        let hold = lines(hold, &["aa", "bb"], &[]);
        // Nothing is named that goes.
        let shorter = turn(
            2,
            "slots sit there blocked for customers who left. 6 minutes",
            "A slot is held for 6 minutes.",
            "holds.ts",
        );
        assert!(amends(&lines(shorter.clone(), &["cc"], &["aa"]), &hold));
        // It changed the file, but none of those lines.
        assert!(!amends(&lines(shorter.clone(), &["cc"], &["dd"]), &hold));
        // A session goes on with its own work.
        let same = Item {
            session: hold.session.clone(),
            prompt: Some(2),
            ..lines(shorter, &["cc"], &["aa"])
        };
        assert!(!amends(&same, &hold));
        // The lines go because the file does; it is about something else.
        let other = turn(2, "tidy up the imports", "Imports are sorted.", "holds.ts");
        let other = lines(other, &[], &["aa"]);
        assert!(!amends(&other, &hold));
        // Of two statements of a turn, the one that is spoken of.
        let stated = |text: &str| Item {
            kind: Kind::Preference,
            ..item("p", text)
        };
        let later = lines(
            turn(
                2,
                "hold a slot for 6 minutes",
                "Slots: 6 minutes.",
                "holds.ts",
            ),
            &[],
            &["aa"],
        );
        let slot = stated("hold the slot for 15 minutes");
        let mails = stated("mails are sent by the queue");
        let splitter = RefCell::default();
        let (later, hold) = (
            ComparedTurn::from_item(&later, &splitter),
            ComparedTurn::from_item(&hold, &splitter),
        );
        assert!(amends_stated(&later, &hold, &slot, false));
        assert!(!amends_stated(&later, &hold, &mails, false));
        assert!(amends_stated(&later, &hold, &mails, true));
    }

    #[test]
    fn a_statement_is_amended_like_a_turn() {
        let stated = Item {
            kind: Kind::Decision,
            time: 1,
            last_time: 1,
            ..item("d", "Let's use SSM Parameter Store for the secrets")
        };
        let later = turn(
            2,
            "We're moving the secrets from SSM to Secrets Manager",
            "Done.",
            "a.tf",
        );
        assert!(amends(&later, &stated));
        let other = turn(
            2,
            "We're moving the logs to another bucket",
            "Done.",
            "a.tf",
        );
        assert!(!amends(&other, &stated));
    }
}
