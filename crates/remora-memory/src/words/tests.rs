//! Tests come.
