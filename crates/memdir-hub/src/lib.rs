//! stub
#![allow(missing_docs, clippy::all)]
use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};
use memdir_core::{digest::Digest, report::Failure};
use memdir_tools::*;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
pub trait RegistrySource: Send + Sync { fn read_if_changed(&self) -> Result<Option<Vec<Server>>, Failure>; }
pub struct Places { pub lists: Option<PathBuf>, pub logs: Option<PathBuf>, pub tokens: Option<PathBuf>, pub home: Option<PathBuf>, pub guard: Vec<String>, pub environment: BTreeMap<String, String> }
pub struct Examined { pub protocol: String, pub server_name: String, pub server_version: String, pub tools: usize, pub list_bytes: usize, pub first_answer: Duration, pub stderr: Vec<String> }
#[derive(Debug)]
pub struct Hub;
impl Hub {
 pub fn start(_: Box<dyn RegistrySource>, _: Places) -> Result<Self, Failure> { unimplemented!() }
 pub fn connect_now(&self, _: &ServerName, _: &CancellationToken) -> Result<Examined, CallError> { unimplemented!() }
 pub fn approve(&self, _: &ServerName) -> Result<BTreeMap<String, Digest>, Failure> { unimplemented!() }
 pub fn definitions(&self, _: &ServerName) -> (Vec<Map<String, Value>>, Vec<Map<String, Value>>) { unimplemented!() }
 pub fn log_lines(&self, _: &ServerName, _: usize) -> Vec<String> { unimplemented!() }
}
impl Toolbox for Hub {
 fn servers(&self) -> Vec<ServerState> { unimplemented!() }
 fn tools(&self) -> Arc<[Tool]> { unimplemented!() }
 fn call(&self, _: &ToolCall, _: &mut dyn CallEvents, _: &CancellationToken) -> Result<ToolAnswer, CallError> { unimplemented!() }
 fn on_change(&self, _: Box<dyn Fn() + Send + Sync>) { unimplemented!() }
}
pub fn guard(_: &str) {}
