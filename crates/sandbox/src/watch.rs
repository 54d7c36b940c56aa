//! Watches: events as they happen, one a line.

use std::{pin::Pin, sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use serde_json::Value;
use tokio::{
    sync::watch,
    time::{Instant, Interval, MissedTickBehavior, Sleep, interval_at, sleep},
};

use crate::{
    body::{Cut, Once, Piece, Source},
    definition::Served,
    filter::{self, Filter},
    list,
    log::Ticket,
    object::{Form, Object},
    request::{Request, Target},
    status::Status,
    storage::{Event, Feed, Item, Range, Store},
    table::{self, Rows},
};

/// How long a watch lasts if the client does not say.
const TIMEOUT: Duration = Duration::from_mins(30);

/// The annotation of the bookmark after which a WatchList is complete.
const INITIAL_EVENTS_END: &str = r#""annotations":{"k8s.io/initial-events-end":"true"}"#;

/// Where a watch begins.
enum Start {
    /// With everything there is, as events.
    Initial,
    /// After a version.
    After(u64),
    /// With an error, and that is all.
    Error(Status),
}

/// What a watch needs beside the request.
pub(crate) struct Setting {
    pub(crate) store: Arc<Store>,
    pub(crate) served: Served,
    pub(crate) bookmark_interval: Duration,
    pub(crate) ticket: Ticket,
    /// Whether initial events are refused.
    pub(crate) refuses_initial: bool,
}

/// Opens a watch; a refusal here is one before the stream begins.
pub(crate) fn open(
    setting: Setting,
    request: &Request,
    target: &Target,
) -> Result<Box<dyn Source>, Status> {
    let now = setting.store.now();
    let form = filter::form(request, Form::Whole, now);
    let unfit = form.is_err() && filter::form(request, Form::Item, now).is_ok();
    let form = if unfit { Form::Metadata } else { form? };
    let filter = Filter::of(request, target)?;
    let Setting { store, served, bookmark_interval, ticket, refuses_initial } = setting;
    let timeout = match request.parameter("timeoutSeconds") {
        "" | "0" => TIMEOUT,
        text => Duration::from_secs(
            text.parse()
                .map_err(|_| Status::bad_request(format!("timeoutSeconds: {text} is no number")))?,
        ),
    };
    let start = start(request, &store, &served, refuses_initial)?;
    let range =
        Range { namespace: filter.namespace.as_deref(), version: None, from: None, limit: None };
    let (initial, cursor) = match start {
        Start::Error(status) => return Ok(Box::new(Once::new(Bytes::from(status.line())))),
        Start::After(version) => (Vec::new(), version),
        Start::Initial => {
            let page = store.page(&served.definition, &range, |item| filter.matches(item));
            // The newest version is always remembered.
            page.map(|page| (page.items, page.version)).unwrap_or_default()
        }
    };
    let Some(changed) = store.changes(&served.definition) else {
        return Err(Status::of_code(404));
    };
    let bookmarks = request.is_set("allowWatchBookmarks").then(|| {
        let mut ticks = interval_at(Instant::now() + bookmark_interval, bookmark_interval);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks
    });
    Ok(Box::new(Watch {
        ends_initial: request.is_set("sendInitialEvents") && bookmarks.is_some(),
        initial: initial.into_iter(),
        events: Vec::new().into_iter(),
        deadline: Box::pin(sleep(timeout)),
        is_over: false,
        columns: match form {
            Form::Row(_) => table::columns(&served),
            _ => Value::Null,
        },
        store,
        served,
        form,
        unfit,
        filter,
        cursor,
        changed,
        bookmarks,
        _ticket: ticket,
    }))
}

fn start(
    request: &Request,
    store: &Store,
    served: &Served,
    refuses_initial: bool,
) -> Result<Start, Status> {
    let forbidden = |field, message: &str| {
        Err(Status::invalid_options(field, &format!("Forbidden: {message}")))
    };
    // Real servers fail so, where a list would be a bad request.
    let version = list::number(request.parameter("resourceVersion"))
        .map_err(|_| Status::new(500, "", "resourceVersion: Invalid value: invalid syntax"))?;
    let rule = request.parameter("resourceVersionMatch");
    let current = store.version();
    match (request.parameter("sendInitialEvents"), rule) {
        ("", "") => {}
        ("", _) => {
            return forbidden(
                "resourceVersionMatch",
                "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
            );
        }
        (_, "NotOlderThan") => {
            if refuses_initial && request.is_set("sendInitialEvents") {
                let message = "storage feature RequestWatchProgress is disabled";
                return Ok(Start::Error(Status::internal(message)));
            }
            let asked = version.unwrap_or_default();
            if !request.is_set("sendInitialEvents") {
                if asked == 0 {
                    return Ok(Start::After(current));
                }
            } else if asked > current {
                return Ok(Start::Error(Status::too_new(asked, current)));
            } else {
                return Ok(Start::Initial);
            }
        }
        _ => {
            return forbidden(
                "resourceVersionMatch",
                "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
            );
        }
    }
    Ok(match version {
        None | Some(0) => Start::Initial,
        Some(version) => {
            let floor = store.floor(&served.definition);
            if version < floor {
                Start::Error(Status::too_old(version, floor))
            } else {
                Start::After(version)
            }
        }
    })
}

struct Watch {
    store: Arc<Store>,
    served: Served,
    form: Form,
    /// Whether the client asked for the form of lists, which no event has: real
    /// servers take the request and end at the first event.
    unfit: bool,
    /// Of a table, until they have been sent.
    columns: Value,
    filter: Filter,
    /// Everything up to here has been sent. May be ahead of the server, which
    /// then says nothing.
    cursor: u64,
    initial: std::vec::IntoIter<Item>,
    /// Whether a bookmark is still to say that the initial events are complete.
    ends_initial: bool,
    events: std::vec::IntoIter<Event>,
    changed: watch::Receiver<()>,
    bookmarks: Option<Interval>,
    deadline: Pin<Box<Sleep>>,
    is_over: bool,
    _ticket: Ticket,
}

/// What a watch waits for.
enum Woken {
    Changed,
    Bookmark,
    Over,
    /// The resource was replaced by another.
    Gone,
}

impl Watch {
    fn line(&mut self, kind: &str, object: &Object) -> Piece {
        if self.unfit {
            return Piece::Cut(Cut::End);
        }
        let mut line = format!(r#"{{"type":"{kind}","object":"#);
        match self.form {
            Form::Row(rows) => {
                // The columns are named once.
                let columns = std::mem::take(&mut self.columns);
                let rows = Rows { now: self.store.now(), ..rows };
                line.push_str(&table::table(object, &self.served, rows, &columns));
            }
            form => object.render(form, &self.served, &mut line),
        }
        line.push_str("}\n");
        Piece::Data(Bytes::from(line))
    }

    fn bookmark(&self, annotations: &str) -> Piece {
        let definition = &self.served.definition;
        let (kind, version) = match self.form {
            Form::Metadata => ("PartialObjectMetadata", "meta.k8s.io/v1".to_owned()),
            Form::Row(_) => ("Table", "meta.k8s.io/v1".to_owned()),
            Form::Whole | Form::Item => (definition.kind.as_str(), definition.api_version()),
        };
        let at = self.cursor;
        let is_typed = matches!(self.form, Form::Metadata | Form::Row(_));
        let object = if self.served.built_in || is_typed {
            let annotations = match annotations {
                "" => String::new(),
                annotations => format!(",{annotations}"),
            };
            format!(
                r#""kind":"{kind}","apiVersion":"{version}","metadata":{{"resourceVersion":"{at}"{annotations}}}"#
            )
        } else {
            let annotations = match annotations {
                "" => String::new(),
                annotations => format!("{annotations},"),
            };
            format!(
                r#""apiVersion":"{version}","kind":"{kind}","metadata":{{{annotations}"resourceVersion":"{at}"}}"#
            )
        };
        let line = format!("{{\"type\":\"BOOKMARK\",\"object\":{{{object}}}}}\n");
        Piece::Bookmark(Bytes::from(line))
    }

    /// What an event is to this client, who sees objects come and go when they
    /// begin and cease to match.
    fn seen(&mut self, event: &Event) -> Option<Piece> {
        let was = event.previous.as_ref().filter(|item| self.filter.matches(item));
        let is = !event.deleted && self.filter.matches(&event.item);
        match (was, is) {
            (None, true) => Some(self.line("ADDED", &event.item.object())),
            (Some(_), true) => Some(self.line("MODIFIED", &event.item.object())),
            (Some(_), false) if event.deleted => Some(self.line("DELETED", &event.item.object())),
            (Some(was), false) => Some(self.line("DELETED", &was.object().at(event.version))),
            (None, false) => None,
        }
    }

    /// Waits for something to do.
    async fn wait(&mut self) -> Woken {
        let bookmark = async {
            match &mut self.bookmarks {
                Some(ticks) => ticks.tick().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = &mut self.deadline => Woken::Over,
            changed = self.changed.changed() => match changed {
                Ok(()) => Woken::Changed,
                Err(_) => Woken::Gone,
            },
            _ = bookmark => Woken::Bookmark,
        }
    }

    /// Takes over new events; says whether the watch can go on.
    fn refill(&mut self) -> bool {
        self.changed.borrow_and_update();
        // Asked first: events before the end are still to be told.
        let is_current = self.store.is_current(&self.served);
        let Some((feed, version)) = self.store.after(&self.served.definition, self.cursor) else {
            return false;
        };
        match feed {
            Feed::Events(events) if events.is_empty() => {
                self.cursor = self.cursor.max(version);
                is_current
            }
            Feed::Events(events) => {
                self.events = events.into_iter();
                true
            }
            // A server rather ends a slow watch than keep events for it.
            Feed::Behind => false,
        }
    }
}

#[async_trait]
impl Source for Watch {
    async fn next(&mut self) -> Piece {
        if let Some(item) = self.initial.next() {
            return self.line("ADDED", &item.object());
        }
        if std::mem::take(&mut self.ends_initial) {
            return self.bookmark(INITIAL_EVENTS_END);
        }
        while !self.is_over {
            while let Some(event) = self.events.next() {
                self.cursor = event.version;
                if let Some(piece) = self.seen(&event) {
                    return piece;
                }
            }
            if !self.refill() {
                break;
            }
            if !self.events.as_slice().is_empty() {
                continue;
            }
            let is_ahead = self.cursor > self.store.version();
            match self.wait().await {
                Woken::Changed => {}
                Woken::Bookmark if is_ahead => {}
                Woken::Bookmark => return self.bookmark(""),
                Woken::Gone => break,
                Woken::Over => {
                    self.is_over = true;
                    // Where to go on is said before the end.
                    if self.bookmarks.is_some() && !is_ahead {
                        return self.bookmark("");
                    }
                }
            }
        }
        Piece::Cut(Cut::End)
    }
}
