//! The user's own words in place of what was extracted. They are what is searched,
//! embedded and injected; the extracted ones are kept so that the edit can be undone.

use remora_core::record::{Item, ItemEdit};
use remora_core::tokens::estimate_tokens;
use remora_memory::overrides::edit_words;
use remora_memory::store::ItemWrite;
use serde::Serialize;

use super::{
    CorrectedItem, CorrectionLimits, ItemSummary, find_correctable, refuse_address, refuse_wrong,
    said_of,
};
use crate::app::App;
use crate::error::{AppError, ErrorKind, Hint, Result};
use crate::text::flatten_text;

/// A title is one line.
const MAX_TITLE_CHARS: usize = 300;
/// What an item may say at most.
const MAX_TEXT_BYTES: usize = 64 * 1024;

/// Words that a user typed; what is absent stays.
#[derive(Debug, Clone, Default)]
pub struct EditRequest {
    /// The item's number or name.
    pub item: String,
    /// The new title.
    pub title: Option<String>,
    /// The new text.
    pub text: Option<String>,
}

/// The item, and whether its words are the user's.
#[derive(Debug, Serialize)]
pub struct EditResponse {
    /// The item.
    #[serde(flatten)]
    pub item: ItemSummary,
    text: String,
    /// Whether its words are the user's now.
    pub edited: bool,
}

impl App {
    /// The item that is to be edited, if it can be: for faces that show its words
    /// first.
    pub fn find_editable(&self, name: &str) -> Result<Item> {
        self.check_edit(name)?;
        let store = self.require_store()?;
        let item = find_correctable(&*store, name, &CorrectionLimits::Anything)?;
        refuse_wrong(&*store, &item, &said_of(&*store, &item)?)?;
        Ok(item)
    }

    fn check_edit(&self, name: &str) -> Result<()> {
        refuse_address(name)?;
        self.require_user("items are edited")
    }

    /// Puts the user's words in.
    pub fn edit_item(&self, request: &EditRequest) -> Result<EditResponse> {
        self.check_edit(&request.item)?;
        let title = request.title.as_deref();
        let title = title.map(|title| self.clean_title(title)).transpose()?;
        let text = request.text.as_deref();
        let text = text.map(|text| self.clean_text(text)).transpose()?;
        if text.as_ref().is_some_and(|t| t.len() > MAX_TEXT_BYTES) {
            return Err(AppError::bad_request(
                "the text is longer than 64 KiB; an item is a short note",
            ));
        }
        let anything = CorrectionLimits::Anything;
        let corrected = self.correct_item(&request.item, &anything, |store, item, said| {
            refuse_wrong(store, item, said)?;
            let fresh = edit_words(item, self.clock.now_ms(), title, text);
            said.edit = Some(match said.edit.take() {
                None => fresh,
                // What was extracted stays known through any number of edits.
                Some(before) => ItemEdit {
                    title: fresh.title.or(before.title),
                    text: fresh.text.or(before.text),
                    facts: fresh.facts.or(before.facts),
                    original: before.original.or(fresh.original),
                    time: fresh.time,
                },
            });
            Ok(Some(ItemWrite::Keep(item.clone())))
        })?;
        Ok(corrected.into())
    }

    fn clean_title(&self, title: &str) -> Result<String> {
        let title = flatten_text(&self.clean_text(title)?);
        if title.is_empty() {
            return Err(AppError::bad_request("the title is empty").with_hint(Hint::DeleteItem));
        }
        Ok(title.chars().take(MAX_TITLE_CHARS).collect())
    }

    /// Brings the extracted words back.
    pub fn undo_edit(&self, name: &str) -> Result<EditResponse> {
        self.check_edit(name)?;
        let anything = CorrectionLimits::Anything;
        let corrected = self.correct_item(name, &anything, |_, item, said| {
            let Some(edit) = said.edit.take() else {
                let text = format!("#{} is not edited", item.id);
                return Err(AppError::new(ErrorKind::Conflict, text));
            };
            let Some(original) = edit.original else {
                return Ok(None);
            };
            let mut item = item.clone();
            item.title = original.title;
            item.text = original.text;
            item.facts = original.facts;
            if original.detail.is_some() {
                item.detail = original.detail;
            }
            let texts = [&item.title, &item.text].into_iter().chain(&item.facts);
            item.digest_tokens = texts.map(|text| estimate_tokens(text)).sum();
            Ok(Some(ItemWrite::Keep(item)))
        })?;
        Ok(corrected.into())
    }
}

impl From<CorrectedItem> for EditResponse {
    fn from(corrected: CorrectedItem) -> Self {
        Self {
            item: (&corrected.item).into(),
            text: corrected.item.text,
            edited: corrected.said.edit.is_some(),
        }
    }
}
