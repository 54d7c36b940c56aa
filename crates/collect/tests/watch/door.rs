//! An address behind which one server can be put in the place of another.

use std::{net::SocketAddr, sync::Arc};

use kollect_sandbox::Sandbox;
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
};

pub(super) struct Door {
    address: SocketAddr,
    behind: Arc<watch::Sender<String>>,
    _tasks: JoinSet<()>,
}

impl Door {
    pub(super) async fn to(sandbox: &Sandbox) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let behind = Arc::new(watch::Sender::new(sandbox.url()));
        let mut tasks = JoinSet::new();
        tasks.spawn(open(listener, Arc::clone(&behind)));
        Self { address, behind, _tasks: tasks }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Puts another server behind the door, and cuts whoever is on the way.
    pub(super) fn leads_to(&self, sandbox: &Sandbox) {
        self.behind.send_replace(sandbox.url());
    }
}

#[expect(clippy::disallowed_methods, reason = "sandboxes listen on loopback only")]
async fn open(listener: TcpListener, behind: Arc<watch::Sender<String>>) {
    let mut visits = JoinSet::new();
    while let Ok((mut visitor, _)) = listener.accept().await {
        let mut changed = behind.subscribe();
        let url = changed.borrow_and_update().clone();
        visits.spawn(async move {
            let host = url.trim_start_matches("http://");
            let Ok(mut server) = TcpStream::connect(host).await else { return };
            tokio::select! {
                _ = copy_bidirectional(&mut visitor, &mut server) => {}
                _ = changed.changed() => {}
            }
        });
    }
}
