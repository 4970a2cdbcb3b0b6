//! The index: rows by day, one line each, so that a model sees what there is and
//! asks for what it needs. Chosen by what they are, how new they are, and
//! whether they concern the branch and the files at hand.

use remora_protocol::record::{Item, Kind};
use remora_protocol::time::rfc3339;

use super::later::Later;
use super::page::Page;
use super::plain::line;
use super::truth::{Checker, Truth};
use super::{Recall, Scene, Seen, is_untrusted, name_of, other_branch, row};
use crate::fix::{detail, field};
use crate::output::only_looks;
use crate::statement::ON_PURPOSE;
use crate::store::{Filter, Page as Part, Result, Store};

/// Kinds that are worth a line, and how many rows of them are looked at for each
/// one that is named. What merely happened is so much more that it would hide
/// the rest.
const KINDS: &[(usize, &[Kind])] = &[
    (
        2,
        &[
            Kind::Decision,
            Kind::Preference,
            Kind::Correction,
            Kind::Fix,
            Kind::Bugfix,
            Kind::Feature,
            Kind::Refactor,
        ],
    ),
    (1, &[Kind::Change, Kind::Task, Kind::Failure]),
    (1, RUN),
];
/// What was run and looked at, and how much of it one session may name.
const RUN: &[Kind] = &[Kind::Discovery, Kind::Command];
const RUN_ROWS: usize = 4;

/// Puts the index on the page.
pub(super) fn put(
    store: &dyn Store,
    scene: &Scene<'_>,
    since: Option<i64>,
    later: &Later,
    page: &mut Page,
    recall: &mut Recall,
) -> Result<()> {
    let rows = candidates(store, scene, since)?;
    let mut checker = Checker::new(store, scene);
    let mut lines: Vec<Line> = Vec::new();
    let legend = "Index by day (number, time in UTC, kind, title, tokens of its details):";
    let mut room = page.left().saturating_sub(20);
    for scored in rows {
        if lines.len() == scene.limits.index_rows {
            break;
        }
        let item = &scored.item;
        let name = name_of(item);
        let known = recall.given.iter().any(|given| given.item == name);
        let same = |line: &Line| line.item.kind == item.kind && line.item.title == item.title;
        if known || lines.iter().any(same) || scene.given.seen(&name) != Seen::Not {
            continue;
        }
        let beside = |line: &&Line| is_run(&line.item) && line.item.session == item.session;
        if is_run(item) && lines.iter().filter(beside).count() == RUN_ROWS {
            continue;
        }
        if later.replace(item) {
            recall.pass(item, "said anew later", scored.parts);
            continue;
        }
        let truth = checker.of(item);
        if truth == Truth::Gone {
            continue;
        }
        let line = Line::of(scored, truth, scene);
        let cost = remora_protocol::tokens::estimate(&line.text) + 1;
        // A day's heading costs a few tokens more, at most once a line.
        if cost + 4 > room {
            break;
        }
        room -= cost + 4;
        lines.push(line);
    }
    // Work of another branch comes last; within, the newest day first.
    lines.sort_by(|a, b| {
        let order = |line: &Line| (line.branch.clone(), std::cmp::Reverse(line.item.time));
        order(a).cmp(&order(b)).then(b.item.id.cmp(&a.item.id))
    });
    let mut day = String::new();
    for (place, line) in lines.into_iter().enumerate() {
        let mut text = String::new();
        if place == 0 {
            text.push_str(legend);
            text.push('\n');
        }
        if line.day != day {
            text.push_str(&line.day);
            text.push('\n');
            day.clone_from(&line.day);
        }
        text.push_str(&line.text);
        let Some(tokens) = page.put(&text) else { break };
        let mut chosen = row::chosen(&line.item, line.truth, Seen::Named, line.why, tokens);
        chosen.parts = line.parts;
        recall.given.push(chosen);
    }
    Ok(())
}

struct Line {
    item: Item,
    day: String,
    text: String,
    branch: Option<String>,
    truth: Truth,
    why: String,
    parts: Vec<(&'static str, f64)>,
}

impl Line {
    fn of(scored: Scored, truth: Truth, scene: &Scene<'_>) -> Self {
        let item = scored.item;
        let when = rfc3339(item.time);
        let (day, time) = when.split_at(when.len().min(10));
        let time = time.get(1..6).unwrap_or("");
        let branch = other_branch(&item, scene).map(|branch| line(branch, 60));
        let mark = if is_untrusted(&item) { "~" } else { "" };
        let mut text = format!(
            "#{}{mark} {time} {} {}",
            item.id,
            item.kind,
            line(&item.title, 110)
        );
        if let Truth::Changed(when) = truth {
            let date = remora_protocol::time::date(when);
            text = format!("{text} [file changed {date}]");
        }
        text = format!("{text} ({})", item.digest_tokens);
        let day = match &branch {
            Some(branch) => format!("{day} on branch {branch}"),
            None => day.to_owned(),
        };
        let most = scored.parts.iter().filter(|(name, _)| *name != "recent");
        let most = most.max_by(|a, b| a.1.total_cmp(&b.1));
        Self {
            why: format!("index: {}", most.map_or("recent", |(name, _)| name)),
            parts: scored.parts,
            day,
            text,
            branch,
            truth,
            item,
        }
    }
}

struct Scored {
    item: Item,
    parts: Vec<(&'static str, f64)>,
}

/// Rows worth a line, the best first.
fn candidates(store: &dyn Store, scene: &Scene<'_>, since: Option<i64>) -> Result<Vec<Scored>> {
    let mut found = Vec::new();
    for (share, kinds) in KINDS {
        let filter = Filter {
            project: Some(scene.project.to_owned()),
            kinds: kinds.to_vec(),
            since,
            ..Filter::default()
        };
        let most = scene.limits.index_rows * share;
        found.extend(store.list(&filter, Part::newest(most))?);
    }
    found.sort_by_key(|item| std::cmp::Reverse((item.time, item.id)));
    let most = found.len();
    let mut rows: Vec<Scored> = found
        .into_iter()
        .filter(|item| item.session != scene.session && !only_shows(item))
        .enumerate()
        .map(|(place, item)| {
            #[expect(clippy::cast_precision_loss, reason = "a few hundred rows")]
            let recent = 3.0 * (1.0 - place as f64 / most.max(1) as f64);
            let touched = item.files_modified.iter().chain(&item.files_read);
            let changed = touched.into_iter().any(|file| scene.changed.contains(file));
            let branch = other_branch(&item, scene).is_none();
            let flag = |is: bool, worth: f64| if is { worth } else { 0.0 };
            Scored {
                parts: vec![
                    ("kind", worth(item.kind)),
                    ("on purpose", flag(is_on_purpose(&item), 8.0)),
                    ("recent", recent),
                    ("changed file", flag(changed, 2.0)),
                    ("branch", flag(branch, 1.0)),
                ],
                item,
            }
        })
        .collect();
    rows.sort_by(|a, b| {
        let sum = |row: &Scored| row.parts.iter().map(|(_, part)| part).sum::<f64>();
        sum(b).total_cmp(&sum(a)).then(b.item.id.cmp(&a.item.id))
    });
    Ok(rows)
}

/// Whether the user asked for it to be remembered.
fn is_on_purpose(item: &Item) -> bool {
    let detail = item.detail.as_ref();
    detail.is_some_and(|detail| detail.get(ON_PURPOSE).is_some_and(|said| said == true))
}

fn is_run(item: &Item) -> bool {
    RUN.contains(&item.kind)
}

/// Whether a command showed what is there and did no more.
fn only_shows(item: &Item) -> bool {
    let command = detail(item, field::COMMAND);
    item.kind == Kind::Command && command.is_some_and(only_looks)
}

fn worth(kind: Kind) -> f64 {
    match kind {
        Kind::Correction | Kind::Decision | Kind::Preference => 3.0,
        Kind::Fix => 2.5,
        Kind::Bugfix | Kind::Feature => 2.0,
        Kind::Refactor => 1.5,
        Kind::Task | Kind::Change => 1.0,
        Kind::Failure => 0.5,
        _ => 0.0,
    }
}
