//! Starts the real servers that tests run against.
//!
//! It stands beside the path: no production crate uses it, and it uses none
//! of ours, so a fault in our code cannot hide in the servers that judge it.
//!
//! What holds here:
//! - A control plane is private to the process that started it: random
//!   loopback port, fresh certificates, everything in one temporary directory.
//! - No server outlives that process, however it ends; see [`ControlPlane`].
//! - The API server and etcd are all there is. Whatever a controller would do
//!   (fill aggregated roles, empty a deleted namespace, collect garbage,
//!   start a pod) does not happen.
//!
//! Start reading in `control_plane.rs`; how the servers are kept from being
//! left behind is in `keeper.rs`. [`Postgres`], [`GitServer`] and [`SshServer`]
//! live by the same rules.
//!
//! ```no_run
//! # use kollect_testenv::ControlPlane;
//! #[test]
//! fn a_config_map_can_be_written() {
//!     let Some(plane) = ControlPlane::shared() else { return };
//!     let namespace = plane.namespace("config");
//!     plane.kubectl(["create", "configmap", "one", "-n", &namespace]).stdout();
//! }
//! ```

mod assets;
mod control_plane;
mod history;
mod access;
mod audit;
mod kubectl;
mod kubeconfig;
mod launch;
mod keeper;
mod ready;
mod certificates;
mod git;
mod postgres;

pub use access::AccessError;
pub use assets::{Assets, MissingServers, assets};
pub use audit::Asked;
pub use certificates::CertificateError;
pub use control_plane::{ControlPlane, StartError};
pub use git::{GitServer, GitServerError, Protocol, SshServer, git, has_sshd};
pub use history::{History, RestartError};
pub use keeper::Processes;
pub use kubectl::{Kubectl, Output};
pub use launch::PrepareError;
pub use postgres::{Durability, Postgres, PostgresError, PostgresPrograms, postgres_programs};
pub use ready::WaitError;
