//! From a kubeconfig, or from within a pod, to a client.
//!
//! Credential plugins, token files and client certificates are kube's work.

pub(crate) mod cause;
mod stream;
mod transport;

use std::{
    env,
    ffi::OsStr,
    fmt,
    path::{Path, PathBuf},
    time::Duration,
};

use http::{HeaderValue, header::USER_AGENT};
use kube::{
    Client, Config,
    config::{InClusterError, KubeConfigOptions, Kubeconfig},
};

use self::cause::Cause;

/// A server that is there answers within this, also from afar.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// Names us in the server's logs. Servers print prettily for browsers and
/// curl, and compactly for this.
const AGENT: &str = concat!("kollect/", env!("CARGO_PKG_VERSION"));

/// Where the way to a cluster is written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In kubeconfig files; where they disagree, the first one holds.
    Files(Vec<PathBuf>),
    /// In the pod that we run in.
    InCluster,
}

/// The contexts of a kubeconfig.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contexts {
    /// In the order of the files.
    pub names: Vec<String>,
    /// The one that is used when none is named; it may not be among the names.
    pub current: Option<String>,
}

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("could not read the kubeconfig {}", file.display())]
    Read { file: PathBuf, source: Cause },

    #[error("the kubeconfig {place} has no context {context:?}{}", among(names))]
    NoSuchContext { place: Place, context: String, names: Vec<String> },

    #[error("the kubeconfig {place} names no current context{}", among(names))]
    NoCurrentContext { place: Place, names: Vec<String> },

    #[error("could not use context {context:?} of the kubeconfig {place}")]
    Context { place: Place, context: String, source: Cause },

    #[error("could not find the way from this pod to its API server")]
    InCluster(#[source] Box<InClusterError>),

    #[error("could not make a client for {of}")]
    Client { of: String, source: Cause },
}

impl Place {
    /// Chooses as kubectl does: the file that was named, else those that
    /// `$KUBECONFIG` lists, else the one in the home directory; and where that
    /// is absent, the pod.
    pub fn choose(named: Option<&Path>, variable: Option<&OsStr>, home: Option<&Path>) -> Self {
        if let Some(file) = named {
            return Self::Files(vec![file.to_owned()]);
        }
        let listed = variable.map(env::split_paths).into_iter().flatten();
        let listed: Vec<_> = listed.filter(|file| !file.as_os_str().is_empty()).collect();
        if !listed.is_empty() {
            return Self::Files(listed);
        }
        let usual = home.map(|home| home.join(".kube").join("config"));
        match usual.filter(|file| file.exists()) {
            Some(file) => Self::Files(vec![file]),
            None => Self::InCluster,
        }
    }

    /// Reads and merges the files.
    fn kubeconfig(&self) -> Result<Kubeconfig, ConnectError> {
        let Self::Files(files) = self else { return Ok(Kubeconfig::default()) };
        let mut merged = Kubeconfig::default();
        for file in files {
            // Of several, some may be absent: the variable often lists what might be there.
            if files.len() > 1 && !file.exists() {
                continue;
            }
            let read = Kubeconfig::read_from(file).and_then(|next| merged.merge(next));
            merged = read.map_err(|error| ConnectError::Read {
                file: file.clone(),
                source: Cause::of_kubeconfig(&error),
            })?;
        }
        Ok(merged)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Files(files) => {
                let files: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
                f.write_str(&files.join(", "))
            }
            Self::InCluster => f.write_str("of the pod"),
        }
    }
}

/// Makes ring the process's only source of cryptography.
///
/// The binary calls this first: whoever builds a TLS connection before would
/// choose for all. A second call changes nothing.
pub fn use_ring() {
    // An error means that there is one already.
    drop(rustls::crypto::ring::default_provider().install_default());
}

/// The contexts of the kubeconfig at a place; none in a pod.
pub fn contexts(place: &Place) -> Result<Contexts, ConnectError> {
    let kubeconfig = place.kubeconfig()?;
    let current = kubeconfig.current_context.clone().filter(|name| !name.is_empty());
    Ok(Contexts { names: names(&kubeconfig), current })
}

/// Makes a client for a context, or for the current one; a pod has only one.
///
/// Must be called in a runtime. Nothing is sent yet, so a server that cannot be
/// reached is noticed by the first request. The client retries nothing by
/// itself and speaks HTTP/1.1.
pub async fn connect(place: &Place, context: Option<&str>) -> Result<Client, ConnectError> {
    let (mut config, of) = match place {
        Place::Files(_) => configured(place, context).await?,
        Place::InCluster => {
            let config = Config::incluster();
            let config = config.map_err(|error| ConnectError::InCluster(Box::new(error)))?;
            (config, "the API server of this pod".to_owned())
        }
    };
    config.connect_timeout = Some(CONNECT_TIMEOUT);
    config.write_timeout = Some(WRITE_TIMEOUT);
    // Silence is judged by each request: a watch may be silent, a list may not.
    config.read_timeout = None;
    // The states of a list and of a watch decide what is tried again.
    config.default_retry = false;
    config.headers.push((USER_AGENT, HeaderValue::from_static(AGENT)));
    transport::client(config)
        .map_err(|error| ConnectError::Client { of, source: Cause::of_client(&error) })
}

/// The configuration of a context, and what to call it.
async fn configured(
    place: &Place,
    context: Option<&str>,
) -> Result<(Config, String), ConnectError> {
    let kubeconfig = place.kubeconfig()?;
    let names = names(&kubeconfig);
    let place = place.clone();
    let current = kubeconfig.current_context.clone().filter(|name| !name.is_empty());
    let Some(context) = context.map(str::to_owned).or(current) else {
        return Err(ConnectError::NoCurrentContext { place, names });
    };
    if !names.contains(&context) {
        return Err(ConnectError::NoSuchContext { place, context, names });
    }
    let options = KubeConfigOptions { context: Some(context.clone()), ..Default::default() };
    match Config::from_custom_kubeconfig(kubeconfig, &options).await {
        Ok(config) => Ok((config, format!("context {context:?} of the kubeconfig {place}"))),
        Err(error) => {
            let source = Cause::of_kubeconfig(&error);
            Err(ConnectError::Context { place, context, source })
        }
    }
}

fn names(kubeconfig: &Kubeconfig) -> Vec<String> {
    kubeconfig.contexts.iter().map(|context| context.name.clone()).collect()
}

fn among(names: &[String]) -> String {
    match names {
        [] => "; it has none at all".to_owned(),
        names => format!("; it has {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use std::{error::Error as _, fs};

    use super::*;

    const SHOP: &str = "
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]
users: [{name: u, user: {token: t}}]
contexts:
- {name: shop, context: {cluster: c, user: u}}
- {name: lost, context: {cluster: elsewhere, user: u}}
current-context: shop
";
    const LAB: &str = "
apiVersion: v1
kind: Config
clusters: [{name: d, cluster: {server: 'https://127.0.0.1:2'}}]
contexts: [{name: lab, context: {cluster: d}}, {name: shop, context: {cluster: d}}]
current-context: lab
";

    fn files(texts: &[&str]) -> (tempfile::TempDir, Vec<PathBuf>) {
        let directory = tempfile::tempdir().unwrap();
        let paths = texts.iter().enumerate().map(|(number, text)| {
            let path = directory.path().join(format!("config-{number}"));
            fs::write(&path, text).unwrap();
            path
        });
        let paths = paths.collect();
        (directory, paths)
    }

    #[test]
    fn the_named_file_goes_before_the_variable_and_that_before_the_home_directory() {
        let home = tempfile::tempdir().unwrap();
        let (named, variable) = (Some(Path::new("/n")), Some(OsStr::new("/a::/b")));
        let file = |path: &str| PathBuf::from(path);
        assert_eq!(
            Place::choose(named, variable, Some(home.path())),
            Place::Files(vec![file("/n")])
        );
        assert_eq!(
            Place::choose(None, variable, Some(home.path())),
            Place::Files(vec![file("/a"), file("/b")])
        );
        let empty = Some(OsStr::new(""));
        assert_eq!(Place::choose(None, empty, Some(home.path())), Place::InCluster);
        assert_eq!(Place::choose(None, None, None), Place::InCluster);
        fs::create_dir(home.path().join(".kube")).unwrap();
        let usual = home.path().join(".kube/config");
        fs::write(&usual, "").unwrap();
        assert_eq!(Place::choose(None, empty, Some(home.path())), Place::Files(vec![usual]));
    }

    #[test]
    fn contexts_of_several_files_are_put_together_and_the_first_file_holds() {
        let (_directory, mut paths) = files(&[SHOP, LAB]);
        paths.push(PathBuf::from("/absent"));
        let found = contexts(&Place::Files(paths)).unwrap();
        assert_eq!(found.names, ["shop", "lost", "lab"]);
        assert_eq!(found.current.as_deref(), Some("shop"));
        assert_eq!(contexts(&Place::InCluster).unwrap(), Contexts::default());
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named() {
        let error = contexts(&Place::Files(vec![PathBuf::from("/absent")])).unwrap_err();
        assert_eq!(error.to_string(), "could not read the kubeconfig /absent");
        assert!(error.source().is_some());
        let (_directory, paths) = files(&["clusters: 7"]);
        let error = contexts(&Place::Files(paths)).unwrap_err();
        assert!(matches!(error, ConnectError::Read { .. }), "{error}");
    }

    #[tokio::test]
    async fn contexts_are_named_when_they_cannot_be_used() {
        let (_directory, paths) = files(&[SHOP, "{apiVersion: v1, kind: Config}"]);
        let shop = paths[0].display();
        let of = |number: usize| Place::Files(vec![paths[number].clone()]);
        let error = connect(&of(0), Some("ship")).await.err().unwrap();
        let expected = format!("the kubeconfig {shop} has no context \"ship\"; it has shop, lost");
        assert_eq!(error.to_string(), expected);
        let error = connect(&of(0), Some("lost")).await.err().unwrap();
        let expected = format!("could not use context \"lost\" of the kubeconfig {shop}");
        assert_eq!(error.to_string(), expected);
        let error = connect(&of(1), None).await.err().unwrap();
        let expected = format!(
            "the kubeconfig {} names no current context; it has none at all",
            paths[1].display()
        );
        assert_eq!(error.to_string(), expected);
    }

    #[tokio::test]
    async fn a_plugin_that_fails_is_named_with_what_it_says_to_people() {
        let plugin = "{apiVersion: v1, kind: Config, current-context: x, \
                      clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}], \
                      contexts: [{name: x, context: {cluster: c, user: u}}], \
                      users: [{name: u, user: {exec: {interactiveMode: Never, \
                      apiVersion: client.authentication.k8s.io/v1, command: sh, \
                      args: ['-c', 'echo s3cret; echo log in >&2; exit 3']}}}]}";
        let (_directory, paths) = files(&[plugin]);
        let error = connect(&Place::Files(paths), None).await.err().unwrap();
        let cause = error.source().unwrap().to_string();
        assert!(cause.ends_with("failed (exit status: 3): log in"), "{cause}");
        assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
    }

    #[tokio::test]
    async fn a_client_needs_no_server_to_be_made() {
        use_ring();
        use_ring();
        let (_directory, paths) = files(&[SHOP]);
        let place = Place::Files(paths);
        assert!(connect(&place, None).await.is_ok());
        assert!(connect(&place, Some("shop")).await.is_ok());
    }
}
