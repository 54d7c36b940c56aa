//! The custom resources reconciled.
//!
//! Everything of ours that the API server has is watched ([`objects`]), a pure
//! function makes a plan of all of it, and one task makes the difference
//! between that and what runs. Reconciling configures collection and delivery;
//! it is not on the way of the data, which never waits for it.

mod objects;
mod eyes;
mod secrets;
mod settings;
mod plan;
mod probes;
mod status;
mod brain;
mod lease;
mod vitals;
mod serve;
mod metrics;
mod rights;
mod words;

pub use brain::{Broken, Kept, Surroundings, operate};
pub use lease::{Contest, NAME as LEASE, Standing, Terms};
pub use metrics::{Build, Metrics};
pub use rights::{Collected, Install, Reach, manifests::page as page_of_rights};
pub use serve::{
    Port,
    address::{Address, AddressError},
    certificates::{CertificateError, Certificates},
    health::Health,
    metrics::{MetricsPage, MetricsText},
};
pub use settings::Settings;
pub use vitals::Vitals;
pub use words::{Word, words, words_of_copies, words_of_coverage};
