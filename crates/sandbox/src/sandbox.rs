//! The handle by which a sandbox is started, filled and spoiled.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::{
    net::TcpListener,
    runtime,
    sync::{oneshot, watch},
    task::JoinSet,
    time::{MissedTickBehavior, interval},
};

use crate::{
    access::{Access, Denial},
    definition::ResourceDefinition,
    discovery::{GroupHealth, Health},
    faults::{Fault, FaultId, Faults, On},
    log::Log,
    request::Request,
    server,
    storage::{self, Backup, Store, StoreError},
    synthetic::Changes,
    tls::Tls,
    world::World,
};

/// Namespaces that every cluster has.
const NAMESPACES: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/// Real servers send bookmarks about once a minute.
const BOOKMARK_MILLIS: u64 = 60_000;

/// How often synthetic objects change, a few at a time.
const TICK: Duration = Duration::from_millis(5);

/// How a sandbox is started.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings {
    /// On the loopback interface; a free one if it is zero.
    pub port: u16,
    /// Tells the time of what happens; without it time goes on by a second a
    /// change, and every run is like the last.
    pub clock: Option<fn() -> Timestamp>,
    pub transport: Transport,
}

/// What a server that is restarted still knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    Kept,
    Lost,
}

/// How clients talk to a sandbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transport {
    #[default]
    Http,
    /// With a certificate of an authority of its own, which the kubeconfig
    /// names.
    Https,
}

/// A cluster's API on a port of this machine, until it is dropped.
///
/// It runs on a thread and a runtime of its own: whoever talks to it may block
/// or stop its own clock, as with a server elsewhere.
#[derive(Debug)]
pub struct Sandbox {
    world: Arc<World>,
    address: SocketAddr,
    /// Whom clients must trust, in PEM.
    authority: Option<String>,
    /// Dropping it ends the server.
    stop: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Sandbox {
    /// Starts an empty cluster on a free port of the loopback interface.
    ///
    /// It takes requests when this returns.
    pub fn start() -> io::Result<Self> {
        Self::start_with(Settings::default())
    }

    /// Starts an empty cluster; fails if the port is taken.
    ///
    /// It takes requests when this returns.
    pub fn start_with(settings: Settings) -> io::Result<Self> {
        let Settings { port, clock, transport } = settings;
        let tls = match transport {
            Transport::Http => None,
            Transport::Https => Some(Tls::new()?),
        };
        let acceptor = tls.as_ref().map(|tls| tls.acceptor.clone());
        let store = Store::new(clock);
        for namespace in NAMESPACES {
            store.put(storage::namespace(namespace)).map_err(io::Error::other)?;
        }
        let world = Arc::new(World {
            first: store.backup(),
            store: Arc::new(store),
            faults: Faults::default(),
            access: Access::default(),
            log: Log::default(),
            health: Health::default(),
            bookmark_millis: AtomicU64::new(BOOKMARK_MILLIS),
            cut: watch::Sender::new(()),
            saved: Mutex::default(),
            rates: watch::Sender::new(()),
        });
        let listener = std::net::TcpListener::bind(("127.0.0.1", port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = {
            let _inside = runtime.enter();
            TcpListener::from_std(listener)?
        };
        let (stop, stopped) = oneshot::channel::<()>();
        let (served, changes) = (Arc::clone(&world), world.rates.subscribe());
        let thread = thread::Builder::new().name("sandbox".to_owned()).spawn(move || {
            runtime.block_on(async {
                let mut tasks = JoinSet::new();
                tasks.spawn(churn(Arc::clone(&served.store), changes));
                tasks.spawn(server::serve(listener, acceptor, served));
                // An error says that the handle has gone, which is the signal.
                drop(stopped.await);
            });
        })?;
        let authority = tls.map(|tls| tls.authority);
        Ok(Self { world, address, authority, stop: Some(stop), thread: Some(thread) })
    }

    /// Where it listens, as `http://127.0.0.1:40123`.
    pub fn url(&self) -> String {
        let scheme = if self.authority.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// A kubeconfig that leads to it; JSON, which every reader of YAML reads.
    pub fn kubeconfig(&self) -> String {
        let mut cluster = json!({"server": self.url()});
        if let (Value::Object(cluster), Some(authority)) = (&mut cluster, &self.authority) {
            let authority = Value::from(STANDARD.encode(authority));
            cluster.insert("certificate-authority-data".to_owned(), authority);
        }
        json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "sandbox", "cluster": cluster}],
            "users": [{"name": "sandbox", "user": {"token": "sandbox"}}],
            "contexts": [{
                "name": "sandbox",
                "context": {"cluster": "sandbox", "user": "sandbox", "namespace": "default"},
            }],
            "current-context": "sandbox",
        })
        .to_string()
    }

    /// Serves a resource, as if by a CRD; again to replace its definition, which
    /// ends the watches of it.
    pub fn define(&self, definition: ResourceDefinition) {
        self.world.store.define(definition);
    }

    /// What is served, in every version.
    pub fn definitions(&self) -> Vec<ResourceDefinition> {
        self.world.store.served().into_iter().map(|served| served.definition).collect()
    }

    /// Serves a resource no longer; says whether it did.
    ///
    /// Its watches end. With its last version the objects go, too.
    pub fn remove_definition(&self, group: &str, version: &str, plural: &str) -> bool {
        self.world.store.undefine(group, version, plural)
    }

    /// Creates or replaces an object, and returns it as it is stored.
    ///
    /// One that already is like this stays as it is, without a new version.
    pub fn put(&self, object: Value) -> Result<Value, StoreError> {
        self.world.store.put(object)
    }

    /// Deletes an object, if there is one; synthetic ones stay.
    pub fn delete(&self, group: &str, plural: &str, namespace: Option<&str>, name: &str) -> bool {
        let key = (namespace.unwrap_or_default().to_owned(), name.to_owned());
        self.world.store.delete(group, plural, &key)
    }

    /// The newest `resourceVersion`.
    pub fn version(&self) -> u64 {
        self.world.store.version()
    }

    /// Sets how many events of each resource are remembered for new watches
    /// and for pages of old lists. Watches that are open miss nothing.
    pub fn set_history(&self, events: usize) {
        self.world.store.set_window(events);
    }

    /// Forgets all events up to now: new watches cannot begin before.
    pub fn compact(&self) {
        self.world.store.compact();
    }

    /// Sets how often watches opened from now on send bookmarks.
    pub fn set_bookmark_interval(&self, interval: Duration) {
        let millis = u64::try_from(interval.as_millis()).unwrap_or(u64::MAX);
        self.world.bookmark_millis.store(millis, Ordering::Relaxed);
    }

    /// Sets what discovery says of a group.
    pub fn set_group_health(&self, group: &str, health: GroupHealth) {
        self.world.health.set(group, health);
    }

    /// Forbids something, until it is allowed again.
    pub fn deny(&self, denial: Denial) {
        self.world.access.deny(denial);
    }

    /// Allows what was denied; says whether it was.
    pub fn allow(&self, denial: &Denial) -> bool {
        self.world.access.lift(denial)
    }

    /// Lets requests go wrong from now on.
    pub fn inject(&self, on: On, fault: Fault) -> FaultId {
        self.world.faults.inject(on, fault)
    }

    /// Lifts a fault; says whether it was there. Answers under way keep it.
    pub fn lift(&self, fault: FaultId) -> bool {
        self.world.faults.lift(fault)
    }

    /// Lifts all faults; denials and the health of groups stay.
    pub fn lift_all(&self) {
        self.world.faults.lift_all();
    }

    /// Closes every connection, as a server that is restarted does, and forgets
    /// what happened before; without its memory it is a new cluster.
    pub fn restart(&self, memory: Memory) {
        self.world.restart(memory);
    }

    /// Puts the cluster aside as it is.
    pub fn backup(&self) -> Backup {
        self.world.store.backup()
    }

    /// Brings a cluster back that was put aside: versions go back, too, and
    /// every connection is closed.
    pub fn restore(&self, backup: &Backup) {
        self.world.restore(backup);
    }

    /// The requests that were made, the oldest first; the last ten thousand.
    pub fn requests(&self) -> Vec<Request> {
        self.world.log.all()
    }

    /// Forgets the requests that were made.
    pub fn clear_requests(&self) {
        self.world.log.clear();
    }

    /// Waits until a request like this has been made, and returns the first.
    pub async fn requested(&self, wanted: impl Fn(&Request) -> bool) -> Request {
        self.world.log.find(wanted).await
    }

    /// How many watches are open.
    pub fn open_watches(&self) -> usize {
        self.world.log.open_watches()
    }

    /// Adds objects that are made when they are read, about so long each, in
    /// namespaces of a thousand; replaces those that there were.
    ///
    /// Watches of the resource end, because nobody is told of each object.
    pub fn synthetic(
        &self,
        group: &str,
        plural: &str,
        count: usize,
        bytes_each: usize,
    ) -> Result<(), StoreError> {
        self.world.store.synthesize((group, plural), count, bytes_each)
    }

    /// Sets how many of a resource's synthetic objects change in a second;
    /// says whether there are any.
    pub fn set_rate(&self, group: &str, plural: &str, per_second: f64) -> bool {
        self.set_changes(group, plural, Changes { per_second, ..Changes::default() })
    }

    /// Sets how a resource's synthetic objects change, come and go; says
    /// whether there are any.
    pub fn set_changes(&self, group: &str, plural: &str, changes: Changes) -> bool {
        self.world.set_changes(group, plural, changes)
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            // A panic there has been reported already, and must not become two.
            drop(thread.join());
        }
    }
}

/// Changes synthetic objects at their rates; sleeps while there are none.
async fn churn(store: Arc<Store>, mut rates: watch::Receiver<()>) {
    while rates.changed().await.is_ok() {
        let mut ticks = interval(TICK);
        // What was missed is made up for: the rate is a promise.
        ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
        while store.churn(TICK.as_secs_f64()) {
            ticks.tick().await;
        }
    }
}
