//! Who an item quotes: whether it was the user, and whether the query names the
//! speaker. Each name is looked up once per search.

use std::collections::HashMap;

use remora_memory::embedding_text;
use remora_memory::store::Result;
use remora_memory::words::{Query, for_each_term};
use rusqlite::Connection;

use crate::sqlite::errors::StoreResultExt;
use crate::sqlite::names::{StringReader, StringTable};

/// The speaker of the user's own words.
const USER_SPEAKER: &str = "user";

/// What is known of a speaker.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SpeakerInfo {
    /// One bit per word of the query: whether the name contains it. Words beyond
    /// the 32nd are never taken for a name.
    says: u32,
    is_user: bool,
    role: bool,
}

impl SpeakerInfo {
    /// Whether the query's word at this index is part of the name.
    pub(super) fn is_name_word(self, word: usize) -> bool {
        u32::try_from(word).is_ok_and(|at| self.says.checked_shr(at).unwrap_or(0) & 1 == 1)
    }

    pub(super) fn is_user(self) -> bool {
        self.is_user
    }

    /// Whether the query names this speaker. A role such as "user" is no name: it
    /// would favour every prompt of a query that contains the word.
    pub(super) fn is_named(self) -> bool {
        self.says != 0 && !self.role
    }
}

/// The speakers looked up so far.
pub(super) struct SpeakerCache<'c> {
    texts: StringReader<'c>,
    query: &'c Query,
    known: HashMap<i64, SpeakerInfo>,
}

impl<'c> SpeakerCache<'c> {
    pub(super) fn new(conn: &'c Connection, query: &'c Query) -> Self {
        Self {
            texts: StringReader::new(conn),
            query,
            known: HashMap::new(),
        }
    }

    /// The speaker with this id.
    pub(super) fn get_speaker(&mut self, id: Option<i64>) -> Result<SpeakerInfo> {
        let Some(id) = id else {
            return Ok(SpeakerInfo::default());
        };
        if let Some(speaker) = self.known.get(&id) {
            return Ok(*speaker);
        }
        let name = self.texts.read_string(StringTable::Names, id).store_err()?;
        let mut terms = Vec::new();
        for_each_term(&name, |term, _| terms.push(term.to_owned()));
        let mut says = 0_u32;
        for (at, group) in self.query.groups().iter().enumerate() {
            let in_name = |way: &Vec<String>| way.iter().all(|term| terms.contains(term));
            if group.ways().iter().any(in_name) {
                let at = u32::try_from(at).unwrap_or(u32::MAX);
                says |= 1_u32.checked_shl(at).unwrap_or(0);
            }
        }
        let speaker = SpeakerInfo {
            says,
            is_user: name.eq_ignore_ascii_case(USER_SPEAKER),
            role: embedding_text::is_role(&name),
        };
        self.known.insert(id, speaker);
        Ok(speaker)
    }
}
