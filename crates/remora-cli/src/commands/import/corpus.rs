//! Messages of a conversation from elsewhere, one a line: `id`, `text`, and as
//! far as they are known `conv`, `session`, `seq`, `timestamp` and `speaker`.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use remora_core::record::{Item, Kind};
use remora_core::tokens;
use remora_redact::private;
use serde::Deserialize;

/// The agent's name in imported items.
pub(crate) const IMPORT_AGENT: &str = "import";
/// The longest title, in characters.
const MAX_TITLE_CHARS: usize = 100;

/// A message as the file has it.
#[derive(Debug, Deserialize)]
pub(super) struct CorpusMessage {
    id: MessageId,
    #[serde(default)]
    conv: Option<MessageId>,
    #[serde(default)]
    session: Option<MessageId>,
    #[serde(default)]
    seq: Option<i64>,
    #[serde(default)]
    timestamp: Option<MessageTimestamp>,
    #[serde(default)]
    speaker: Option<String>,
    text: String,
}

/// Some write numbers for names.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum MessageId {
    Text(String),
    Number(i64),
}

impl MessageId {
    fn to_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => number.to_string(),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum MessageTimestamp {
    Text(String),
    Number(f64),
}

/// When a message was said, as far as that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MessageTime {
    /// In milliseconds since 1970.
    At(i64),
    /// Only its place among the others is known.
    Place(i64),
}

impl CorpusMessage {
    /// The conversation it belongs to.
    pub(super) fn conv(&self) -> Option<String> {
        self.conv
            .as_ref()
            .map(MessageId::to_text)
            .filter(|conv| !conv.is_empty())
    }

    /// When it was said; `line` is its place where the file names no time.
    pub(super) fn parse_time(&self, line: u64) -> Result<MessageTime, String> {
        match &self.timestamp {
            None => {
                let line = i64::try_from(line).unwrap_or(i64::MAX);
                Ok(MessageTime::Place(self.seq.unwrap_or(line)))
            }
            Some(MessageTimestamp::Number(number)) => number_to_millis(*number)
                .map(MessageTime::At)
                .ok_or_else(|| format!("`timestamp`: {number} is no time")),
            Some(MessageTimestamp::Text(text)) => {
                parse_timestamp(text).map(MessageTime::At).ok_or_else(|| {
                    let text: String = text.chars().take(40).collect();
                    format!("`timestamp`: `{text}` is no time such as 2026-11-15T08:30:00Z")
                })
            }
        }
    }

    /// What is wrong with it, beyond its form.
    pub(super) fn check_fields(&self, project: Option<&str>) -> Result<(), String> {
        if self.id.to_text().is_empty() {
            return Err("`id` is empty".to_owned());
        }
        if project.is_none() && self.conv().is_none() {
            return Err("`conv` is missing; --project says where it belongs".to_owned());
        }
        Ok(())
    }

    /// The item it becomes.
    pub(super) fn into_item(self, project: &str, time: i64) -> Item {
        let conv = self.conv();
        let id = self.id.to_text();
        let uid = derive_uid(&[project, conv.as_deref().unwrap_or_default(), &id]);
        let session = self.session_in(conv.as_deref().unwrap_or(project));
        // As for events: an export of another tool may hold what a user marked
        // private.
        let text = private::strip_private(&self.text);
        let text = private::strip_injected(&text).into_owned();
        let title = derive_title(&text);
        Item {
            id: 0,
            uid: uid.into(),
            external_id: Some(id),
            key: None,
            kind: Kind::Message,
            digest_tokens: tokens::estimate_tokens(&title) + tokens::estimate_tokens(&text),
            raw_tokens: tokens::estimate_tokens(&self.text),
            title,
            text,
            facts: Vec::new(),
            concepts: Vec::new(),
            files_read: Vec::new(),
            files_modified: Vec::new(),
            time,
            last_time: time,
            seen: 1,
            project: project.into(),
            session: session.into(),
            agent: IMPORT_AGENT.into(),
            prompt: None,
            branch: None,
            subagent: None,
            speaker: self.speaker.filter(|speaker| !speaker.is_empty()),
            tool: None,
            tool_use_id: None,
            detail: None,
        }
    }

    /// Sessions of different conversations may be numbered alike.
    fn session_in(&self, conv: &str) -> String {
        match self.session.as_ref().map(MessageId::to_text) {
            // It names its conversation already.
            Some(session) if session.starts_with(conv) => session,
            Some(session) if !session.is_empty() => format!("{conv}/{session}"),
            _ => conv.to_owned(),
        }
    }
}

/// The lead of a text on one line, cut at a word.
pub(super) fn derive_title(text: &str) -> String {
    let mut title = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        let long = word.chars().count();
        if length + long + 1 > MAX_TITLE_CHARS {
            if title.is_empty() {
                title.extend(word.chars().take(MAX_TITLE_CHARS - 1));
            }
            title.push('…');
            break;
        }
        if !title.is_empty() {
            title.push(' ');
        }
        title.push_str(word);
        length += long + 1;
    }
    if title.is_empty() {
        "(empty)".clone_into(&mut title);
    }
    title
}

/// A name that is always the same for the same parts, in the form of a UUID of
/// one's own making (version 8), which the store keeps in few bytes.
pub(super) fn derive_uid(parts: &[&str]) -> String {
    let mut hash = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
    for part in parts {
        // Lengths keep `ab` + `c` apart from `a` + `bc`.
        let length = (part.len() as u64).to_le_bytes();
        for byte in length.iter().chain(part.as_bytes()) {
            hash ^= u128::from(*byte);
            hash = hash.wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    }
    // Version and variant bits of UUID version 8, which leaves all others to
    // us.
    let hash = hash & !(0xf << 76) & !(0b11 << 62) | 0x8 << 76 | 0b10 << 62;
    let hex = format!("{hash:032x}");
    format!(
        "{}-{}-{}-{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..]
    )
}

/// A time in text; without a zone it is in UTC.
fn parse_timestamp(text: &str) -> Option<i64> {
    let text = text.trim();
    if let Ok(timestamp) = text.parse::<jiff::Timestamp>() {
        return Some(timestamp.as_millisecond());
    }
    let civil = match text.parse::<DateTime>() {
        Ok(civil) => civil,
        Err(_) => text
            .parse::<Date>()
            .ok()?
            .to_datetime(jiff::civil::Time::midnight()),
    };
    let zoned = civil.to_zoned(TimeZone::UTC).ok()?;
    Some(zoned.timestamp().as_millisecond())
}

/// Seconds or milliseconds since 1970, distinguished by their size.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the range is checked before"
)]
fn number_to_millis(number: f64) -> Option<i64> {
    // The year 5138 in seconds, and March 1973 in milliseconds.
    const MAX_TIMESTAMP_SECS: f64 = 1e11;
    let millis = if number.abs() < MAX_TIMESTAMP_SECS {
        number * 1000.0
    } else {
        number
    };
    (millis.is_finite() && millis.abs() < 1e14).then(|| millis.round() as i64)
}

#[cfg(test)]
mod tests;
