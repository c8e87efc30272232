//! What the owner sees of what a client did that may not see all.
