//! The one integration binary of the instructions.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod again;
mod compare;
mod moved;
mod tree;
mod trees;
