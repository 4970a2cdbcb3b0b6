//! Whole events: keys, files and commands as context.
