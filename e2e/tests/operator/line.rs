//! A line to an API server that can be cut.

use std::{
    fs, io,
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    thread,
};

/// Passes on everything, until it is cut; new connections are then made as
/// before. Its threads end with the test.
pub(super) struct Line {
    own: SocketAddr,
    server: SocketAddr,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Line {
    #[expect(clippy::disallowed_methods, reason = "it is the line itself, and not a sink's")]
    pub(super) fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let own = listener.local_addr().unwrap();
        let open = Arc::new(Mutex::new(Vec::new()));
        let known = Arc::clone(&open);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(server) else { continue };
                known.lock().unwrap().push(client.try_clone().unwrap());
                pass(client.try_clone().unwrap(), server.try_clone().unwrap());
                pass(server, client);
            }
        });
        Self { own, server, open }
    }

    /// The same kubeconfig, but for whom it calls.
    pub(super) fn config(&self, config: &Path) -> PathBuf {
        let text = fs::read_to_string(config).unwrap();
        let called = text.replace(&self.server.to_string(), &self.own.to_string());
        assert_ne!(called, text);
        let path = config.with_extension("line");
        fs::write(&path, called).unwrap();
        path
    }

    /// Ends every connection.
    pub(super) fn cut(&self) {
        let open = std::mem::take(&mut *self.open.lock().unwrap());
        assert!(!open.is_empty(), "nobody was connected");
        for stream in open {
            // One that has ended by itself is cut already.
            drop(stream.shutdown(Shutdown::Both));
        }
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream) {
    thread::spawn(move || {
        // However it ends, both directions do.
        drop(io::copy(&mut from, &mut to));
        drop(from.shutdown(Shutdown::Both));
        drop(to.shutdown(Shutdown::Both));
    });
}
