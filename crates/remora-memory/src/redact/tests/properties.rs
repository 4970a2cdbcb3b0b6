//! What must hold for any text at all.
