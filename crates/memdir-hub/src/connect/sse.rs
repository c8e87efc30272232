//! Not built yet.

use std::collections::BTreeMap;

use memdir_tools::Server;

use super::{ConnectError, Connection, Opening, Places};
use crate::client::Handler;

pub(super) async fn connect(
    server: &Server,
    _address: (&str, &BTreeMap<String, String>),
    _handler: Handler,
    _places: &Places,
    _opening: Opening,
) -> Result<Connection, ConnectError> {
    Err(ConnectError::broken(server, "not built yet"))
}
