//! Store.
fn main() {}
