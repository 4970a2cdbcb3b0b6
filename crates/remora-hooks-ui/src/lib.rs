//! Hooks browsed and edited in a terminal.
//!
//! `Model` is what is shown, `update` what a key does to it, `draw` how it looks:
//! all three are pure. What a key asks for is an `Effect`, carried out by the
//! `Workspace`, which alone reads and writes files, and answered by a `Reply`.
//! `HooksUi` ties them together.
//!
//! It is a crate of its own because nothing else needs a terminal library. It
//! never touches the terminal: whoever has one hands in keys and a frame, so it
//! is as well a part of another screen. Like the engine it never prints, exits or
//! reads environment variables.

mod draw;
mod edit;
mod field;
mod form;
mod key;
mod model;
mod sample;
mod snapshot;
mod text;
mod theme;
mod update;
mod workspace;

use ratatui::Frame;
use ratatui::layout::Rect;

pub use draw::draw;
pub use edit::{HookChange, HookEdit, Preview, Reply, Written};
pub use key::Key;
pub use model::{Model, Notice};
pub use sample::SampleRequest;
pub use snapshot::{HookRow, Problem, RowState, Snapshot};
pub use theme::Theme;
pub use update::{Effect, update};
pub use workspace::{Workspace, WorkspaceOptions};

/// Whether the user goes on or leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// There is more to do here.
    Stay,
    /// The user wants to leave.
    Leave,
}

/// The whole of it: a model and the files behind it.
#[derive(Debug)]
pub struct HooksUi {
    model: Model,
    workspace: Workspace,
    theme: Theme,
}

impl HooksUi {
    /// Reads everything once.
    pub fn open(options: WorkspaceOptions, theme: Theme) -> Self {
        let (workspace, snapshot) = Workspace::open(options);
        Self {
            model: Model::new(snapshot),
            workspace,
            theme,
        }
    }

    /// Does what a key asks for.
    pub fn press(&mut self, key: Key) -> Flow {
        let effect = update(&mut self.model, key);
        if effect == Effect::Leave {
            return Flow::Leave;
        }
        if let Some(reply) = self.workspace.perform(&effect) {
            self.model.receive(reply);
        }
        Flow::Stay
    }

    /// Draws all of it into a part of the frame.
    pub fn draw(&mut self, frame: &mut Frame<'_>, area: Rect) {
        draw(&mut self.model, &self.theme, frame, area);
    }

    /// What is shown.
    pub fn model(&self) -> &Model {
        &self.model
    }
}
