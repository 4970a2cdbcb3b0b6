//! Summary entries from the agent's last message: done, found, left, warnings.
//! Classified by headings, list marks and how sentences begin.

pub(super) mod phrases;

use remora_core::text::truncate_bytes;

use self::phrases::{EntryTopic, of_heading, of_sentence, reports_red_run};
use super::request::is_trivial;
use crate::sentence::{self, BlockKind, Checkbox, MarkdownBlock, strip_markup};

/// The entries from a message.
#[derive(Debug, Default)]
pub(super) struct MessageEntries {
    pub(super) learned: Vec<String>,
    pub(super) completed: Vec<String>,
    pub(super) next_steps: Vec<String>,
    pub(super) notes: Vec<String>,
    /// What it says still fails.
    pub(super) failing: Vec<String>,
    /// The first sentences that say something, used if nothing else was found.
    pub(super) answer: Vec<String>,
}

/// How many sentences represent a plain answer.
const MAX_ANSWER_SENTENCES: usize = 2;
/// The most characters of an answer that is no sentence.
const MAX_SHORT_ANSWER_CHARS: usize = 40;
/// A summary never shows more; a long message costs no more than these.
const MAX_TOPIC_ENTRIES: usize = 40;
/// Of a longer message only the ends are read: results come first, what is left
/// comes last.
const MAX_END_BYTES: usize = 24_000;

impl MessageEntries {
    /// Whether the message says nothing worth keeping.
    pub(super) fn is_trivial(&self) -> bool {
        self.answer.is_empty() && self.list_count() == 0
    }

    fn list_count(&self) -> usize {
        let lists = [
            &self.learned,
            &self.completed,
            &self.next_steps,
            &self.notes,
        ];
        self.failing.len() + lists.iter().map(|list| list.len()).sum::<usize>()
    }

    fn add_entry(&mut self, topic: EntryTopic, text: &str) {
        // A red run is a state of the moment, wherever the message lists it.
        if matches!(topic, EntryTopic::Completed | EntryTopic::Learned) && reports_red_run(text) {
            self.failing.push(strip_line_marks(text));
            return;
        }
        let list = match topic {
            EntryTopic::Completed => &mut self.completed,
            EntryTopic::Learned => &mut self.learned,
            EntryTopic::Next => &mut self.next_steps,
            EntryTopic::Note => &mut self.notes,
        };
        if list.len() < MAX_TOPIC_ENTRIES && !only_nods(text) {
            list.push(strip_line_marks(text));
        }
    }
}

pub(super) fn extract_message_entries(message: &str) -> MessageEntries {
    let mut said = MessageEntries::default();
    if is_trivial(message) {
        return said;
    }
    let ends = split_ends(message);
    for part in ends {
        let blocks = sentence::parse_blocks(&sentence::without_tagged(part));
        let mut reader = MessageParser {
            said: &mut said,
            section: None,
            label: None,
            turning: None,
        };
        let mut at = 0;
        while at < blocks.len() {
            at += reader.parse_block(&blocks[at..]);
        }
    }
    said
}

/// The whole message, if it is only a few words.
pub(super) fn extract_short_answer(message: &str) -> Option<String> {
    let text = strip_markup(message.trim());
    let text = text.trim_end_matches(['.', '。']);
    let short = !message.trim().contains('\n') && text.chars().count() <= MAX_SHORT_ANSWER_CHARS;
    let tells = text.contains(char::is_alphanumeric) && !text.ends_with(['?', '？', ':', '：']);
    (short && tells && !is_trivial(message) && !is_filler(text)).then(|| text.to_owned())
}

fn split_ends(message: &str) -> Vec<&str> {
    if message.len() <= 2 * MAX_END_BYTES {
        return vec![message];
    }
    let head = truncate_bytes(message, MAX_END_BYTES);
    let tail = &message[truncate_bytes(message, message.len() - MAX_END_BYTES).len()..];
    vec![head, tail.find('\n').map_or(tail, |at| &tail[at..])]
}

struct MessageParser<'a> {
    said: &'a mut MessageEntries,
    /// What the heading above announces.
    section: Option<EntryTopic>,
    /// What a line such as "Still open:" announces for the list below it.
    label: Option<EntryTopic>,
    /// A label such as "Reverted" without which the items of a list would say the
    /// opposite.
    turning: Option<String>,
}

impl MessageParser<'_> {
    /// Reads the first block and the blocks below it that belong to it; returns how
    /// many.
    fn parse_block(&mut self, blocks: &[MarkdownBlock]) -> usize {
        let block = &blocks[0];
        match block.kind {
            BlockKind::Heading => {
                self.apply_heading(&strip_markup(&block.text));
                1
            }
            BlockKind::Paragraph => {
                self.parse_paragraph(block, blocks.get(1));
                1
            }
            BlockKind::Item { depth, mark } => self.parse_list_item(blocks, depth, mark),
        }
    }

    /// Applies a heading to everything below it.
    fn apply_heading(&mut self, heading: &str) {
        self.section = of_heading(heading);
        self.label = None;
        self.turning = phrases::turning_label(heading);
    }

    /// An item of a list of completed work, with the label it needs to be true.
    fn with_label(&self, topic: EntryTopic, text: String) -> String {
        match &self.turning {
            Some(label) if topic == EntryTopic::Completed && !phrases::tells_deed(&text) => {
                format!("{label}: {text}")
            }
            _ => text,
        }
    }

    fn parse_paragraph(&mut self, block: &MarkdownBlock, next: Option<&MarkdownBlock>) {
        let bold_only = block.text.starts_with("**")
            && block.text.trim_end_matches([':', '：']).ends_with("**")
            && block.text.matches("**").count() == 2;
        let list_follows = next.is_some_and(|n| matches!(n.kind, BlockKind::Item { .. }));
        let words = strip_markup(&block.text);
        if bold_only {
            self.apply_heading(&words);
            return;
        }
        if self.label.take().is_some() {
            self.turning = None;
        }
        let sentences = sentence::split_sentences(&block.text);
        let count = sentences.len();
        let mut found = false;
        for (at, raw) in sentences.into_iter().enumerate() {
            let text = strip_markup(raw);
            let announces = at + 1 == count && text.ends_with([':', '：']);
            if announces && (list_follows || of_heading(&text).is_some() && count == 1) {
                self.label = of_heading(&text).or_else(|| of_sentence(&text));
                self.turning = phrases::turning_label(&text);
                continue;
            }
            // "Next steps: a, b" on one line.
            if let Some((label, rest)) = text.split_once([':', '：'])
                && label.chars().count() <= 40
                && rest.chars().count() >= 4
                && rest.starts_with(|c: char| c.is_whitespace() || sentence::is_wide(c))
                && let Some(topic) = of_heading(label)
            {
                // Without a label such as "Fixed" the rest would claim the fault.
                let line = match phrases::turning_label(label) {
                    Some(_) => text.clone(),
                    None => capitalise_first(rest.trim()),
                };
                self.said.add_entry(topic, &line);
                continue;
            }
            if phrases::announces_finding(&text) && at + 1 < count {
                found = true;
                continue;
            }
            if std::mem::take(&mut found) {
                self.said.add_entry(EntryTopic::Learned, &text);
                continue;
            }
            self.parse_sentence(&text);
        }
    }

    fn parse_sentence(&mut self, text: &str) {
        // Prose below "Changes" explains the list and is no deed itself; elsewhere it
        // belongs to its heading.
        let section = self.section.filter(|s| *s != EntryTopic::Completed);
        let topic = of_sentence(text).or(section);
        if topic.is_none() && reports_red_run(text) {
            self.said.add_entry(EntryTopic::Learned, text);
            return;
        }
        if let Some(topic) = topic {
            self.said.add_entry(topic, text);
        }
        let empty = text.ends_with([':', '：', '?', '？'])
            || text.chars().count() < 8
            || is_filler(text)
            || only_nods(text)
            || reports_red_run(text);
        if self.said.answer.len() < MAX_ANSWER_SENTENCES && !empty {
            self.said.answer.push(strip_line_marks(text));
        }
    }

    fn parse_list_item(&mut self, blocks: &[MarkdownBlock], depth: usize, mark: Checkbox) -> usize {
        let below = blocks[1..]
            .iter()
            .take_while(|b| matches!(b.kind, BlockKind::Item { depth: d, .. } if d > depth))
            .count();
        let mut text = strip_markup(&blocks[0].text);
        // "Parent:" means nothing without the items below it.
        let parent = text.ends_with([':', '：']);
        let topic = self.label.or(self.section);
        let own = match mark {
            Checkbox::Checked => Some(EntryTopic::Completed),
            Checkbox::Unchecked => Some(EntryTopic::Next),
            Checkbox::None => None,
        };
        let boxes = blocks[1..=below].iter().any(|b| {
            !matches!(
                b.kind,
                BlockKind::Item {
                    mark: Checkbox::None,
                    ..
                }
            )
        });
        if boxes {
            if !parent && let Some(topic) = own {
                self.said.add_entry(topic, &text);
            }
            return 1;
        }
        if parent {
            let children: Vec<String> = blocks[1..=below]
                .iter()
                .take(6)
                .map(|b| {
                    strip_markup(&b.text)
                        .trim_end_matches(['.', '。', ';', '；'])
                        .to_owned()
                })
                .collect();
            if !children.is_empty() {
                text = format!("{text} {}", children.join("; "));
            }
        }
        let own = own.or_else(|| phrases::find_topic_override(&text));
        if let Some(topic) = own.or(topic) {
            let line = match own {
                Some(_) => text,
                None => self.with_label(topic, text),
            };
            self.said.add_entry(topic, &line);
            return 1 + below;
        }
        for spoken in sentence::split_sentences(&text) {
            if let Some(topic) = of_sentence(spoken) {
                self.said.add_entry(topic, spoken);
            }
        }
        let asks = text.ends_with(['?', '？']) || reports_red_run(&text);
        if self.said.answer.len() < MAX_ANSWER_SENTENCES && text.chars().count() >= 8 && !asks {
            self.said.answer.push(strip_line_marks(&text));
        }
        1 + below
    }
}

fn is_filler(text: &str) -> bool {
    let lower = text.to_lowercase();
    [
        "sure",
        "great",
        "let me",
        "of course",
        "certainly",
        "i'll",
        "okay",
        "got it",
        "understood",
        "you're welcome",
        "no problem",
        "happy to",
        "glad",
        "good question",
        "好的",
        "没问题",
        "当然",
        "不客气",
    ]
    .iter()
    .any(|f| lower.starts_with(f))
        && text.chars().count() < 60
        || lower.starts_with("let me know")
}

/// Whether a text says no more than yes, done or failed.
fn only_nods(text: &str) -> bool {
    const NOD_WORDS: &[&str] = &[
        "again",
        "all",
        "did",
        "didn't",
        "does",
        "doesn't",
        "not",
        "sorry",
        "that",
        "this",
        "unfortunately",
        "work",
        "alright",
        "d'accord",
        "done",
        "erledigt",
        "fait",
        "failed",
        "fails",
        "fertig",
        "good",
        "great",
        "hecho",
        "is",
        "it",
        "it's",
        "ja",
        "listo",
        "now",
        "ok",
        "okay",
        "oui",
        "right",
        "set",
        "sí",
        "still",
        "sure",
        "that's",
        "vale",
        "works",
        "yes",
    ];
    let lower = text.to_lowercase().replace('’', "'");
    let mut words = lower
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| !word.is_empty())
        .peekable();
    words.peek().is_some() && words.all(|word| NOD_WORDS.contains(&word))
}

/// The text with a capital letter, for what followed a label.
fn capitalise_first(text: &str) -> String {
    let word = text.split_whitespace().next().unwrap_or_default();
    let mut chars = text.chars();
    match chars.next() {
        Some(first) if word.chars().all(|c| c.is_ascii_alphabetic()) => {
            first.to_uppercase().chain(chars).collect()
        }
        _ => text.to_owned(),
    }
}

/// The text without marks at the beginning of a line.
fn strip_line_marks(text: &str) -> String {
    text.trim_start_matches(|c: char| c.is_whitespace() || "✅❌⚠️✓✔☑️-–—•:：🎉🚀".contains(c))
        .trim_start_matches("好的，")
        .trim()
        .to_owned()
}
