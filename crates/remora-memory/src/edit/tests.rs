//! The edit cases, and that limits hold on any input.
