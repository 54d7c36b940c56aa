//! One connection: dialled by the guard, counted, and set up.

use std::{
    collections::HashMap,
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    task::JoinSet,
    time::timeout,
};
use tokio_postgres::{
    Client, Config, NoTls, SimpleQueryMessage, Statement,
    config::{ChannelBinding, SslMode, SslNegotiation},
    tls::MakeTlsConnect,
};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{
    dsn::{Binding, Dsn},
    error::Fault,
    layout::Layout,
    settings::PostgresSettings,
    statements::{Text, Texts},
    tls::{Need, TlsPolicy},
};
use crate::{guard::Guard, sink::SinkError};

/// How long a connection may take from the name of its host to its first answer.
const CONNECT: Duration = Duration::from_secs(30);

/// An open connection that knows the table.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) client: Client,
    table: Option<(Layout, Texts)>,
    prepared: HashMap<Text, Statement>,
    /// Whether the tables are there in which rows are staged.
    pub(super) has_stages: bool,
    sent: Arc<AtomicU64>,
    /// Statements so far; what `sent` is for bytes.
    pub(super) statements: u64,
    /// Moves the bytes; it ends with the session.
    _driver: JoinSet<()>,
}

impl Session {
    pub(super) async fn open(settings: &PostgresSettings, guard: &Guard) -> Result<Self, Fault> {
        let limit = settings.dsn.connect_timeout.unwrap_or(CONNECT);
        let link = timeout(limit, Link::open(settings, guard)).await.map_err(|_| Fault::Late)??;
        let Link { client, driver, sent } = link;
        Ok(Self {
            client,
            table: None,
            prepared: HashMap::new(),
            has_stages: false,
            sent,
            statements: 0,
            _driver: driver,
        })
    }

    /// Makes or checks the tables, once.
    pub(super) async fn find_layout(&mut self, settings: &PostgresSettings) -> Result<(), Fault> {
        if self.table.is_none() {
            let layout = Layout::find(&self.client, settings).await?;
            self.set_layout(layout, settings);
        }
        Ok(())
    }

    pub(super) fn set_layout(&mut self, layout: Layout, settings: &PostgresSettings) {
        let texts = Texts::new(&settings.table, layout.key);
        self.prepared.clear();
        self.table = Some((layout, texts));
    }

    /// What the tables are like, which must have been found.
    pub(super) fn layout(&self) -> Result<&Layout, Fault> {
        Ok(&self.table()?.0)
    }

    fn table(&self) -> Result<&(Layout, Texts), Fault> {
        let unknown = || SinkError::Panicked("the table was not looked at".to_owned());
        self.table.as_ref().ok_or_else(|| unknown().into())
    }

    /// Bytes that have left for the server.
    pub(super) fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// The statement; the first time, the server is asked to understand it.
    pub(super) async fn prepare(&mut self, text: Text) -> Result<Statement, Fault> {
        if let Some(statement) = self.prepared.get(&text) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(&self.table()?.1.get(text)).await?;
        self.prepared.insert(text, statement.clone());
        Ok(statement)
    }

    /// The text of a statement that is too rare to be prepared.
    pub(super) fn text(&self, text: Text) -> Result<String, Fault> {
        Ok(self.table()?.1.get(text))
    }

    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }
}

/// A connection that knows nothing yet.
struct Link {
    client: Client,
    driver: JoinSet<()>,
    sent: Arc<AtomicU64>,
}

impl Link {
    /// Tries every host in turn; the first that takes writes is taken.
    async fn open(settings: &PostgresSettings, guard: &Guard) -> Result<Self, Fault> {
        let mut first = None;
        for (host, port) in &settings.dsn.hosts {
            match Self::open_at(settings, guard, (host, *port)).await {
                Ok(link) => return Ok(link),
                Err(fault) => first = first.or(Some(fault)),
            }
        }
        Err(first.unwrap_or(Fault::Late))
    }

    async fn open_at(
        settings: &PostgresSettings,
        guard: &Guard,
        (host, port): (&str, u16),
    ) -> Result<Self, Fault> {
        let sent = Arc::new(AtomicU64::new(0));
        let stream = guard.dial(host, port).await.map_err(Fault::Dial)?;
        let stream = Counted { stream, sent: Arc::clone(&sent) };
        let config = config(&settings.dsn, &settings.tls);
        let mut driver = JoinSet::new();
        let client = if settings.tls.need == Need::None {
            let (client, connection) = config.connect_raw(stream, NoTls).await?;
            driver.spawn(async { drop(connection.await) });
            client
        } else {
            let unusable = |error: super::tls::TlsError| SinkError::Unusable(error.to_string());
            let mut tls = MakeRustlsConnect::new(settings.tls.client().map_err(unusable)?);
            let Ok(tls) = MakeTlsConnect::<Counted>::make_tls_connect(&mut tls, host);
            let (client, connection) = config.connect_raw(stream, tls).await?;
            driver.spawn(async { drop(connection.await) });
            client
        };
        set_up(&client, settings.statement_timeout).await?;
        Ok(Self { client, driver, sent })
    }
}

fn config(dsn: &Dsn, tls: &TlsPolicy) -> Config {
    let mut config = Config::new();
    config
        .user(&dsn.user)
        .dbname(&dsn.database)
        .application_name(dsn.application.as_deref().unwrap_or("kollect"))
        .ssl_mode(match tls.need {
            Need::None => SslMode::Disable,
            Need::IfOffered => SslMode::Prefer,
            Need::Always => SslMode::Require,
        })
        .channel_binding(match dsn.binding {
            Binding::Disable => ChannelBinding::Disable,
            Binding::Prefer => ChannelBinding::Prefer,
            Binding::Require => ChannelBinding::Require,
        });
    if dsn.is_direct {
        config.ssl_negotiation(SslNegotiation::Direct);
    }
    if let Some(password) = &dsn.password {
        config.password(password);
    }
    if let Some(options) = &dsn.options {
        config.options(options);
    }
    config
}

/// Limits what a statement may take, and what a process that is gone may hold.
///
/// An acknowledgement has to survive a crash of the server, so a session that
/// is set up otherwise is corrected. Small statements are not worth compiling.
/// Rows are looked up by their key, however few there were when the server
/// first thought about it: a plan for a small table is kept when it has grown,
/// and to walk through a table that one is filling takes the square of its size.
async fn set_up(client: &Client, limit: Duration) -> Result<(), Fault> {
    let text = format!(
        "SET statement_timeout = {};
        SET idle_in_transaction_session_timeout = '5min';
        SET tcp_keepalives_idle = 60;
        SET tcp_keepalives_interval = 10;
        SET tcp_keepalives_count = 3;
        SET standard_conforming_strings = on;
        SET default_transaction_isolation = 'read committed';
        SET jit = off;
        SET enable_seqscan = off;
        SELECT set_config('synchronous_commit', 'on', false)
            WHERE current_setting('synchronous_commit') = 'off';
        SHOW transaction_read_only",
        limit.as_millis()
    );
    let answers = client.simple_query(&text).await?;
    let last = answers.iter().rev().find_map(|answer| match answer {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    });
    if last == Some("on") { Err(Fault::ReadOnly) } else { Ok(()) }
}

/// A stream that counts what is sent.
#[derive(Debug)]
struct Counted {
    stream: TcpStream,
    sent: Arc<AtomicU64>,
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Counted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(cx, bytes);
        if let Poll::Ready(Ok(count)) = &outcome {
            self.sent.fetch_add(*count as u64, Ordering::Relaxed);
        }
        outcome
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
