//! Colours and weights. Without colours, weights alone tell things apart: what
//! they say is always said in words or signs as well.

use ratatui::style::{Color, Modifier, Style};
use remora_hooks::LayerSource;

/// How things look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theme {
    colours: bool,
}

impl Theme {
    /// With colours, or without.
    pub fn new(colours: bool) -> Self {
        Self { colours }
    }

    fn colour(self, colour: Color) -> Style {
        if self.colours {
            Style::new().fg(colour)
        } else {
            Style::new()
        }
    }

    pub(crate) fn plain() -> Style {
        Style::new()
    }

    pub(crate) fn title() -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(crate) fn dim() -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// The line that keys act on.
    pub(crate) fn cursor() -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// The same in a pane that keys do not act on.
    pub(crate) fn idle_cursor() -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(crate) fn good(self) -> Style {
        self.colour(Color::Green)
    }

    pub(crate) fn warning(self) -> Style {
        self.colour(Color::Yellow)
    }

    pub(crate) fn bad(self) -> Style {
        self.colour(Color::Red).add_modifier(Modifier::BOLD)
    }

    pub(crate) fn accent(self) -> Style {
        self.colour(Color::Cyan)
    }

    pub(crate) fn label(self, source: LayerSource) -> Style {
        match source {
            LayerSource::User => self.colour(Color::Cyan),
            LayerSource::Project => self.colour(Color::Green),
            LayerSource::Local => self.colour(Color::Yellow),
            LayerSource::Policy => self.colour(Color::Red),
            _ => self.colour(Color::Magenta),
        }
    }
}
