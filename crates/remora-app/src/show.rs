//! Items in full, by number, name or address.

use remora_core::detail::{DetailNumber, ItemDetail};
use remora_core::record::{Item, Kind};
use remora_core::time::format_rfc3339;
use remora_memory::commit::reverted_by;
use remora_memory::end_date::item_ended_on;
use remora_memory::store::{ItemRef, Store};
use remora_notes::MEMORY_URI_SCHEME;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::error::Result;
use crate::rejections::{RejectionView, Rejections};
use crate::successors::{SuccessorView, Successors};

/// Counts of a fix.
pub const FIX_COUNTS: [DetailNumber; 3] = [
    DetailNumber::Fixed,
    DetailNumber::Held,
    DetailNumber::Returned,
];

/// Which items are shown.
#[derive(Debug, Clone, Default)]
pub struct ShowRequest {
    /// Numbers such as `12` or `#12`, the long names of items, or addresses of saved
    /// memories.
    pub ids: Vec<String>,
}

/// The items that are there, in the order asked for.
#[derive(Debug, Serialize)]
pub struct ShowResponse {
    /// In full.
    pub items: Vec<ShownItem>,
    /// What was asked for and is not there.
    pub missing: Vec<String>,
}

/// An item as it is, with its times as text and the detail of a summary or a fix
/// next to its fields.
#[derive(Debug, Serialize)]
pub struct ShownItem {
    /// The item.
    #[serde(flatten)]
    pub item: Item,
    /// That a user marked it wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wrong: Option<RejectionView>,
    /// What holds in its place, if a later statement superseded it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<SuccessorView>,
    /// Whether its words are the user's own.
    #[serde(skip_serializing_if = "is_off")]
    pub edited: bool,
    /// Whether every session begins with it.
    #[serde(skip_serializing_if = "is_off")]
    pub pinned: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<String>,
    when: String,
    last_when: String,
    #[serde(flatten)]
    more: Map<String, Value>,
    /// What its project is called; empty if no event described it.
    #[serde(skip)]
    pub project_name: String,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the attribute passes a reference"
)]
fn is_off(flag: &bool) -> bool {
    !flag
}

impl App {
    /// Items in full. Nothing being there is no error, except that nothing was ever
    /// stored.
    pub fn show(&self, request: &ShowRequest) -> Result<ShowResponse> {
        let store = self.require_store()?;
        let limits = self.read_limits()?;
        let rejections = Rejections::load(&*store)?;
        let projects = store.list_projects()?;
        let now = self.clock.now_ms();
        let mut successors = Successors::new(&*store, now);
        let mut response = ShowResponse {
            items: Vec::new(),
            missing: Vec::new(),
        };
        for id in &request.ids {
            let found = match self.find_saved_memory_item(&*store, id)? {
                None => find_item(&*store, id)?,
                found => found,
            };
            let readable = found.map(|item| limits.check_item(item)).transpose()?;
            match readable.flatten() {
                Some(item) => {
                    let project = projects.iter().find(|p| p.key == item.project);
                    let name = project.map(|p| p.name.clone()).unwrap_or_default();
                    let successor = successors.find(&item)?;
                    let shown = ShownItem::new(item, name, &rejections, successor, now);
                    response.items.push(shown);
                }
                None => response.missing.push(id.clone()),
            }
        }
        Ok(response)
    }

    /// The item of the memory with this address: of this project, or of everywhere.
    fn find_saved_memory_item(&self, store: &dyn Store, text: &str) -> Result<Option<Item>> {
        let address = text.trim();
        if !address.starts_with(MEMORY_URI_SCHEME) {
            return Ok(None);
        }
        let here = self.current_project().unwrap_or_default();
        Ok(match store.find_by_key(&here, Kind::Memory, address)? {
            None => store.find_by_key("", Kind::Memory, address)?,
            found => found,
        })
    }
}

/// The item with this number or name, whoever may read it.
pub fn find_item(store: &dyn Store, text: &str) -> Result<Option<Item>> {
    let text = text.trim();
    let digits = text.strip_prefix('#').unwrap_or(text);
    let number = digits.parse().ok().filter(|n| *n > 0).map(ItemRef::Id);
    let mut found = match number {
        Some(number) => store.find_items(&[number])?,
        None => Vec::new(),
    };
    // What was imported may be called by a number too.
    if found.is_empty() && !text.is_empty() {
        found = store.find_items(&[ItemRef::Uid(text.into())])?;
    }
    Ok(found.pop())
}

/// Why an item no longer holds, by its own words or by a later commit.
pub fn find_outdated_reason(item: &Item, now: i64) -> Option<String> {
    let reverted = reverted_by(item).map(|hash| format!("reverted by {hash}"));
    let ended = || Some(format!("ended {}", item_ended_on(item, now)?));
    reverted.or_else(ended)
}

impl ShownItem {
    fn new(
        item: Item,
        project_name: String,
        rejections: &Rejections,
        superseded_by: Option<SuccessorView>,
        now: i64,
    ) -> Self {
        let mut shown = Self {
            wrong: rejections.find(&item),
            superseded_by,
            edited: rejections.is_edited(&item),
            pinned: rejections.is_pinned(&item),
            ended: item_ended_on(&item, now),
            when: format_rfc3339(item.time),
            last_when: format_rfc3339(item.time.max(item.last_time)),
            more: Map::new(),
            project_name,
            item,
        };
        shown.more = shown.list_kind_fields();
        shown
    }

    /// What only items of this kind have.
    fn list_kind_fields(&self) -> Map<String, Value> {
        let mut fields = Map::new();
        match self.item.kind {
            Kind::Fix => {
                for counter in FIX_COUNTS {
                    let count = self.item.detail_count(counter).unwrap_or(0);
                    fields.insert(counter.name().to_owned(), json!(count));
                }
            }
            Kind::Summary => {
                let detail = self.item.detail.as_ref().map(ItemDetail::to_value);
                let own = serde_json::to_value(self).unwrap_or_default();
                if let Some(Value::Object(detail)) = detail {
                    // An item's own fields win over those of its detail.
                    let new = detail
                        .into_iter()
                        .filter(|(name, _)| own.get(name).is_none());
                    fields.extend(new);
                }
            }
            Kind::Commit => {
                fields.insert("reverted_by".to_owned(), json!(reverted_by(&self.item)));
            }
            _ => {}
        }
        fields
    }
}
