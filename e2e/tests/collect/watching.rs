//! Watches of a real server, event by event.

use std::{collections::BTreeMap, time::Duration};

use e2e::cluster;
use kollect_collect::{AtLeast, Event, Listener, Offers, Pace, Question, Watch};
use serde_json::Value;
use tokio::{
    sync::{oneshot, watch},
    time::timeout,
};

use super::support::{client, definition, resource};

/// What there is by what was heard: names, and a value of each.
#[derive(Default)]
struct Picture {
    lists: usize,
    bookmarks: usize,
    objects: BTreeMap<String, String>,
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
            Event::Bookmark(_) => picture.bookmarks += 1,
            Event::Uncovered(_) | Event::Recovered => {}
        });
    }
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
    let Some(cluster) = cluster() else { return };
    let namespace = cluster.namespace("watched");
    let name = "crates.watch.kollect.test";
    cluster.apply(&definition(name, "Crate", "Namespaced", &["v1"]));
    cluster.established(&[name]);
    let client = client(cluster.kubeconfig()).await;
    for kind in ["- v1 ConfigMap", "watch.kollect.test v1 Crate"] {
        let resource = resource(&client, kind).await;
        let put = |name: &str, value: &str| {
            let (kind, part) = match resource.group.as_str() {
                "" => ("apiVersion: v1, kind: ConfigMap".to_owned(), "data"),
                group => (format!("apiVersion: {group}/v1, kind: Crate"), "spec"),
            };
            let metadata = format!("{{name: {name}, namespace: {namespace}}}");
            cluster.apply(&format!("{{{kind}, metadata: {metadata}, {part}: {{value: {value}}}}}"));
        };
        let delete = |name: &str| {
            let full = resource.full_name();
            cluster.kubectl(["delete", &full, name, "-n", &namespace]).stdout();
        };
        put("first", "red");
        let question = Question {
            namespace: Some(&namespace),
            field_selector: "metadata.name!=kube-root-ca.crt",
            at_least: AtLeast::Cached,
            ..Question::all(&resource)
        };
        // Every stream lasts for two seconds, so that some end on the way.
        let two = Duration::from_secs(2);
        let pace = Pace { session: (two, two), ..Pace::default() };
        let (picture, mut seen) = watch::channel(Picture::default());
        let offers = Offers::default();
        let watch = Watch::new(client.clone(), question, offers.clone(), pace);
        paints(watch, picture, async {
            let there = |picture: &Picture, expected: &[(&str, &str)]| {
                let objects = picture.objects.iter();
                let objects: Vec<_> =
                    objects.map(|(name, value)| (name.as_str(), value.as_str())).collect();
                picture.lists > 0 && objects == expected
            };
            seen.wait_for(|picture| there(picture, &[("first", "red")])).await.unwrap();
            put("second", "red");
            put("first", "blue");
            let both = [("first", "blue"), ("second", "red")];
            seen.wait_for(|picture| there(picture, &both)).await.unwrap();
            // A server says where to go on before it ends a stream.
            seen.wait_for(|picture| picture.bookmarks > 1).await.unwrap();
            delete("first");
            put("third", "green");
            let rest = [("second", "red"), ("third", "green")];
            seen.wait_for(|picture| there(picture, &rest)).await.unwrap();
            let lists = seen.borrow().lists;
            assert_eq!(lists, 1, "a stream that ends is gone on with");
        })
        .await;
    }
}
