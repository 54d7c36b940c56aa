//! Watches of a real server, event by event.

use std::{collections::BTreeMap, time::Duration};

use e2e::servers;
use kollect_collect::{AtLeast, Event, Listener, Offers, Pace, Question, Resource, Watch};
use serde_json::Value;
use tokio::{
    sync::{oneshot, watch},
    time::{Instant, timeout},
};

use super::support::{client, definition, resource};

/// What there is by what was heard: names, and a value of each.
#[derive(Default)]
struct Picture {
    lists: usize,
    objects: BTreeMap<String, String>,
}

impl Picture {
    fn is(&self, expected: &[(&str, &str)]) -> bool {
        let objects = self.objects.iter();
        let objects: Vec<_> =
            objects.map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.lists > 0 && objects == expected
    }
}

struct Painter(watch::Sender<Picture>);

impl Listener for Painter {
    fn hear(&mut self, event: Event<'_>) {
        self.0.send_modify(|picture| match event {
            Event::ListBegins => picture.objects.clear(),
            Event::Item(bytes) | Event::Changed(bytes) => {
                let object: Value = serde_json::from_slice(bytes).unwrap_or_default();
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                let value = text(&object["data"]["value"]) + &text(&object["spec"]["value"]);
                picture.objects.insert(text(&object["metadata"]["name"]), value);
            }
            Event::Gone(bytes) => {
                let object: Value = serde_json::from_slice(bytes).unwrap_or_default();
                picture.objects.remove(object["metadata"]["name"].as_str().unwrap_or_default());
            }
            Event::ListEnds { .. } => picture.lists += 1,
            Event::Bookmark(_) | Event::Uncovered(_) | Event::Recovered => {}
        });
    }
}

/// A config map, or an object of a custom kind.
fn object(resource: &Resource, namespace: &str, name: &str, value: &str) -> String {
    let (version, part) = match resource.group.as_str() {
        "" => ("v1".to_owned(), "data"),
        group => (format!("{group}/v1"), "spec"),
    };
    format!(
        "{{apiVersion: {version}, kind: {}, {part}: {{value: {value}}}, \
          metadata: {{name: {name}, namespace: {namespace}}}}}",
        resource.kind
    )
}

/// Paints what a question asks for while something happens.
async fn paints(
    watch: Watch<'_>,
    picture: watch::Sender<Picture>,
    happens: impl Future<Output = ()>,
) {
    let (over, is_over) = oneshot::channel::<()>();
    let mut painter = Painter(picture);
    let run = watch.run(&mut painter, async { drop(is_over.await) });
    let happens = async {
        let happened = timeout(Duration::from_mins(1), happens).await;
        drop(over);
        assert!(happened.is_ok(), "the watch did not tell it in time");
    };
    tokio::join!(run, happens);
}

#[tokio::test]
async fn a_watch_tells_what_is_there_and_what_changes_and_survives_its_end() {
    for cluster in servers() {
        let namespace = cluster.namespace("watched");
        let name = "crates.watch.kollect.test";
        cluster.apply(&definition(name, "Crate", "Namespaced", &["v1"]));
        cluster.established(&[name]);
        let client = client(cluster.kubeconfig()).await;
        // Whether a server offers to list by the watch itself may depend on how new
        // the list is to be.
        for (kind, at_least) in
            [("- v1 ConfigMap", AtLeast::Cached), ("watch.kollect.test v1 Crate", AtLeast::Now)]
        {
            let resource = resource(&client, kind).await;
            let put = |name: &str, value: &str| {
                cluster.apply(&object(&resource, &namespace, name, value));
            };
            let delete = |name: &str| {
                let full = resource.full_name();
                cluster.kubectl(["delete", &full, name, "-n", &namespace]).stdout();
            };
            put("first", "red");
            let question = Question {
                namespace: Some(&namespace),
                field_selector: "metadata.name!=kube-root-ca.crt",
                at_least,
                ..Question::all(&resource)
            };
            // Every stream lasts for two seconds, so that several end on the way.
            let two = Duration::from_secs(2);
            let pace = Pace { session: (two, two), healthy_after: two / 2, ..Pace::default() };
            let (picture, mut seen) = watch::channel(Picture::default());
            let offers = Offers::default();
            let watch = Watch::new(client.clone(), question, offers.clone(), pace);
            paints(watch, picture, async {
                seen.wait_for(|picture| picture.is(&[("first", "red")])).await.unwrap();
                put("second", "red");
                put("first", "blue");
                let both = [("first", "blue"), ("second", "red")];
                seen.wait_for(|picture| picture.is(&both)).await.unwrap();
                let begun = Instant::now();
                for number in 0.. {
                    let value = format!("n{number}");
                    put("second", &value);
                    let changed = [("first", "blue"), ("second", value.as_str())];
                    seen.wait_for(|picture| picture.is(&changed)).await.unwrap();
                    if begun.elapsed() > 3 * two {
                        break;
                    }
                }
                put("second", "red");
                delete("first");
                put("third", "green");
                let rest = [("second", "red"), ("third", "green")];
                seen.wait_for(|picture| picture.is(&rest)).await.unwrap();
                let lists = seen.borrow().lists;
                assert_eq!(lists, 1, "a stream that ends is gone on with");
            })
            .await;
        }
    }
}
