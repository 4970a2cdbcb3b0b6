//! What is on the screen, as one value: what was read, which screen is open,
//! where the cursors are, what was typed. Pure; what keys do to it is
//! `update.rs`.

use std::path::Path;

use remora_core::{EVENTS, EventName};
use remora_hook_tools::edit::HandlerPlace;
use remora_hooks::LayerSource;

use crate::edit::{Preview, Reply};
use crate::field::TextField;
use crate::form::HookForm;
use crate::sample::SampleForm;
use crate::snapshot::{HookRow, Snapshot};

/// A line at the bottom, until the next key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// Something was done.
    Done(String),
    /// Something could not be done: file, key and reason.
    Failed(String),
}

/// Which of the two lists keys act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pane {
    Events,
    Hooks,
}

/// An edit that waits for the user's yes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Review {
    pub(crate) preview: Preview,
    /// Where the user goes back to: nothing that was typed is lost.
    pub(crate) form: Option<Box<HookForm>>,
    pub(crate) scroll: usize,
}

/// What fills the screen.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Screen {
    Browse,
    Details { scroll: usize },
    Form(Box<HookForm>),
    Review(Box<Review>),
    Sample(Box<SampleForm>),
    Problems { scroll: usize },
}

/// One line of the list of events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EventLine {
    /// `None` is all of them.
    pub(crate) event: Option<String>,
    /// How many handlers fit the search.
    pub(crate) count: usize,
}

/// All of it.
#[derive(Debug)]
pub struct Model {
    pub(crate) snapshot: Snapshot,
    pub(crate) screen: Screen,
    /// Over any screen, with how far it is scrolled.
    pub(crate) help: Option<usize>,
    pub(crate) pane: Pane,
    pub(crate) event: Option<String>,
    /// Which of the shown rows.
    pub(crate) row: usize,
    pub(crate) search: TextField,
    /// Whether keys go into the search.
    pub(crate) is_searching: bool,
    pub(crate) notice: Option<Notice>,
}

impl Model {
    /// The first screen.
    pub fn new(snapshot: Snapshot) -> Self {
        Self {
            snapshot,
            screen: Screen::Browse,
            help: None,
            pane: Pane::Events,
            event: None,
            row: 0,
            search: TextField::default(),
            is_searching: false,
            notice: None,
        }
    }

    /// What was read.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The line at the bottom.
    pub fn notice(&self) -> Option<&Notice> {
        self.notice.as_ref()
    }

    /// Takes in what came back of an effect.
    pub fn receive(&mut self, reply: Reply) {
        match reply {
            Reply::Loaded(snapshot) => {
                self.show(snapshot);
                self.notice = Some(Notice::Done("read again".to_owned()));
            }
            Reply::Explained(result) => {
                if let Screen::Sample(form) = &mut self.screen {
                    form.result = Some(result);
                }
            }
            Reply::Prepared(Ok(preview)) => {
                let form = match std::mem::replace(&mut self.screen, Screen::Browse) {
                    Screen::Form(form) => Some(form),
                    _ => None,
                };
                self.screen = Screen::Review(Box::new(Review {
                    preview,
                    form,
                    scroll: 0,
                }));
            }
            Reply::Prepared(Err(error)) => self.notice = Some(Notice::Failed(error)),
            Reply::Written(result, snapshot) => {
                self.show(snapshot);
                match result {
                    Ok(written) => {
                        self.screen = Screen::Browse;
                        if let Some((file, place)) = &written.handler {
                            self.select(file, place);
                        }
                        self.notice = Some(Notice::Done(written.done));
                    }
                    Err(error) => {
                        self.leave_review();
                        self.notice = Some(Notice::Failed(error));
                    }
                }
            }
        }
    }

    /// Back from a review to where it came from.
    pub(crate) fn leave_review(&mut self) {
        if matches!(self.screen, Screen::Review(_)) {
            let before = std::mem::replace(&mut self.screen, Screen::Browse);
            if let Screen::Review(review) = before
                && let Some(form) = review.form
            {
                self.screen = Screen::Form(form);
            }
        }
    }

    /// Another snapshot, with the cursor on the same handler as far as it is
    /// still there.
    fn show(&mut self, snapshot: Snapshot) {
        let id = self.selected_row().map(|row| row.id.clone());
        self.snapshot = snapshot;
        if let Some(event) = &self.event
            && EventName::parse(event).is_none()
            && !self.snapshot.rows.iter().any(|row| row.event == *event)
        {
            self.event = None;
        }
        let rows = self.shown_rows();
        let same = rows.iter().position(|row| Some(&row.id) == id.as_ref());
        let last = rows.len().saturating_sub(1);
        self.row = same.unwrap_or_else(|| self.row.min(last));
        // Of a handler that is gone there is nothing more to see.
        if same.is_none() && matches!(self.screen, Screen::Details { .. }) {
            self.screen = Screen::Browse;
        }
    }

    fn select(&mut self, file: &Path, place: &HandlerPlace) {
        let is_it = |row: &HookRow| {
            row.file.as_deref() == Some(file)
                && row
                    .written
                    .as_ref()
                    .is_some_and(|written| written.place == *place)
        };
        if self.event.is_some() {
            self.event = Some(place.event.clone());
        }
        // What was just written must be seen, so a search that hides it ends.
        if !self.shown_rows().iter().any(|row| is_it(row)) {
            self.search = TextField::default();
        }
        if let Some(at) = self.shown_rows().iter().position(|row| is_it(row)) {
            self.row = at;
            self.pane = Pane::Hooks;
        }
    }

    fn search_words(&self) -> Vec<String> {
        let text = self.search.text().to_lowercase();
        text.split_whitespace().map(str::to_owned).collect()
    }

    /// The rows of the chosen event that fit the search.
    pub(crate) fn shown_rows(&self) -> Vec<&HookRow> {
        let words = self.search_words();
        let fits = |row: &&HookRow| {
            self.event.as_ref().is_none_or(|event| *event == row.event) && row.matches(&words)
        };
        self.snapshot.rows.iter().filter(fits).collect()
    }

    /// The row that keys act on.
    pub(crate) fn selected_row(&self) -> Option<&HookRow> {
        self.shown_rows().get(self.row).copied()
    }

    /// All events: those with handlers first, unknown ones among them, each part
    /// in the order of a session's life.
    pub(crate) fn event_lines(&self) -> Vec<EventLine> {
        let words = self.search_words();
        let mut counts: Vec<EventLine> = EVENTS
            .iter()
            .map(|def| EventLine {
                event: Some(def.text.to_owned()),
                count: 0,
            })
            .collect();
        let mut configured = vec![false; counts.len()];
        let mut total = 0;
        for row in &self.snapshot.rows {
            let at = counts
                .iter()
                .position(|line| line.event.as_ref() == Some(&row.event));
            let at = at.unwrap_or_else(|| {
                counts.push(EventLine {
                    event: Some(row.event.clone()),
                    count: 0,
                });
                configured.push(false);
                counts.len() - 1
            });
            configured[at] = true;
            if row.matches(&words) {
                counts[at].count += 1;
                total += 1;
            }
        }
        let (with, without): (Vec<_>, Vec<_>) = counts
            .into_iter()
            .zip(configured)
            .partition(|(_, has)| *has);
        let all = EventLine {
            event: None,
            count: total,
        };
        let lines = with.into_iter().chain(without).map(|(line, _)| line);
        std::iter::once(all).chain(lines).collect()
    }

    /// Which line of the events is chosen.
    pub(crate) fn event_index(&self) -> usize {
        let lines = self.event_lines();
        lines
            .iter()
            .position(|line| line.event == self.event)
            .unwrap_or(0)
    }

    /// The event that a new handler or a sample begins with.
    pub(crate) fn likely_event(&self) -> EventName {
        let row = self.selected_row().map(|row| row.event.as_str());
        let name = self.event.as_deref().or(row);
        name.and_then(EventName::parse)
            .unwrap_or(EventName::PreToolUse)
    }

    /// The layer that a new handler goes to, if the user looks at one.
    pub(crate) fn likely_source(&self) -> Option<LayerSource> {
        let row = self.selected_row().filter(|_| self.pane == Pane::Hooks)?;
        row.is_editable().then_some(row.source)
    }
}
