//! Git over ssh.
//!
//! The connection is dialled by the guard. Who the server is has to stand in
//! `known_hosts`; who we are is one key. Each conversation is a command that
//! the server runs.

pub(super) mod known_hosts;

use std::{fmt, io, sync::Arc, time::Duration};

use bytes::Bytes;
use russh::{
    Channel, ChannelMsg, Disconnect, Preferred,
    client::{self, Config, Handle, Handler, Msg},
    keys::{PrivateKey, PrivateKeyWithHashAlg, PublicKeyOrCertificate, decode_secret_key},
};
use tokio::{runtime, time::timeout};

use self::known_hosts::KnownHosts;
use super::{
    error::Fault,
    network::{
        packet::words_of,
        wire::{Service, Wire},
    },
    patience::heard,
    settings::SshAddress,
};
use crate::{guard::Guard, progress::Progress};

/// A handshake that takes longer does not end.
const HANDSHAKE: Duration = Duration::from_secs(15);

/// How much goes out before somebody is told that it has.
const PIECE: usize = 32 * 1024;

/// So much of what a server says beside its answers is kept.
const WORDS: usize = 4096;

/// How a server is reached, and as whom.
pub(super) struct SshSettings {
    pub(super) address: SshAddress,
    pub(super) user: String,
    pub(super) key: Arc<PrivateKey>,
    /// Whom to believe; anybody if there is nothing.
    pub(super) known: Option<KnownHosts>,
    pub(super) guard: Guard,
}

/// A repository behind ssh.
pub(super) struct SshWire {
    settings: SshSettings,
    connection: Option<Handle<Judge>>,
    channel: Option<Channel<Msg>>,
    /// What the server says beside its answers, and whether it has answered.
    words: Vec<u8>,
    is_answered: bool,
    progress: Progress,
}

impl fmt::Debug for SshSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SshSettings").field("address", &self.address).finish_non_exhaustive()
    }
}

/// Reads a private key; why it cannot be used, if not.
pub(super) fn key(text: &str) -> Result<PrivateKey, String> {
    decode_secret_key(&format!("{text}\n"), None).map_err(|error| match error {
        russh::keys::Error::KeyIsEncrypted => {
            "it is encrypted; a key for a machine has no passphrase".to_owned()
        }
        other => format!("it is no private key: {other}"),
    })
}

impl SshWire {
    pub(super) fn new(settings: SshSettings) -> Self {
        Self {
            settings,
            connection: None,
            channel: None,
            words: Vec::new(),
            is_answered: false,
            progress: Progress::default(),
        }
    }

    /// A connection that we are logged in on.
    async fn connected(&mut self) -> Result<&mut Handle<Judge>, Fault> {
        if self.connection.as_ref().is_none_or(Handle::is_closed) {
            let fresh = timeout(HANDSHAKE, self.connect()).await;
            let late = |_| Fault::Io(io::ErrorKind::TimedOut.into());
            self.connection = Some(fresh.map_err(late).flatten()?);
        }
        self.connection.as_mut().ok_or_else(|| Fault::protocol("there is no connection"))
    }

    async fn connect(&self) -> Result<Handle<Judge>, Fault> {
        let SshSettings { address, user, key, known, guard } = &self.settings;
        let stream = guard.dial(&address.host, address.port).await?;
        let mut preferred = Preferred::default();
        let known = known.as_ref().map(|known| known.of(&address.host, address.port));
        if let Some(known) = known.as_ref().filter(|known| !known.is_empty()) {
            // A server has several keys, and shows the one that it is asked for.
            preferred.key = known_hosts::algorithms(known).into();
        }
        let config = Config { preferred, nodelay: true, ..Config::default() };
        let judge = Judge { known };
        let mut connection =
            client::connect_stream(Arc::new(config), stream, judge).await.map_err(of_ssh)?;
        let hash = if key.algorithm().is_rsa() {
            connection.best_supported_rsa_hash().await.map_err(of_ssh)?.flatten()
        } else {
            None
        };
        let key = PrivateKeyWithHashAlg::new(Arc::clone(key), hash);
        let login = connection.authenticate_publickey(user.clone(), key).await.map_err(of_ssh)?;
        if login.success() {
            return Ok(connection);
        }
        drop(connection.disconnect(Disconnect::ByApplication, "", "").await);
        Err(Fault::Refused(format!("the server does not let {user} in with this key")))
    }

    async fn start(&mut self, service: Service) -> Result<(), Fault> {
        let path = self.settings.address.path.replace('\'', r"'\''");
        let command = format!("{} '{path}'", service.name());
        let channel = if let Ok(channel) = self.connected().await?.channel_open_session().await {
            channel
        } else {
            // It was closed while nobody looked.
            self.connection = None;
            self.connected().await?.channel_open_session().await.map_err(of_ssh)?
        };
        // Servers that do not take it speak the first version.
        channel.set_env(false, "GIT_PROTOCOL", "version=2").await.map_err(of_ssh)?;
        channel.exec(false, command).await.map_err(of_ssh)?;
        self.channel = Some(channel);
        Ok(())
    }

    async fn send(&self, words: &[Bytes]) -> Result<(), Fault> {
        let Some(channel) = &self.channel else {
            return Err(Fault::protocol("nobody listens"));
        };
        for words in words {
            let mut rest = words.clone();
            while !rest.is_empty() {
                let piece = rest.split_to(rest.len().min(PIECE));
                let length = piece.len() as u64;
                heard(channel.data_bytes(piece), &self.progress).await?.map_err(of_ssh)?;
                self.progress.accepted(length);
            }
        }
        Ok(())
    }

    async fn next(&mut self) -> Result<Option<Bytes>, Fault> {
        loop {
            let Some(channel) = &mut self.channel else { return Ok(None) };
            match heard(channel.wait(), &self.progress).await? {
                Some(ChannelMsg::Data { data }) => {
                    self.is_answered = true;
                    self.progress.accepted(data.len() as u64);
                    return Ok(Some(data));
                }
                Some(ChannelMsg::ExtendedData { data, .. }) => {
                    let room = WORDS.saturating_sub(self.words.len());
                    self.words
                        .extend_from_slice(data.get(..room.min(data.len())).unwrap_or_default());
                }
                Some(ChannelMsg::Close | ChannelMsg::Failure) | None => {
                    self.channel = None;
                    // A command that says nothing but why.
                    return match words_of(&self.words) {
                        words if !self.is_answered && !words.is_empty() => {
                            Err(Fault::Refused(words))
                        }
                        _ => Ok(None),
                    };
                }
                Some(_) => {}
            }
        }
    }
}

impl Wire for SshWire {
    fn begin(&mut self, service: Service) -> Result<(), Fault> {
        self.end();
        self.words.clear();
        self.is_answered = false;
        let runtime = runtime::Handle::current();
        let progress = self.progress.clone();
        runtime.block_on(async { heard(self.start(service), &progress).await? })
    }

    fn is_stateless(&self) -> bool {
        false
    }

    fn say(&mut self, _service: Service, words: &[Bytes]) -> Result<(), Fault> {
        runtime::Handle::current().block_on(self.send(words))
    }

    fn chunk(&mut self) -> Result<Option<Bytes>, Fault> {
        runtime::Handle::current().block_on(self.next())
    }

    fn end(&mut self) {
        if let Some(channel) = self.channel.take() {
            // If it cannot be closed, it is.
            drop(runtime::Handle::current().block_on(channel.close()));
        }
    }

    fn attend(&mut self, progress: &Progress) {
        self.progress = progress.clone();
    }
}

/// Decides whether the server is who it says.
struct Judge {
    known: Option<Vec<russh::keys::PublicKey>>,
}

impl Handler for Judge {
    type Error = russh::Error;

    async fn check_server_key(
        &mut self,
        server: &PublicKeyOrCertificate,
    ) -> Result<bool, Self::Error> {
        Ok(match (&self.known, server) {
            (None, _) => true,
            (Some(known), PublicKeyOrCertificate::PublicKey { key, .. }) => {
                known.iter().any(|known| known.key_data() == key.key_data())
            }
            (Some(_), PublicKeyOrCertificate::Certificate(_)) => false,
        })
    }
}

fn of_ssh(error: russh::Error) -> Fault {
    match error {
        russh::Error::UnknownKey => {
            Fault::Refused("the key of the server is not in known_hosts".to_owned())
        }
        russh::Error::IO(error) => Fault::Io(error),
        other => Fault::protocol(other.to_string()),
    }
}
