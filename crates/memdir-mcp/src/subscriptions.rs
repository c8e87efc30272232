//! Subscriptions: how clients say what they want to hear of, and how they are told.
//!
//! Old versions subscribe to one note after the other, and hear of lists once they have asked for one. The newest keeps
//! one request open, and says all in it.

use std::sync::{Arc, Weak};

use rmcp::model::{ResourceUpdatedNotificationParam, SubscribeRequestParams, SubscriptionFilter};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer};

use super::connection::Connection;
use super::notices::{Listener, MOST_SUBSCRIPTIONS, TooMany};
use super::service::{self, Service};
use super::{Server, address, hub, lock, resources};
use memdir_core::digest::Digest;
use memdir_engine::Caller;
use memdir_server::Lane;

/// So many requests to listen may have been granted and not begun.
const MOST_GRANTED: usize = 64;

/// Subscribes to a note, in the old versions.
pub(super) async fn subscribe(
    service: &Service,
    request: SubscribeRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<(), ErrorData> {
    let client = service.admit(context)?;
    let path = address::path(&request.uri)?;
    service.server.engine.check_settings().map_err(|failure| resources::refused(&failure))?;
    if !service.server.engine.lets_read(&service::caller(service, &client, &context.id), &path) {
        return Err(address::not_granted());
    }
    let listener = listener(service, context);
    listener.subscribe(request.uri, path.clone()).map_err(|TooMany| {
        let message =
            format!("a connection may subscribe to {MOST_SUBSCRIPTIONS} notes; unsubscribe from others first");
        ErrorData::invalid_request(message, None)
    })?;
    let server = Arc::clone(&service.server);
    let know = move || server.notices.know(&server.engine, &path);
    service.work(Lane::Read, context, know).await
}

/// Subscribes to a note no longer. That it was never subscribed to is fine.
pub(super) fn unsubscribe(service: &Service, address: &str) {
    if let Some(listener) = service.connection.listening.client.get() {
        listener.unsubscribe(address);
    }
}

/// Tells a client of an old version of changes in the list of notes from now on. To be called by a thread that may wait,
/// within the runtime.
pub(super) fn hear_of_lists(service: &Service, context: &RequestContext<RoleServer>) {
    listener(service, context).want_lists();
}

/// Tells a client of an old version of changes in the list of tools from now on: it is given the one with this digest.
pub(super) fn hear_of_tools(service: &Service, known: Option<Digest>, context: &RequestContext<RoleServer>) {
    listener(service, context).want_tools(known);
}

/// Whether the list of tools is another one than the client knows.
async fn has_other_tools(service: &Service, listener: &Listener, context: &RequestContext<RoleServer>) -> bool {
    let (hub, client) = (service.server.options.hub.as_ref(), service.client(context).ok());
    let Some((hub, client)) = hub.zip(client) else { return false };
    hub::list_digest(hub, &client).await.is_some_and(|now| listener.is_news(now))
}

/// What of a wish to listen is granted. This is asked before the client hears of it, and what changes from then on it is to
/// be told: so its listener is made already, though it cannot be known yet who it is. Nothing here may take long, since it
/// is asked on the thread on which all connections are waited for.
pub(super) fn accepted(service: &Service, requested: &SubscriptionFilter) -> SubscriptionFilter {
    let (notices, engine) = (&service.server.notices, &service.server.engine);
    let wished = requested.resource_subscriptions.as_deref().unwrap_or_default();
    let listener = Listener::new();
    notices.add(&listener);
    let mut addresses = Vec::new();
    if wished.len() <= MOST_SUBSCRIPTIONS {
        for address in wished {
            if let Ok(path) = address::path(address)
                && listener.subscribe(address.clone(), path.clone()).is_ok()
            {
                notices.know(engine, &path);
                addresses.push(address.clone());
            }
        }
    }
    let mut accepted = SubscriptionFilter::builder().resource_subscriptions(addresses);
    if requested.resources_list_changed == Some(true) {
        listener.want_lists();
        accepted = accepted.resources_list_changed();
    }
    if requested.tools_list_changed == Some(true) && service.server.options.hub.is_some() {
        listener.want_tools(None);
        accepted = accepted.tools_list_changed();
    }
    let mut granted = lock(&service.connection.listening.granted);
    if granted.len() == MOST_GRANTED {
        granted.pop_front();
    }
    granted.push_back(listener);
    accepted.build()
}

/// The listener that was made for just this. Where there are several, they are all the same.
fn granted(service: &Service, accepted: &SubscriptionFilter) -> Option<Arc<Listener>> {
    let addresses = accepted.resource_subscriptions.iter().flatten().cloned().collect();
    let lists = accepted.resources_list_changed == Some(true);
    let tools = accepted.tools_list_changed == Some(true);
    let mut granted = lock(&service.connection.listening.granted);
    let at = granted.iter().position(|listener| listener.wishes_for(&addresses, lists, tools))?;
    granted.remove(at)
}

/// Tells a client of changes until it does not listen any more, or may not.
pub(super) async fn listen(service: &Service, context: SubscriptionContext) -> Result<(), ErrorData> {
    let Some(listener) = granted(service, context.accepted()) else {
        return Err(ErrorData::internal_error("too many requests to listen at the same time", None));
    };
    let request = context.request_context().clone();
    service.admit(&request)?;
    if context.accepted().tools_list_changed == Some(true) {
        // The list that it is given from now on.
        has_other_tools(service, &listener, &request).await;
    }
    let (asking, server) = (service.clone(), Arc::clone(&service.server));
    let (told, told_of) = (service.clone(), request.clone());
    if context.accepted().resources_list_changed == Some(true) {
        let know = move || server.notices.know_lists(&server.engine);
        if !service.work(Lane::Read, &request, know).await? {
            // It was acknowledged before anybody knew which notes there are. Said to each, whatever has happened: what
            // has is not for everybody to know.
            listener.tell_lists();
        }
    }
    listener.begin(&service.server.engine, move || caller(&asking, &request));
    let sink = context.sink();
    loop {
        let due = tokio::select! {
            () = context.cancelled() => return Ok(()),
            due = listener.due() => due,
        };
        let Some(due) = due else { return Ok(()) };
        for address in due.updated {
            if sink.notify_resource_updated(address).await.is_err() {
                return Ok(());
            }
        }
        if due.listed && sink.notify_resource_list_changed().await.is_err() {
            return Ok(());
        }
        let has_other = due.tools && has_other_tools(&told, &listener, &told_of).await;
        if has_other && sink.notify_tool_list_changed().await.is_err() {
            return Ok(());
        }
    }
}

/// Who listens and what they may do, as of now.
fn caller(service: &Service, request: &RequestContext<RoleServer>) -> Option<Caller> {
    service.client(request).ok().map(|client| service::caller(service, &client, &request.id))
}

/// The listener of a connection, which is made, and begins to tell, when it is wanted first.
fn listener(service: &Service, context: &RequestContext<RoleServer>) -> Arc<Listener> {
    let made = service.connection.listening.client.get_or_init(|| {
        let (server, connection) = (Arc::clone(&service.server), Arc::downgrade(&service.connection));
        let request = context.clone();
        let listener = Listener::new();
        listener.begin(&service.server.engine, move || {
            let asking = Service { server: Arc::clone(&server), connection: connection.upgrade()? };
            caller(&asking, &request)
        });
        service.server.notices.add(&listener);
        let connection = Arc::downgrade(&service.connection);
        tokio::spawn(tell(Arc::clone(&listener), (Arc::clone(&service.server), connection), context.clone()));
        listener
    });
    Arc::clone(made)
}

/// Tells a client of an old version what is due, until its connection ends.
async fn tell(
    listener: Arc<Listener>,
    (server, connection): (Arc<Server>, Weak<Connection>),
    context: RequestContext<RoleServer>,
) {
    let peer = &context.peer;
    while let Some(due) = listener.due().await {
        for address in due.updated {
            let note = ResourceUpdatedNotificationParam::new(address);
            if peer.notify_resource_updated(note).await.is_err() {
                return;
            }
        }
        if due.listed && peer.notify_resource_list_changed().await.is_err() {
            return;
        }
        let Some(connection) = connection.upgrade().filter(|_| due.tools) else { continue };
        let service = Service { server: Arc::clone(&server), connection };
        if has_other_tools(&service, &listener, &context).await && peer.notify_tool_list_changed().await.is_err() {
            return;
        }
    }
}
