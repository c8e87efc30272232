//! The server of MCP on its standard streams, through a client of ours.

mod app;
mod ask;
mod busy;
mod end;
mod index;
mod open;
mod results;
mod sets;
mod tools;
