//! `kollect init`: a starting configuration that works as it is.

#[cfg(test)]
mod support;

use std::fs;

use kollect_sandbox::{Denial, DenialScope};

use self::support::{at_a_terminal, cluster, init};
use super::support::run_in;

#[test]
fn what_is_written_passes_and_gives_rows() {
    let place = tempfile::tempdir().unwrap();
    let sandbox = cluster(place.path());
    let run = init(place.path(), &["deploy,widgets.widgets.example.org", "-n", "shop"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let files = "config/profile-deployments.yaml\nconfig/target-deployments.yaml\n\
                 config/profile-widgets.yaml\nconfig/target-widgets.yaml\n\
                 config/inventory.yaml\nconfig/sink-sqlite.yaml\n";
    assert_eq!(run.stdout, files);
    for next in ["kollect validate config ", "kubectl apply -f config ", "--kubeconfig kubeconfig"]
    {
        assert!(run.stderr.contains(next), "{}", run.stderr);
    }
    // Nothing but kinds and definitions was asked for.
    let paths: Vec<_> = sandbox.requests().into_iter().map(|request| request.path).collect();
    let definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/\
                      widgets.widgets.example.org";
    assert_eq!(paths, ["/api", "/apis", definition]);

    let judged = run_in(place.path(), &["validate", "--strict", "config"], "");
    assert_eq!(judged.code, Some(0), "{}", judged.stdout);
    assert_eq!(judged.stdout, "6 objects checked: 0 errors, 0 warnings\n");

    let collect = ["collect", "--config", "config", "--kubeconfig", "kubeconfig"];
    let table = run_in(place.path(), &[&collect[..], &["-o", "table"]].concat(), "");
    assert_eq!(table.code, Some(0), "{}", table.stderr);
    let expected = [["shop", "web", "2", "-", "web:1"].as_slice(), &["shop", "w1", "True", "7"]];
    for row in expected {
        let is_row = |line: &str| line.split_whitespace().eq(row.iter().copied());
        assert!(table.stdout.lines().any(is_row), "{row:?}: {}", table.stdout);
    }
    let copied = run_in(place.path(), &collect, "");
    assert_eq!(copied.code, Some(0), "{}", copied.stderr);
    assert!(copied.stderr.contains("(2 rows written, 0 deleted)"), "{}", copied.stderr);
    assert!(place.path().join("inventory.db").exists());
}

#[test]
fn an_attribute_says_where_it_comes_from() {
    let place = tempfile::tempdir().unwrap();
    let _sandbox = cluster(place.path());
    assert_eq!(init(place.path(), &["widgets.widgets.example.org"]).code, Some(0));
    let profile = fs::read_to_string(place.path().join("config/profile-widgets.yaml")).unwrap();
    let expected = "  attributes:
    # From the printer column \"Ready\".
    - name: ready
      path: 'cel:object.status.conditions.filter(c, c.type == \"Ready\")[0].status'
      type: string
      optional: true
    # From the printer column \"Size\": How large it is.
    - name: size
      path: $.spec.size
      type: int
";
    assert!(profile.ends_with(expected), "{profile}");
}

#[test]
fn whoever_may_not_read_definitions_gets_a_profile_all_the_same() {
    let place = tempfile::tempdir().unwrap();
    let sandbox = cluster(place.path());
    let definitions = ("apiextensions.k8s.io", "customresourcedefinitions");
    sandbox.deny(Denial::read(definitions.0, definitions.1, DenialScope::Everywhere));
    let run = init(place.path(), &["widgets.widgets.example.org"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(
        run.stderr.starts_with("note: not allowed to list the definition of"),
        "{}",
        run.stderr
    );
    let judged = run_in(place.path(), &["validate", "--strict", "config"], "");
    assert_eq!(judged.code, Some(0), "{}", judged.stdout);
}

#[test]
fn kinds_that_there_are_not_are_all_named_with_what_was_meant() {
    let place = tempfile::tempdir().unwrap();
    let _sandbox = cluster(place.path());
    let run = init(place.path(), &["deploymnts,pods,zebras"]);
    assert_eq!(run.code, Some(2));
    let expected = "kollect: there is no kind \"deploymnts\"; did you mean deployments.apps?; \
                    there is no kind \"zebras\"\n";
    assert_eq!(run.stderr, expected);
    assert!(!place.path().join("config").exists());
}

#[test]
fn a_word_for_two_kinds_is_the_first_of_them_and_that_is_said() {
    let place = tempfile::tempdir().unwrap();
    let _sandbox = cluster(place.path());
    let run = init(place.path(), &["widgets"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let expected = "note: widgets is taken for widgets.other.example.org; it could be \
                    widgets.widgets.example.org too\n";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
}

#[test]
fn nothing_is_replaced_unless_that_is_wanted() {
    let place = tempfile::tempdir().unwrap();
    let offline = |arguments: &[&str]| {
        let front = ["init", "pods,nodes", "--offline", "--output-dir", "config"];
        run_in(place.path(), &[&front, arguments].concat(), "")
    };
    assert_eq!(offline(&[]).code, Some(0));
    let target = place.path().join("config/target-pods.yaml");
    fs::write(&target, "mine").unwrap();
    let run = offline(&["--sink", "file"]);
    assert_eq!(run.code, Some(2));
    let expected = "kollect: config/profile-pods.yaml, config/target-pods.yaml, \
                    config/profile-nodes.yaml, config/target-nodes.yaml, config/inventory.yaml \
                    are there already; --force replaces\n";
    assert_eq!(run.stderr, expected);
    assert_eq!(fs::read_to_string(&target).unwrap(), "mine");
    let run = offline(&["--sink", "file", "--force"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("holds other manifests too: sink-sqlite.yaml"), "{}", run.stderr);
    assert_ne!(fs::read_to_string(&target).unwrap(), "mine");
}

#[test]
fn every_sink_can_be_begun_with_without_a_cluster() {
    let place = tempfile::tempdir().unwrap();
    let sinks =
        ["--sink", "sqlite,file,git,postgres", "--endpoint", "https://git.example.org/i.git"];
    let run = run_in(
        place.path(),
        &[&["init", "svc,ing,service", "--offline", "-n", "a,b,,a"], &sinks[..]].concat(),
        "",
    );
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let judged = run_in(place.path(), &["validate", "--strict", "collect-config"], "");
    assert_eq!(judged.stdout, "9 objects checked: 0 errors, 0 warnings\n");
}

#[test]
fn what_cannot_be_meant_is_refused_before_anything_is_asked() {
    let place = tempfile::tempdir().unwrap();
    for (arguments, expected) in [
        (&["init"][..], "no kind was named, and there is no terminal to ask at; name some, as in"),
        (&["init", "pods", "--sink", "git"], "--sink git needs the address of the repository"),
        (&["init", "pods", "--endpoint", "https://a"], "--endpoint is for --sink git"),
        (&["init", "widgets", "--offline"], "without a cluster there is no kind \"widgets\", only"),
        (&["init", "pods", "--offline", "-n", "A B"], "TGT-02"),
        (&["init", "pods", "--kubeconfig", "nowhere"], "could not read the kubeconfig nowhere"),
    ] {
        let run = run_in(place.path(), arguments, "");
        assert_eq!(run.code, Some(2), "{arguments:?}");
        assert!(run.stderr.contains(expected), "{arguments:?}: {}", run.stderr);
        assert!(!place.path().join("collect-config").exists());
    }
}

#[test]
fn at_a_terminal_it_asks() {
    let place = tempfile::tempdir().unwrap();
    let _sandbox = cluster(place.path());
    let typed = "/widget\nwidgts\ndeploy, widgets.widgets.example.org\nshop\n\n";
    let run = at_a_terminal(place.path(), &[], typed);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    for shown in [
        "Which do you want to collect?",
        "  widgets.widgets.example.org\r\n",
        "there is no kind \"widgts\"; did you mean widgets.other.example.org or ",
        "From which namespaces?",
        "Where shall copies be kept? One of sqlite, file, git, postgres; nothing means sqlite.",
    ] {
        assert!(run.stderr.contains(shown), "{shown}: {}", run.stderr);
    }
    assert!(run.stdout.ends_with("config/inventory.yaml\nconfig/sink-sqlite.yaml\n"));
    let target = fs::read_to_string(place.path().join("config/target-widgets.yaml")).unwrap();
    assert!(target.ends_with("  includedNamespaces:\n    - shop\n"), "{target}");
}

#[test]
fn what_flags_say_is_not_asked_and_no_answer_writes_nothing() {
    let place = tempfile::tempdir().unwrap();
    let _sandbox = cluster(place.path());
    // The character that ends the input of a terminal.
    let run = at_a_terminal(place.path(), &["-n", "shop", "--sink", "git"], "pods\n\u{4}");
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("At which address is the repository?"), "{}", run.stderr);
    assert!(!run.stderr.contains("From which namespaces?"), "{}", run.stderr);
    assert!(!run.stderr.contains("Where shall copies be kept?"), "{}", run.stderr);
    assert!(run.stderr.contains("the answer was cut off; nothing was written"), "{}", run.stderr);
    assert!(!place.path().join("config").exists());
}
