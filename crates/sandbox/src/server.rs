//! Connections, and which part answers what.

mod incoming;

use std::{
    fmt::Display,
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use hyper::{Response, StatusCode, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::sleep,
};
use tokio_rustls::TlsAcceptor;

use crate::{
    admin,
    body::{Answer, Once, ResetFlag, Source, Stream},
    decode,
    definition::Served,
    discovery::{self, Catalogue, GroupHealth},
    faults::Fault,
    filter,
    list::{self, Listing},
    object::Form,
    openapi,
    request::{Place, Request, Target, Verb},
    scale,
    socket::Socket,
    status::Status,
    streams, table, watch,
    world::World,
    write::{self, Done},
};

/// Serves until it is dropped, and everything with it.
pub(crate) async fn serve(listener: TcpListener, acceptor: Option<TlsAcceptor>, world: Arc<World>) {
    let mut connections = JoinSet::new();
    for number in 0.. {
        // The reasons that there are, as too many open files, pass.
        let Ok((stream, _)) = listener.accept().await else {
            sleep(Duration::from_millis(10)).await;
            continue;
        };
        while connections.try_join_next().is_some() {}
        let (acceptor, world) = (acceptor.clone(), Arc::clone(&world));
        // Whoever comes after a restart is not cut off by it.
        let mut cut = world.cut.subscribe();
        connections.spawn(async move {
            tokio::select! {
                biased;
                // Whoever asked for the restart is answered first.
                () = connection(stream, number, acceptor, world) => {}
                // The sender lives as long as the world.
                _ = cut.changed() => {}
            }
        });
    }
}

async fn connection(
    stream: TcpStream,
    number: u64,
    acceptor: Option<TlsAcceptor>,
    world: Arc<World>,
) {
    // Without it, lines of a watch would wait for each other.
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let reset: ResetFlag = Arc::new(AtomicBool::new(false));
    let socket = Socket { stream, reset: Arc::clone(&reset) };
    match acceptor {
        None => speak(socket, number, reset, world).await,
        // A client that does not trust us goes.
        Some(acceptor) => {
            if let Ok(socket) = acceptor.accept(socket).await {
                speak(socket, number, reset, world).await;
            }
        }
    }
}

async fn speak(
    socket: impl AsyncRead + AsyncWrite + Unpin,
    number: u64,
    reset: ResetFlag,
    world: Arc<World>,
) {
    let service =
        service_fn(move |request| answer(Arc::clone(&world), request, number, Arc::clone(&reset)));
    let served = http1::Builder::new()
        // A connection may idle for as long as its client likes.
        .header_read_timeout(None)
        .serve_connection(TokioIo::new(socket), service)
        .await;
    // Clients that go and answers that are cut are nothing to speak of.
    drop(served);
}

/// An answer before faults have had their way with it.
enum Plain {
    Document { code: u16, media_type: &'static str, bytes: Bytes, warnings: Vec<String> },
    Stream(Box<dyn Source>),
}

const JSON: &str = "application/json";

/// What real servers say to whoever reads endpoints in the old form.
const DEPRECATED: &str =
    "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice";

impl Plain {
    fn json(document: &serde_json::Value) -> Self {
        Self::document(200, JSON, line(document))
    }

    fn document(code: u16, media_type: &'static str, bytes: Bytes) -> Self {
        Self::Document { code, media_type, bytes, warnings: Vec::new() }
    }

    fn text(code: u16, text: &'static str) -> Self {
        let bytes = Bytes::from_static(text.as_bytes());
        Self::document(code, "text/plain; charset=utf-8", bytes)
    }
}

fn line(document: &impl Display) -> Bytes {
    Bytes::from(format!("{document}\n"))
}

async fn answer(
    world: Arc<World>,
    http: hyper::Request<Incoming>,
    connection: u64,
    reset: ResetFlag,
) -> io::Result<Response<Answer>> {
    let mut request = incoming::read(&http);
    request.connection = connection;
    let is_admin = matches!(request.place, Place::Admin(_));
    // Whoever sets faults is not to be hit by them.
    let faults = if is_admin { Vec::new() } else { world.faults.of(&request) };
    if !is_admin {
        world.log.add(request.clone());
    }
    for fault in &faults {
        match fault {
            Fault::Latency(duration) => sleep(*duration).await,
            Fault::Refuse => return Err(io::Error::other("the sandbox was told to refuse")),
            _ => {}
        }
    }
    let body = match incoming::body(http.into_body()).await {
        Ok(body) => body,
        Err(error) => return Err(io::Error::other(error)),
    };
    let told = faults.iter().find_map(|fault| match fault {
        Fault::Status(code) => Some(Status::of_code(*code)),
        Fault::TooManyRequests { retry_after } => Some(Status::too_many_requests(*retry_after)),
        _ => None,
    });
    let plain = match told {
        Some(status) => Err(status),
        None => route(&world, &request, &faults, &body),
    };
    finish(plain, &request, faults, reset)
}

fn route(world: &World, request: &Request, faults: &[Fault], body: &[u8]) -> Result<Plain, Status> {
    match &request.place {
        Place::Admin(path) => {
            admin::answer(world, &request.method, path, body).map(|done| Plain::json(&done))
        }
        Place::Resource(target) => resource(world, request, target, faults, body),
        _ if request.method != "GET" => Err(Status::method_not_allowed()),
        Place::ServerVersion => Ok(Plain::json(&serde_json::json!({
            "major": "1",
            "minor": "36",
            "gitVersion": "v1.36.0+sandbox",
            "platform": "linux/amd64",
        }))),
        Place::OpenApi(path) => openapi::find(&world.store.served(), request, path).map(|found| {
            found.as_ref().map_or_else(|| Plain::text(404, "404 page not found\n"), Plain::json)
        }),
        Place::Health => Ok(Plain::text(200, "ok")),
        Place::Nowhere => Ok(Plain::text(404, "404 page not found\n")),
        place => discover(world, request, place),
    }
}

fn discover(world: &World, request: &Request, place: &Place) -> Result<Plain, Status> {
    let catalogue = Catalogue::new(world.store.served());
    let is_core = *place == Place::Core;
    if matches!(place, Place::Core | Place::Groups) && discovery::wants_aggregated(request) {
        let bytes = line(&catalogue.aggregated(is_core, &world.health));
        return Ok(Plain::document(200, discovery::AGGREGATED, bytes));
    }
    let document = match place {
        Place::Core => Some(catalogue.core_versions()),
        Place::Groups => Some(catalogue.groups()),
        Place::Group(group) => catalogue.group(group),
        Place::Version(group, _) if world.health.of(group) == GroupHealth::Failing => {
            return Err(Status::of_code(503));
        }
        Place::Version(group, version) => catalogue.resources(group, version),
        _ => None,
    };
    let found = document.as_ref().map(Plain::json);
    Ok(found.unwrap_or_else(|| Plain::text(404, "404 page not found\n")))
}

fn resource(
    world: &World,
    request: &Request,
    target: &Target,
    faults: &[Fault],
    body: &[u8],
) -> Result<Plain, Status> {
    let Target { group, version, plural, namespace, .. } = target;
    if world.health.of(group) == GroupHealth::Failing {
        return Err(Status::of_code(503));
    }
    let served = world.store.find(group, version, plural);
    let Some(served) = served.filter(|served| served.definition.namespaced || namespace.is_none())
    else {
        // The server of custom resources says it in another way.
        if Catalogue::new(world.store.served()).is_built_in(group) {
            return Err(Status::of_code(404));
        }
        return Ok(Plain::text(404, "404 page not found\n"));
    };
    if served.about.verbs == ["create"] {
        return review(world, request, &served, body);
    }
    world.access.check(request, target)?;
    let told = |wanted: fn(&Fault) -> bool| faults.iter().any(wanted);
    match request.verb {
        Verb::Get if target.subresource == "scale" => {
            scale::get(&world.store, &served, target).map(|scale| Plain::json(&scale))
        }
        Verb::Get => object(world, request, target, &served),
        Verb::List => {
            let expired = told(|fault| matches!(fault, Fault::ExpireContinue));
            let listing = list::answer(&world.store, served, request, target, expired)?;
            Ok(match listing {
                Listing::Short(bytes) => Plain::document(200, JSON, bytes),
                Listing::Long(source) => Plain::Stream(source),
            })
        }
        Verb::Watch => {
            let millis = world.bookmark_millis.load(Ordering::Relaxed);
            let setting = watch::Setting {
                store: Arc::clone(&world.store),
                served,
                bookmark_interval: Duration::from_millis(millis.max(1)),
                ticket: world.log.watch_opened(),
                refuses_initial: told(|fault| matches!(fault, Fault::RefuseWatchList)),
            };
            watch::open(setting, request, target).map(Plain::Stream)
        }
        _ => {
            let asked = write::Asked { request, target, served: &served, body };
            let Done { code, document: bytes, warnings } = write::answer(&world.store, &asked)?;
            Ok(Plain::Document { code, media_type: JSON, bytes, warnings })
        }
    }
}

fn review(world: &World, request: &Request, served: &Served, body: &[u8]) -> Result<Plain, Status> {
    if request.verb != Verb::Create {
        return Err(Status::method_not_allowed());
    }
    let review = decode::object(request, body, served)?;
    let bytes = line(&world.access.review(&served.definition.kind, review)?);
    Ok(Plain::document(201, JSON, bytes))
}

fn object(
    world: &World,
    request: &Request,
    target: &Target,
    served: &Served,
) -> Result<Plain, Status> {
    let is_known = match target.subresource.as_str() {
        "" => true,
        "status" => served.about.has_status,
        _ => false,
    };
    if !is_known {
        return Err(Status::of_code(404));
    }
    let form = filter::form(request, Form::Whole, world.store.now())?;
    let name = target.name.clone().unwrap_or_default();
    let object = world.store.get(&served.definition, &target.key());
    let object = object.ok_or_else(|| Status::not_found(&served.definition, &name))?;
    let mut text = String::new();
    match form {
        Form::Row(rows) => {
            text = table::table(&object, served, rows, &table::columns(served));
        }
        form => object.render(form, served, &mut text),
    }
    text.push('\n');
    Ok(Plain::document(200, JSON, Bytes::from(text)))
}

fn finish(
    plain: Result<Plain, Status>,
    request: &Request,
    mut faults: Vec<Fault>,
    reset: ResetFlag,
) -> io::Result<Response<Answer>> {
    let retry_after = plain.as_ref().err().and_then(|status| status.retry_after);
    let plain =
        plain.unwrap_or_else(|status| Plain::document(status.code, JSON, line(&status.json())));
    let is_stream = matches!(plain, Plain::Stream(_));
    faults.retain(|fault| {
        let is_of_watch = streams::is_of_watch(fault);
        !is_of_watch || (is_stream && request.verb == Verb::Watch)
    });
    let mut notes = Vec::new();
    if let Plain::Document { warnings, .. } = &plain {
        notes.clone_from(warnings);
    }
    let (code, media_type, body) = match plain {
        Plain::Document { code, media_type, bytes, .. } if !streams::any(&faults) => {
            (code, media_type, Answer::Whole(Some(bytes)))
        }
        Plain::Document { code, media_type, bytes, .. } => {
            let source = streams::spoil(Box::new(Once::new(bytes)), &faults);
            (code, media_type, Answer::Stream(Stream::new(source, reset)))
        }
        Plain::Stream(source) => {
            let source = streams::spoil(source, &faults);
            (200, JSON, Answer::Stream(Stream::new(source, reset)))
        }
    };
    let code = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = Response::builder()
        .status(code)
        .header("content-type", media_type)
        .header("cache-control", "no-cache, private");
    let is_endpoints = request.resource() == "endpoints" && request.group().is_empty();
    notes.extend(is_endpoints.then(|| DEPRECATED.to_owned()));
    for note in notes {
        response = response.header("warning", format!("299 - \"{}\"", note.replace('"', "\\\"")));
    }
    if let Some(seconds) = retry_after {
        response = response.header("retry-after", seconds);
    }
    if faults.iter().any(|fault| matches!(fault, Fault::Gzip)) {
        response = response.header("content-encoding", "gzip");
    }
    response.body(body).map_err(io::Error::other)
}
