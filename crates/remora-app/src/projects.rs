//! What is remembered of which project, which checkouts share it, and which wait to;
//! two keys of one project become one.

mod join;
mod list;

pub use join::{JoinRequest, JoinResponse, LeaveResponse};
pub use list::{ListedProject, ProjectsResponse};
