//! Asks a server for its kinds.

use kollect_inventory::schedule::ErrorClass;
use kube::Client;

use super::{
    Catalogue, Group, Resource, Version,
    parse::{self, Root},
};
use crate::{
    ask::{Ask, Patience, Refusal, chain, encoded},
    list::error::ListError,
    split::SplitError,
};

/// Everything at once if the server can, names if not.
const ROOT: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
                    application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,\
                    application/json";
const PLAIN: &str = "application/json";
/// Clusters with a thousand definitions stay well below it.
const LARGEST_ANSWER: usize = 64 * 1024 * 1024;

/// Nothing is known about a server's kinds.
#[derive(Debug, thiserror::Error)]
#[error("could not learn which kinds the server serves")]
pub struct DiscoveryError(#[source] ListError);

impl DiscoveryError {
    /// Says whether asking again later may help without anybody's doing.
    pub fn class(&self) -> ErrorClass {
        self.0.class()
    }

    /// Why the server did not answer.
    pub fn cause(&self) -> &ListError {
        &self.0
    }
}

impl Catalogue {
    /// Asks a server for all its kinds.
    ///
    /// Fails only if it says nothing at all. What it could not say is a gap in
    /// the catalogue, and a kind in a gap is [unknown](super::Lookup::Unknown).
    pub async fn fetch(client: &Client) -> Result<Self, DiscoveryError> {
        let core = match part(client, "/api").await {
            // The other half would fail in the same way, only later.
            Err(
                error @ (ListError::Unreachable { .. }
                | ListError::Stalled { .. }
                | ListError::Unauthorized { .. }
                | ListError::NoCredentials { .. }),
            ) => return Err(DiscoveryError(error)),
            core => core,
        };
        match (core, part(client, "/apis").await) {
            (Err(error), Err(_)) => Err(DiscoveryError(error)),
            (core, named) => {
                let known = |part: Result<_, ListError>| part.map_err(|error| chain(&error));
                Ok(Self { core: known(core), named: known(named) })
            }
        }
    }
}

/// The groups under one of the two roots.
async fn part(client: &Client, path: &str) -> Result<Vec<Group>, ListError> {
    let what = format!("the kinds at {path}");
    let ask = Ask { uri: path, accept: ROOT, what: &what };
    let mut patience = Patience::default();
    let root = loop {
        match read(client, ask, parse::root).await {
            Ok(root) => break root,
            Err(refusal) => patience.wait(refusal).await.map_err(|refusal| refusal.error)?,
        }
    };
    match root {
        Root::Whole(groups) => Ok(groups),
        Root::Names(names) => Ok(one_by_one(client, path, names).await),
    }
}

/// Asks an old server for each version by itself. There are dozens, so each is
/// asked for once; the next discovery is never far.
async fn one_by_one(client: &Client, path: &str, names: Vec<(String, Vec<String>)>) -> Vec<Group> {
    let mut groups = Vec::new();
    for (name, names) in names {
        let mut versions = Vec::new();
        for version in names {
            let resources = resources(client, path, &name, &version).await;
            versions.push(Version {
                name: version,
                resources: resources.map_err(|refusal| chain(&refusal.error)),
            });
        }
        groups.push(Group { name, versions });
    }
    groups
}

async fn resources(
    client: &Client,
    path: &str,
    group: &str,
    version: &str,
) -> Result<Vec<Resource>, Refusal> {
    let uri = match group {
        "" => format!("{path}/{}", encoded(version)),
        group => format!("{path}/{}/{}", encoded(group), encoded(version)),
    };
    let what = format!("the kinds at {uri}");
    let ask = Ask { uri: &uri, accept: PLAIN, what: &what };
    read(client, ask, |bytes| parse::version(group, version, bytes)).await
}

/// Asks once, and reads the whole answer.
pub(super) async fn read<T>(
    client: &Client,
    ask: Ask<'_>,
    parse: impl FnOnce(&[u8]) -> Result<T, serde_json::Error>,
) -> Result<T, Refusal> {
    let mut answer = ask.send(client).await?;
    let bytes = answer.gather(LARGEST_ANSWER).await?;
    parse(&bytes).map_err(|error| ask.malformed(SplitError::Malformed(error)).into())
}
