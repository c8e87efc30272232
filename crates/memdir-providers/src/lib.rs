//! The models that there are: servers of this machine and of others, files with weights, and the shelf where such files stand.
//!
//! Each is a [`memdir_model::Model`]. May touch the network, through a client library, and files with weights; never policy, the memory,
//! or what stands in notes beyond the text that it is given.

pub mod choose;
pub mod fetch;
#[cfg(feature = "gguf")]
pub mod gguf;
pub mod header;
mod http;
pub mod known_models;
pub mod remote;
pub mod shelf;
