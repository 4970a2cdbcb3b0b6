//! Items that every session of their project begins with.

use remora_core::ids::ProjectKey;
use remora_core::record::{Item, Override};
use remora_memory::overrides::Overrides;
use remora_memory::store::{ItemRef, Store};
use serde::Serialize;

use super::{CorrectedItem, CorrectionLimits, ItemSummary, refuse_address, refuse_wrong};
use crate::app::App;
use crate::error::{AppError, ErrorKind, Hint, Result};
use crate::recall_environment::RecallSettings;

/// Pins of one project: what always comes must stay little.
const MAX_PINS: usize = 12;

/// The item, and whether it is pinned.
#[derive(Debug, Serialize)]
pub struct PinResponse {
    /// The item.
    #[serde(flatten)]
    pub item: ItemSummary,
    /// Whether it is pinned now.
    pub pinned: bool,
}

/// What is pinned in a project.
#[derive(Debug, Serialize)]
pub struct PinsResponse {
    project: ProjectKey,
    /// The first pinned first.
    pub pins: Vec<ItemSummary>,
    /// What they cost at every start.
    #[serde(skip)]
    pub tokens: u32,
    /// What a start may cost in all.
    #[serde(skip)]
    pub start_tokens: u32,
}

impl App {
    /// Pins an item.
    pub fn pin_item(&self, name: &str) -> Result<PinResponse> {
        self.change_pin(name, |app, store, item, said| {
            refuse_wrong(store, item, said)?;
            let pins = list_pinned_items(store, &item.project)?;
            if said.pinned.is_none() && pins.len() >= MAX_PINS {
                let text = format!("{MAX_PINS} items are pinned in {} already", item.project);
                return Err(AppError::new(ErrorKind::Conflict, text).with_hint(Hint::Unpin));
            }
            Ok(said.pinned.or(Some(app.clock.now_ms())))
        })
    }

    /// Ends a pin.
    pub fn unpin_item(&self, name: &str) -> Result<PinResponse> {
        self.change_pin(name, |_, _, item, said| match said.pinned {
            Some(_) => Ok(None),
            None => Err(AppError::new(
                ErrorKind::Conflict,
                format!("#{} is not pinned", item.id),
            )),
        })
    }

    fn change_pin(
        &self,
        name: &str,
        change: impl FnOnce(&Self, &dyn Store, &Item, &Override) -> Result<Option<i64>>,
    ) -> Result<PinResponse> {
        refuse_address(name)?;
        self.require_user("items are pinned")?;
        let anything = CorrectionLimits::Anything;
        let CorrectedItem { item, said } =
            self.correct_item(name, &anything, |store, item, said| {
                said.pinned = change(self, store, item, said)?;
                Ok(None)
            })?;
        Ok(PinResponse {
            item: (&item).into(),
            pinned: said.pinned.is_some(),
        })
    }

    /// What is pinned in a project; in the caller's own if none is named.
    pub fn list_pins(&self, project: Option<&ProjectKey>) -> Result<PinsResponse> {
        let project = match project {
            Some(project) => project.clone(),
            None => self.current_project()?,
        };
        let items = match self.open_store()? {
            Some(store) => list_pinned_items(&*store, &project)?,
            None => Vec::new(),
        };
        let limits = RecallSettings::from_config(&self.config).limits;
        Ok(PinsResponse {
            project,
            pins: items.iter().map(ItemSummary::from).collect(),
            tokens: items.iter().map(|item| item.digest_tokens).sum(),
            start_tokens: limits.start_tokens,
        })
    }
}

/// The pinned items of a project, the first pinned first.
fn list_pinned_items(store: &dyn Store, project: &str) -> Result<Vec<Item>> {
    let overrides = Overrides::new(store.list_overrides(Some(project))?);
    let names = overrides.pinned_uids().into_iter();
    let names: Vec<ItemRef> = names.map(|uid| ItemRef::Uid(uid.into())).collect();
    Ok(store.find_items(&names)?)
}
