//! The outline and enclosing cases, and that nothing panics.
