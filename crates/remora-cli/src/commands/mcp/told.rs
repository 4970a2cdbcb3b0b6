//! Rows, events and memories as the MCP server tells them. Only shapes: escaping
//! and bounds are the server's.

use jiff::Timestamp;
use remora_instructions::memories::{self, Type};
use remora_memory::private::{strip_injected, strip_private};
use remora_memory::recall::is_untrusted;
use remora_memory::redact::{Marks, Redactor};
use remora_memory::store::Hit;
use remora_protocol::record::{Item, Kind, Project};
use remora_protocol::tokens::estimate;
use remora_server::mcp::{Detail, Entry, Row, Source};

use crate::commands::memory::{ended_on, origin_of};
use crate::commands::show;
use crate::commands::show::lines::Local;
use crate::commands::timeline;
use crate::commands::wrong::Rejections;

/// A row of an index.
pub(super) fn row(hit: &Hit, rejections: &Rejections, local: &Local, projects: &[Project]) -> Row {
    let item = &hit.item;
    let project = projects.iter().find(|project| project.key == item.project);
    Row {
        id: item.id,
        day: local.day(item.time),
        kind: item.kind.name().to_owned(),
        title: title(item),
        tokens: tokens(item),
        place: project.map(|project| project.name.clone()),
        source: source(item),
        wrong: rejections.mark(item),
    }
}

/// A title that does not pass off as what holds what was reverted or has ended.
fn title(item: &Item) -> String {
    match show::outdated(item) {
        Some(why) => format!("{} ({why})", item.title),
        None => item.title.clone(),
    }
}

fn tokens(item: &Item) -> u32 {
    match item.digest_tokens {
        0 => estimate(&item.text).saturating_add(estimate(&item.title)),
        known => known,
    }
}

/// A line of a timeline.
pub(super) fn entry(entry: &timeline::Entry, rejections: &Rejections, local: &Local) -> Entry {
    let time = entry.time();
    let wrong = match entry {
        timeline::Entry::Row(item) => rejections.mark(item),
        timeline::Entry::Event(_) => None,
    };
    let (id, kind, title, source) = match entry {
        timeline::Entry::Row(item) => (Some(item.id), item.kind.name(), title(item), source(item)),
        timeline::Entry::Event(event) => (
            None,
            event.name.as_str(),
            event.label.clone(),
            Source::Elsewhere,
        ),
    };
    Entry {
        id,
        day: local.day(time),
        clock: local.clock(time),
        kind: kind.to_owned(),
        title,
        source,
        wrong,
    }
}

/// A row in full, with those of its fields that a model can use.
pub(super) fn item(
    item: &Item,
    fields: Vec<(&'static str, String)>,
    wrong: Option<String>,
    local: &Local,
) -> Detail {
    const USEFUL: [&str; 10] = [
        "commit", "reverted", "ended", "subagent", "branch", "said by", "tool", "record",
        "changed", "read",
    ];
    let fields = fields.into_iter();
    let mut fields: Vec<_> = fields.filter(|(name, _)| USEFUL.contains(name)).collect();
    if item.seen > 1 {
        fields.insert(0, ("times", item.seen.to_string()));
    }
    Detail {
        name: format!("#{}", item.id),
        kind: item.kind.name().to_owned(),
        when: local.moment(item.time),
        title: item.title.clone(),
        fields,
        facts: item.facts.clone(),
        text: item.text.clone(),
        source: source(item),
        wrong,
        command: format!("remora show {}", item.id),
    }
}

fn source(item: &Item) -> Source {
    if is_untrusted(item) {
        Source::Elsewhere
    } else {
        Source::Person
    }
}

/// A saved memory. Its file may hold what no row would.
pub(super) fn memory(
    memory: &memories::Memory,
    accepted: bool,
    redactor: &Redactor,
    local: &Local,
) -> Detail {
    let clean = |text: &str| {
        let text = strip_private(text);
        let text = strip_injected(&text);
        redactor.text(&text, &mut Marks::default()).into_owned()
    };
    let when = memory.modified.as_deref().map(|text| {
        let moment: Result<Timestamp, _> = text.parse();
        moment.map_or_else(|_| text.to_owned(), |m| local.moment(m.as_millisecond()))
    });
    let mut fields = vec![("priority", memory.priority.to_string())];
    let kind = memory
        .kind
        .map(|kind| ("type", Type::as_str(kind).to_owned()));
    fields.extend(kind);
    fields.push(("file", memory.path.display().to_string()));
    fields.extend(ended_on(memory).map(|day| ("ended", format!("{day}, by its own words"))));
    if !accepted {
        fields.push(("from", origin_of(memory).to_owned()));
    }
    Detail {
        name: memory.uri.to_string(),
        kind: Kind::Memory.name().to_owned(),
        when: when.unwrap_or_default(),
        title: clean(&memory.title),
        fields,
        facts: memory.warnings.clone(),
        text: clean(&memory.body),
        source: if accepted {
            Source::Person
        } else {
            Source::Elsewhere
        },
        wrong: None,
        command: format!("remora memory show {}", memory.uri),
    }
}
