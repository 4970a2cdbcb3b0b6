//! An item that is not true stays as a tombstone: it is shown with its reason, is
//! injected nowhere, and is not learned again.

use remora_core::record::Rejection;
use remora_memory::overrides::statement_key;
use serde::Serialize;

use super::{CorrectedItem, CorrectionLimits, ItemSummary, find_tombstone, refuse_address};
use crate::app::App;
use crate::error::{AppError, ErrorKind, Hint, Result};
use crate::rejections::RejectionView;
use crate::text::flatten_text;

/// Which item is wrong.
#[derive(Debug, Clone)]
pub struct RejectRequest {
    /// Its number or name.
    pub item: String,
    /// What is true instead.
    pub because: Option<String>,
}

/// The item, and that it is wrong.
#[derive(Debug, Serialize)]
pub struct RejectResponse {
    /// The item.
    #[serde(flatten)]
    pub item: ItemSummary,
    /// `None` once it counts again.
    pub wrong: Option<RejectionView>,
}

impl App {
    /// Marks an item as wrong; it loses its pin.
    pub fn reject_item(&self, request: &RejectRequest) -> Result<RejectResponse> {
        refuse_address(&request.item)?;
        let limits = CorrectionLimits::Within(self.change_limits()?);
        let reason = request.because.as_deref().unwrap_or_default();
        let reason = flatten_text(&self.clean_text(reason)?);
        let corrected = self.correct_item(&request.item, &limits, |_, item, said| {
            said.statement = statement_key(&item.title);
            said.pinned = None;
            said.rejected = Some(Rejection {
                time: self.clock.now_ms(),
                reason,
                kind: Some(item.kind),
            });
            Ok(None)
        })?;
        Ok(corrected.into())
    }

    /// Takes a rejection back.
    pub fn restore_item(&self, name: &str) -> Result<RejectResponse> {
        refuse_address(name)?;
        self.require_user("a rejection is taken back")?;
        let anything = CorrectionLimits::Anything;
        let corrected = self.correct_item(name, &anything, |store, item, said| {
            if said.rejected.take().is_some() {
                return Ok(None);
            }
            Err(match find_tombstone(store, item)? {
                Some(id) => AppError::new(
                    ErrorKind::Conflict,
                    format!("#{} says the same as #{id}, which is marked wrong", item.id),
                )
                .with_hint(Hint::TakeBackRejection(id)),
                None => AppError::new(
                    ErrorKind::Conflict,
                    format!("#{} is not marked wrong", item.id),
                ),
            })
        })?;
        Ok(corrected.into())
    }
}

impl From<CorrectedItem> for RejectResponse {
    fn from(corrected: CorrectedItem) -> Self {
        Self {
            item: (&corrected.item).into(),
            wrong: corrected.said.rejected.as_ref().map(RejectionView::from),
        }
    }
}
