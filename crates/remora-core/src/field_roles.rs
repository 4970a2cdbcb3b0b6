//! What redaction must know of the keys in a client's JSON: which name a file,
//! and which hold its text.

/// The roles of keys. Each agent's adapter says which keys play them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldRoles {
    /// Keys that name the file an object is about.
    pub paths: &'static [&'static str],
    /// Keys under which parts of that file are found.
    pub contents: &'static [&'static str],
    /// Keys of a tool's answer that are about it and not in it.
    pub labels: &'static [&'static str],
    /// The key of what was asked of a tool.
    pub input: &'static str,
    /// The key of a tool's answer; all of it counts as content.
    pub answer: &'static str,
    /// The key of an object that describes one file.
    pub file: &'static str,
    /// The key of a shell command.
    pub command: &'static str,
    /// The key of a tool's name.
    pub tool: &'static str,
    /// Tools whose answers name a file at the beginning of every line.
    pub listing_tools: &'static [&'static str],
}

impl FieldRoles {
    /// No key plays a role.
    pub const NONE: Self = Self {
        paths: &[],
        contents: &[],
        labels: &[],
        input: "",
        answer: "",
        file: "",
        command: "",
        tool: "",
        listing_tools: &[],
    };
}
