//! Who said a row, against the query: whether it was a person, and whether the
//! query names them. Each name is looked at once a search.

use std::collections::HashMap;

use remora_memory::about;
use remora_memory::store::Result;
use remora_memory::words::{Query, each};
use rusqlite::Connection;

use crate::sqlite::errors::Told;
use crate::sqlite::names::{Table, Texts};

/// What a person is called as a speaker.
const PERSON: &str = "user";

/// What is known of a speaker.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Speaker {
    /// For each word of the query, a bit.
    says: u32,
    person: bool,
    role: bool,
}

impl Speaker {
    /// Whether the query's word at this place is in the name.
    pub(super) fn says(self, word: usize) -> bool {
        u32::try_from(word).is_ok_and(|at| self.says.checked_shr(at).unwrap_or(0) & 1 == 1)
    }

    pub(super) fn is_person(self) -> bool {
        self.person
    }

    pub(super) fn is_named(self) -> bool {
        self.says != 0 && !self.role
    }
}

/// The speakers met so far.
pub(super) struct Speakers<'c> {
    texts: Texts<'c>,
    query: &'c Query,
    known: HashMap<i64, Speaker>,
}

impl<'c> Speakers<'c> {
    pub(super) fn new(conn: &'c Connection, query: &'c Query) -> Self {
        Self {
            texts: Texts::new(conn),
            query,
            known: HashMap::new(),
        }
    }

    /// The speaker with this number.
    pub(super) fn of(&mut self, id: Option<i64>) -> Result<Speaker> {
        let Some(id) = id else {
            return Ok(Speaker::default());
        };
        if let Some(speaker) = self.known.get(&id) {
            return Ok(*speaker);
        }
        let name = self.texts.text(Table::Names, id).told()?;
        let mut terms = Vec::new();
        each(&name, |term, _| terms.push(term.to_owned()));
        let mut says = 0_u32;
        for (at, group) in self.query.groups().iter().enumerate() {
            let in_name = |way: &Vec<String>| way.iter().all(|term| terms.contains(term));
            if group.ways().iter().any(in_name) {
                let at = u32::try_from(at).unwrap_or(u32::MAX);
                says |= 1_u32.checked_shl(at).unwrap_or(0);
            }
        }
        let speaker = Speaker {
            says,
            person: name.eq_ignore_ascii_case(PERSON),
            role: about::is_role(&name),
        };
        self.known.insert(id, speaker);
        Ok(speaker)
    }
}
