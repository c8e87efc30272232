//! The server of MCP on its standard streams, through a client of ours.

mod ask;
mod end;
mod open;
mod results;
mod tools;
