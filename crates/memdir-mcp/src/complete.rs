//! Completion: the names of notes that begin as the person has begun to write.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;

use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};

use super::service::{self, Service};
use super::{address, prompts, resources};
use memdir_core::path::{MAX_PATH_BYTES, MemoryPath};
use memdir_core::report::Failure;
use memdir_engine::{Caller, Engine};
use memdir_server::Lane;

/// What is completed.
#[derive(Clone, Copy, Debug)]
enum Completed {
    /// The path of a note.
    Path,
    /// What a note is called, without its folder.
    Name,
}

/// Completes the path in the address of a note, or the argument of a prompt.
pub(super) async fn complete(
    service: &Service,
    request: CompleteRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CompleteResult, ErrorData> {
    let client = service.admit(context)?;
    let argument = request.argument;
    let sought = match &request.r#ref {
        Reference::Resource(template) if template.uri == address::TEMPLATE && argument.name == "path" => {
            Completed::Path
        }
        Reference::Prompt(prompt) if prompts::has_argument(&prompt.name, &argument.name) => Completed::Name,
        _ => return Err(ErrorData::invalid_params("there is no such template, prompt or argument", None)),
    };
    if argument.value.len() > MAX_PATH_BYTES {
        return Ok(CompleteResult::default());
    }
    let (server, caller) = (Arc::clone(&service.server), service::caller(service, &client, &context.id));
    let find = move || {
        server.engine.check_settings()?;
        let notes = server.engine.every_note()?;
        Ok::<_, Failure>(fitting(&server.engine, &notes, &caller, sought, &argument.value))
    };
    let found = service.work(Lane::Read, context, find).await?;
    let mut values = found.map_err(|failure| resources::refused(&failure))?;
    let has_more = values.len() > CompletionInfo::MAX_VALUES;
    values.truncate(CompletionInfo::MAX_VALUES);
    let info = CompletionInfo::with_pagination(values, None, has_more);
    info.map(CompleteResult::new).map_err(|error| ErrorData::internal_error(error, None))
}

/// What begins as it is written, of the notes that may be seen; one more than can be told.
fn fitting(
    engine: &Engine,
    notes: &BTreeSet<MemoryPath>,
    caller: &Caller,
    sought: Completed,
    begun: &str,
) -> Vec<String> {
    let may_list = engine.may_list(caller);
    let is_seen = |path: &&MemoryPath| may_list(path);
    let most = CompletionInfo::MAX_VALUES + 1;
    match sought {
        Completed::Path => {
            let from = notes.range::<str, _>((Bound::Included(begun), Bound::Unbounded));
            let fitting = from.take_while(|path| path.as_str().starts_with(begun));
            fitting.filter(is_seen).take(most).map(ToString::to_string).collect()
        }
        Completed::Name => {
            let begun = begun.to_lowercase();
            let fits = |path: &&MemoryPath| path.stem().to_lowercase().starts_with(&begun);
            let mut names = BTreeSet::new();
            for path in notes.iter().filter(fits).filter(is_seen) {
                names.insert(path.stem().to_owned());
                if names.len() == most {
                    break;
                }
            }
            names.into_iter().collect()
        }
    }
}
