//! From a configuration to a client, over connections of our own.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use http::Uri;
use hyper_timeout::TimeoutConnector;
use hyper_util::{
    client::legacy::{self, connect::HttpConnector},
    rt::TokioExecutor,
};
use kube::{
    Client, Config,
    client::{Body, ConfigExt as _},
};
use tower::{BoxError, Service, ServiceBuilder};

use super::stream::Stream;

/// A client that retries nothing by itself. kube makes the same of the same
/// parts, but leaves no room for other connections.
pub(super) fn client(config: Config) -> kube::Result<Client> {
    // It alone knows the ways around.
    if config.proxy_url.is_some() {
        return Client::try_from(config);
    }
    let mut sockets = HttpConnector::new();
    sockets.enforce_http(false);
    let secure = config.rustls_https_connector_with_connector(Connector(sockets))?;
    let mut connector = TimeoutConnector::new(secure);
    connector.set_connect_timeout(config.connect_timeout);
    connector.set_read_timeout(config.read_timeout);
    connector.set_write_timeout(config.write_timeout);
    let http: legacy::Client<_, Body> = legacy::Builder::new(TokioExecutor::new()).build(connector);
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(config.auth_layer()?)
        .layer(config.extra_headers_layer()?)
        .map_err(BoxError::from)
        .service(http);
    Ok(Client::new(service, config.default_namespace))
}

/// Opens connections.
#[derive(Clone)]
struct Connector(HttpConnector);

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = <HttpConnector as Service<Uri>>::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Stream, Self::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, server: Uri) -> Self::Future {
        let opening = self.0.call(server);
        Box::pin(async move { opening.await.map(Stream::new) })
    }
}
