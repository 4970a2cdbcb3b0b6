//! What a key does: the model changes, and at most one thing is asked of the
//! files. Pure.

use crate::edit::{HookChange, HookEdit};
use crate::field::TextField;
use crate::form::HookForm;
use crate::key::Key;
use crate::model::{Model, Notice, Pane, Screen};
use crate::sample::{SampleForm, SampleRequest};

/// How far a page key goes in a list.
const PAGE_ROWS: usize = 10;

/// What is asked of the outside.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Nothing.
    Nothing,
    /// The user wants to leave.
    Leave,
    /// Read everything again.
    Reload,
    /// Say which handlers a made-up event would run.
    Explain(SampleRequest),
    /// Say what an edit would do.
    Prepare(HookEdit),
    /// Write an edit.
    Write(HookEdit),
    /// Take back the last edit.
    Undo,
}

/// Changes the model as the key says.
pub fn update(model: &mut Model, key: Key) -> Effect {
    if key == Key::Ctrl('c') {
        return Effect::Leave;
    }
    model.notice = None;
    if let Some(scroll) = &mut model.help {
        match key {
            Key::Escape | Key::Enter | Key::Char('?' | 'q') => model.help = None,
            key => scroll_by(scroll, &key),
        }
        return Effect::Nothing;
    }
    match &mut model.screen {
        Screen::Browse if model.is_searching => search(model, &key),
        Screen::Browse => browse(model, &key),
        Screen::Details { scroll } => match key {
            Key::Escape | Key::Backspace | Key::Char('q') => {
                model.screen = Screen::Browse;
                Effect::Nothing
            }
            key if is_row_key(&key) => act_on_row(model, &key),
            key => read_on(scroll, &key, &mut model.help),
        },
        Screen::Problems { scroll } => match key {
            Key::Escape | Key::Backspace | Key::Enter | Key::Char('q' | 'p') => {
                model.screen = Screen::Browse;
                Effect::Nothing
            }
            key => read_on(scroll, &key, &mut model.help),
        },
        Screen::Form(form) => match key {
            Key::Escape => {
                model.screen = Screen::Browse;
                Effect::Nothing
            }
            Key::Enter | Key::Ctrl('s') => match form.to_edit() {
                Ok(edit) => Effect::Prepare(edit),
                Err(problem) => fail(model, problem),
            },
            key => {
                form.press(&key);
                Effect::Nothing
            }
        },
        Screen::Review(review) => match key {
            Key::Enter | Key::Char('y') => Effect::Write(review.preview.edit.clone()),
            Key::Escape | Key::Backspace | Key::Char('n' | 'q') => {
                model.leave_review();
                Effect::Nothing
            }
            key => read_on(&mut review.scroll, &key, &mut model.help),
        },
        Screen::Sample(form) => match key {
            Key::Escape => {
                model.screen = Screen::Browse;
                Effect::Nothing
            }
            Key::Char('?') if form.line == 0 => open_help(model),
            key => form.press(&key),
        },
    }
}

fn fail(model: &mut Model, problem: impl Into<String>) -> Effect {
    model.notice = Some(Notice::Failed(problem.into()));
    Effect::Nothing
}

fn open_help(model: &mut Model) -> Effect {
    model.help = Some(0);
    Effect::Nothing
}

fn scroll_by(scroll: &mut usize, key: &Key) {
    *scroll = match key {
        Key::Down | Key::Char('j') => scroll.saturating_add(1),
        Key::Up | Key::Char('k') => scroll.saturating_sub(1),
        Key::PageDown | Key::Char(' ') => scroll.saturating_add(PAGE_ROWS),
        Key::PageUp => scroll.saturating_sub(PAGE_ROWS),
        Key::Home | Key::Char('g') => 0,
        // Drawing knows where the end is.
        Key::End | Key::Char('G') => usize::MAX,
        _ => return,
    };
}

fn read_on(scroll: &mut usize, key: &Key, help: &mut Option<usize>) -> Effect {
    if *key == Key::Char('?') {
        *help = Some(0);
    } else {
        scroll_by(scroll, key);
    }
    Effect::Nothing
}

fn search(model: &mut Model, key: &Key) -> Effect {
    match key {
        Key::Enter | Key::Down | Key::Tab => {
            model.is_searching = false;
            model.pane = Pane::Hooks;
        }
        Key::Escape => {
            model.is_searching = false;
            model.search = TextField::default();
            model.row = 0;
        }
        key => {
            if model.search.press(key) {
                model.row = 0;
            }
        }
    }
    Effect::Nothing
}

fn browse(model: &mut Model, key: &Key) -> Effect {
    match key {
        Key::Char('q') => return Effect::Leave,
        Key::Char('?') => return open_help(model),
        Key::Char('/') => model.is_searching = true,
        Key::Char('r') => return Effect::Reload,
        Key::Char('u') => return Effect::Undo,
        Key::Char('p') => model.screen = Screen::Problems { scroll: 0 },
        Key::Char('a') => {
            if model.snapshot.files.is_empty() {
                return fail(model, "there is no settings file to write to");
            }
            let files = model.snapshot.files.clone();
            let form = HookForm::add(model.likely_event(), files, model.likely_source());
            model.screen = Screen::Form(Box::new(form));
        }
        Key::Char('t') => {
            let form = SampleForm::new(model.likely_event());
            let request = form.request();
            model.screen = Screen::Sample(Box::new(form));
            return Effect::Explain(request);
        }
        Key::Escape if !model.search.is_empty() => {
            model.search = TextField::default();
            model.row = 0;
        }
        Key::Escape if model.pane == Pane::Hooks => model.pane = Pane::Events,
        Key::Tab | Key::BackTab => {
            model.pane = match model.pane {
                Pane::Events => Pane::Hooks,
                Pane::Hooks => Pane::Events,
            };
        }
        Key::Left | Key::Char('h') => model.pane = Pane::Events,
        Key::Right | Key::Char('l') => model.pane = Pane::Hooks,
        Key::Enter if model.pane == Pane::Events => model.pane = Pane::Hooks,
        Key::Enter => {
            if model.selected_row().is_some() {
                model.screen = Screen::Details { scroll: 0 };
            }
        }
        key if is_row_key(key) => return act_on_row(model, key),
        key => move_cursor(model, key),
    }
    Effect::Nothing
}

fn move_cursor(model: &mut Model, key: &Key) {
    match model.pane {
        Pane::Events => {
            let lines = model.event_lines();
            let mut at = model.event_index();
            step_cursor(&mut at, lines.len(), key);
            let event = lines.into_iter().nth(at).and_then(|line| line.event);
            if event != model.event {
                model.event = event;
                model.row = 0;
            }
        }
        Pane::Hooks => {
            let count = model.shown_rows().len();
            step_cursor(&mut model.row, count, key);
        }
    }
}

fn step_cursor(at: &mut usize, count: usize, key: &Key) {
    let last = count.saturating_sub(1);
    *at = match key {
        Key::Down | Key::Char('j') => *at + 1,
        Key::Up | Key::Char('k') => at.saturating_sub(1),
        Key::PageDown => *at + PAGE_ROWS,
        Key::PageUp => at.saturating_sub(PAGE_ROWS),
        Key::Home | Key::Char('g') => 0,
        Key::End | Key::Char('G') => last,
        _ => *at,
    }
    .min(last);
}

/// Keys that change the handler under the cursor.
fn is_row_key(key: &Key) -> bool {
    matches!(key, Key::Char('e' | 'd' | ' ') | Key::Delete)
}

fn act_on_row(model: &mut Model, key: &Key) -> Effect {
    let Some(row) = model.selected_row() else {
        return fail(model, "no hook is chosen; `a` adds one");
    };
    let (Some(handler), Some(file)) = (row.written.clone(), row.file.clone()) else {
        let (id, why) = (row.id.clone(), row.read_only_reason());
        return fail(model, format!("{id}: {why}"));
    };
    let change = match key {
        Key::Char('e') => {
            let form = HookForm::change(file, row.source, handler);
            model.screen = Screen::Form(Box::new(form));
            return Effect::Nothing;
        }
        Key::Char(' ') => {
            let change = HookChange::Toggle(handler);
            return Effect::Write(HookEdit { file, change });
        }
        _ => HookChange::Remove(handler),
    };
    Effect::Prepare(HookEdit { file, change })
}
