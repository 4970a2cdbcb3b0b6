//! Cases as data, laid out as a real repository, and properties over any
//! text.

mod lines;
mod properties;
mod reading;
mod sandbox;
