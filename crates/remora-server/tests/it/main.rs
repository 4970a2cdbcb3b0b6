//! The worker as a function of its settings, on sockets of its own.
#![forbid(unsafe_code)]

mod inbox;
mod place;
mod rebuild;
mod worker;
