//! An in-memory Kubernetes API over real HTTP, for demos, fault tests and load.
//!
//! It stands beside the path, not on it: what reads a cluster reads it
//! unchanged, and it shares no code with its readers, because a peer that did
//! would share their mistakes. It serves discovery, objects, lists and watches
//! with the habits of real servers that surprise clients, and does what those
//! cannot be asked for: fail on demand, and hold more objects than there is
//! memory.
//!
//! Invariants:
//! - One counter versions everything, and no clock is read: the same calls give
//!   the same objects in every run.
//! - A page, a watch and the newest list agree on what was when.
//! - Nothing outlives the [`Sandbox`].
//! - It makes no claims about the real server: where the two differ, the real
//!   one is right.
//!
//! Start with [`Sandbox`]; [`On`] and [`Fault`] say what goes wrong.
//!
//! ```
//! use kollect_sandbox::{Fault, On, Sandbox};
//! use serde_json::json;
//!
//! let sandbox = Sandbox::start()?;
//! sandbox.put(json!({
//!     "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"},
//! }))?;
//! // The first list of config maps fails, and the next does not.
//! sandbox.inject(On::list("configmaps").nth(1), Fault::Status(503));
//! assert!(sandbox.url().starts_with("http://127.0.0.1:"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod definition;
mod recorded;
mod schema;
mod selector;
mod object;
mod synthetic;
mod storage;
mod request;
mod status;
mod decode;
mod filter;
mod body;
mod faults;
mod streams;
mod access;
mod admin;
mod log;
mod discovery;
mod list;
mod watch;
mod table;
mod openapi;
mod patch;
mod crd;
mod scale;
mod write;
mod socket;
mod tls;
mod world;
mod server;
mod sandbox;

pub use self::{
    access::{Denial, DenialScope},
    body::Cut,
    definition::ResourceDefinition,
    discovery::GroupHealth,
    faults::{Fault, FaultId, On},
    request::{Request, Verb},
    sandbox::{Memory, Sandbox, Settings, Transport},
    storage::{StoreError, backup::Backup},
    synthetic::Changes,
};
