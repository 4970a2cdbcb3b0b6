//! What authors of hooks use, through the real program.

mod conformance;
mod edit;
mod health;
mod lint;
mod precommit;
mod record;
mod schema;
mod test;
mod ui;
