//! What users press, whatever library reads it.

/// One key, or a text that was pasted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// A character.
    Char(char),
    /// A character with the control key, in lower case.
    Ctrl(char),
    /// A text that was pasted, with its line ends.
    Paste(String),
    /// Enter.
    Enter,
    /// Escape.
    Escape,
    /// The next field or pane.
    Tab,
    /// The one before.
    BackTab,
    /// Up.
    Up,
    /// Down.
    Down,
    /// Left.
    Left,
    /// Right.
    Right,
    /// To the beginning.
    Home,
    /// To the end.
    End,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// The character before the cursor goes.
    Backspace,
    /// The character at the cursor goes.
    Delete,
}
