//! What to try while it runs, as commands that work as they stand.

use std::path::Path;

use super::{
    place::Place,
    samples::{HOME, REAL, SIMULATED},
};
use crate::{args::demo::DemoArgs, quoted};

/// A command, and what it shows.
pub(super) type Hint = (String, &'static str);

/// For the cluster that is simulated.
pub(super) fn simulated(place: &Place) -> Vec<Hint> {
    let runs = "select namespace, name, image, replicas from deployments";
    let kubectl = format!("kubectl --kubeconfig {}", path(&place.kubeconfig()));
    let mut hints = copies(place, runs, SIMULATED);
    hints.push((format!("{kubectl} get deployments -A"), "the cluster itself"));
    hints.push((
        format!("{kubectl} set image deployment/web web=web:mine -n storefront"),
        "change something yourself",
    ));
    hints
}

/// For a real one.
pub(super) fn real(place: &Place, args: &DemoArgs) -> Vec<Hint> {
    let counts = "select target_name, count(*) from inventory_items group by 1";
    let file = args.kubeconfig.as_deref().map(|file| format!(" --kubeconfig {}", path(file)));
    let context = args.context.as_deref().map(|one| format!(" --context {}", quoted(one)));
    let flags = file.unwrap_or_default() + &context.unwrap_or_default();
    let mut hints = copies(place, counts, REAL);
    hints.push((format!("kubectl{flags} get kinv,ktgt -n {HOME}"), "what the operator says"));
    hints
}

fn copies(place: &Place, query: &str, cluster: &str) -> Vec<Hint> {
    vec![
        (
            format!("git -C {} log -p -- {cluster}", path(&place.repository())),
            "every change, as a commit",
        ),
        (format!("sqlite3 {} \"{query}\"", path(&place.database())), "rows, ready for SQL"),
    ]
}

fn path(path: &Path) -> String {
    quoted(&path.display().to_string())
}
