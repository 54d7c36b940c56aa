//! The company whose cluster is simulated: Quillmore, a maker of stationery
//! that nobody has ever bought anything from.
//!
//! A table says what it runs; everything else follows from that, so that every
//! run begins with the same objects.

pub(super) mod definitions;
pub(super) mod helm;
pub(super) mod objects;

use jiff::civil::Date;
use serde_json::Value;

/// The names of hosts end in this.
const DOMAIN: &str = "quillmore.example";

/// What runs in a namespace: name, version, copies, and the name of the host
/// that leads to it from outside.
type Row = (&'static str, &'static str, u32, &'static str);

const APPS: [(&str, [Row; 8]); 6] = [
    (
        "storefront",
        [
            ("web", "8.4.2", 4, "www"),
            ("catalogue", "5.11.0", 3, "api"),
            ("search", "3.2.7", 3, ""),
            ("recommendations", "1.9.4", 2, ""),
            ("reviews", "2.0.1", 2, ""),
            ("cart", "4.7.3", 3, ""),
            ("newsletter", "1.3.0", 1, "news"),
            ("sitemap", "0.9.12", 1, ""),
        ],
    ),
    (
        "checkout",
        [
            ("checkout-api", "6.1.5", 4, "checkout"),
            ("payments", "5.6.0", 3, "pay"),
            ("invoices", "2.8.2", 2, ""),
            ("vouchers", "1.4.4", 2, ""),
            ("fraud-check", "0.7.1", 2, ""),
            ("tax", "3.0.9", 2, ""),
            ("receipts", "1.1.6", 1, ""),
            ("currency-rates", "0.4.3", 1, ""),
        ],
    ),
    (
        "fulfilment",
        [
            ("orders", "7.0.2", 3, "orders"),
            ("picking", "2.5.8", 2, ""),
            ("packing", "2.5.8", 2, ""),
            ("labels", "1.6.0", 2, ""),
            ("returns", "3.3.1", 2, "returns"),
            ("carriers", "4.2.5", 2, ""),
            ("stock", "6.8.0", 3, ""),
            ("stock-feed", "1.0.7", 1, ""),
        ],
    ),
    (
        "media",
        [
            ("images", "3.9.1", 4, "img"),
            ("thumbnails", "3.9.1", 2, ""),
            ("uploads", "2.2.0", 2, "upload"),
            ("transcoder", "1.7.5", 2, ""),
            ("captions", "0.8.8", 1, ""),
            ("video", "2.6.3", 2, "video"),
            ("cdn-purge", "1.0.2", 1, ""),
            ("fonts", "1.2.9", 2, "fonts"),
        ],
    ),
    (
        "identity",
        [
            ("login", "9.2.0", 4, "login"),
            ("accounts", "6.4.1", 3, "account"),
            ("sessions", "5.0.3", 3, ""),
            ("mailer", "2.7.7", 2, ""),
            ("audit-trail", "1.5.2", 2, ""),
            ("consent", "1.8.0", 1, ""),
            ("profiles", "4.1.6", 2, "profile"),
            ("tokens", "3.6.4", 2, ""),
        ],
    ),
    (
        PLATFORM,
        [
            ("dashboard", "2.3.1", 2, "dash"),
            ("docs", "1.12.0", 1, "docs"),
            ("registry", "2.9.5", 2, "registry"),
            ("ci-runner", "4.4.0", 3, ""),
            ("scheduler", "1.6.8", 1, ""),
            ("status-page", "1.1.1", 2, "status"),
            ("backups", "3.1.4", 1, ""),
            ("metrics-gateway", "0.9.6", 2, "metrics"),
        ],
    ),
];

/// Where what delivers the others lives.
pub(super) const PLATFORM: &str = "platform";

/// The namespaces that Argo CD delivers to.
const BY_ARGO: [&str; 3] = ["storefront", "checkout", "fulfilment"];

/// What Flux applies: name and path.
const KUSTOMIZATIONS: [(&str, &str); 8] = [
    ("apps-media", "./apps/media"),
    ("apps-identity", "./apps/identity"),
    ("apps-platform", "./apps/platform"),
    ("cluster-policies", "./cluster/policies"),
    ("network-policies", "./cluster/network"),
    ("storage-classes", "./cluster/storage"),
    ("priority-classes", "./cluster/priorities"),
    ("alerts", "./observability/alerts"),
];

/// What Flux installs with Helm: name, chart and version.
const FLUX_RELEASES: [(&str, &str, &str); 8] = [
    ("edge-gateway", "gateway", "4.11.2"),
    ("certificate-issuer", "issuer", "1.17.0"),
    ("log-shipper", "shipper", "0.48.3"),
    ("dns-sync", "dns-sync", "1.15.1"),
    ("node-agent", "agent", "3.2.9"),
    ("secret-mirror", "mirror", "0.9.4"),
    ("image-cache", "cache-proxy", "2.6.0"),
    ("volume-snapshots", "snapshots", "5.0.7"),
];

/// What somebody installs with Helm alone: release, chart, version of the
/// chart, version of what is in it. There is one of each in every namespace.
const PLAIN_RELEASES: [(&str, &str, &str, &str); 2] = [
    ("cache", "key-value-cache", "18.6.1", "7.4.0"),
    ("queue", "message-queue", "12.3.4", "3.13.7"),
];

/// What runs, and how the table says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct App {
    pub(super) namespace: &'static str,
    pub(super) name: &'static str,
    pub(super) version: String,
    pub(super) replicas: u32,
    /// The host that leads to it from outside.
    pub(super) host: Option<String>,
}

/// A release that somebody made with Helm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Release {
    pub(super) namespace: &'static str,
    pub(super) name: &'static str,
    pub(super) chart: &'static str,
    pub(super) version: String,
    pub(super) app_version: &'static str,
    pub(super) revision: u32,
    pub(super) deployed: Date,
}

/// Everything that runs.
pub(super) fn apps() -> Vec<App> {
    let app = |namespace, (name, version, replicas, host): Row| App {
        namespace,
        name,
        version: version.to_owned(),
        replicas,
        host: (!host.is_empty()).then(|| format!("{host}.{DOMAIN}")),
    };
    let of = |(namespace, rows): (&'static str, [Row; 8])| rows.map(|row| app(namespace, row));
    APPS.into_iter().flat_map(of).collect()
}

/// Whether Argo CD delivers an app.
pub(super) fn is_by_argo(app: &App) -> bool {
    BY_ARGO.contains(&app.namespace)
}

/// What Flux installs: name, chart and version.
pub(super) fn flux_releases() -> Vec<(&'static str, &'static str, String)> {
    let release = |(name, chart, version): (_, _, &str)| (name, chart, version.to_owned());
    FLUX_RELEASES.into_iter().map(release).collect()
}

/// The names of what Flux applies.
pub(super) fn kustomizations() -> Vec<&'static str> {
    KUSTOMIZATIONS.into_iter().map(|(name, _)| name).collect()
}

/// What was installed with Helm alone, some days before `today`.
pub(super) fn releases(today: Date) -> Vec<Release> {
    let mut releases = Vec::new();
    for (at, (namespace, _)) in APPS.into_iter().enumerate() {
        for (name, chart, version, app_version) in PLAIN_RELEASES {
            releases.push(Release {
                namespace,
                name,
                chart,
                version: version.to_owned(),
                app_version,
                revision: 1,
                deployed: objects::days(today, -20 - 7 * i64::try_from(at).unwrap_or_default()),
            });
        }
    }
    releases
}

/// Every object of the company in the order in which they can be created, as
/// somebody sees them on the day `today`.
pub(super) fn objects(today: Date) -> Vec<Value> {
    let mut objects: Vec<_> = APPS.iter().map(|(name, _)| objects::namespace(name)).collect();
    let apps = apps();
    for (at, app) in apps.iter().enumerate() {
        objects.push(objects::deployment(app));
        objects.push(objects::service(app, at));
        if let Some(host) = &app.host {
            let expires = objects::days(today, 12 + 5 * i64::try_from(at).unwrap_or_default() % 78);
            objects.push(objects::ingress(app, host));
            objects.push(objects::certificate(app, host, expires));
        }
    }
    let by_argo = apps.iter().filter(|app| is_by_argo(app));
    objects.extend(by_argo.map(|app| objects::application(app, PLATFORM)));
    for (name, path) in KUSTOMIZATIONS {
        objects.push(objects::kustomization(name, path, PLATFORM));
    }
    for (name, chart, version) in flux_releases() {
        objects.push(objects::flux_release(name, (chart, &version), PLATFORM));
    }
    objects
        .extend(releases(today).iter().map(|release| helm::secret(release, helm::Stage::Deployed)));
    objects
}

/// The namespaces of the company.
pub(super) fn namespaces() -> Vec<&'static str> {
    APPS.iter().map(|(name, _)| *name).collect()
}

#[cfg(test)]
mod tests;
