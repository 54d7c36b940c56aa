//! Version, completion and other small commands.

use super::support::kollect;

#[test]
fn the_version_says_what_it_was_built_from() {
    let run = kollect(&["version"]);
    let expected = format!("kollect {} (commit ", env!("CARGO_PKG_VERSION"));
    assert!(run.stdout.starts_with(&expected), "{}", run.stdout);
    assert_eq!(kollect(&["--version"]).stdout, run.stdout);
}

#[test]
fn every_shell_has_a_completion_script() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let run = kollect(&["completion", shell]);
        assert_eq!(run.code, Some(0));
        assert!(run.stdout.contains("validate"), "{shell}");
    }
}

#[test]
fn every_rule_is_listed() {
    let run = kollect(&["rules"]);
    assert!(run.stdout.starts_with("OBJ-01 "), "{}", run.stdout);
    assert!(run.stdout.lines().count() > 100);
}

#[test]
fn every_kind_is_listed_and_can_be_explained_by_any_of_its_names() {
    let run = kollect(&["kinds"]);
    assert_eq!(run.stdout.lines().count(), 11, "{}", run.stdout);
    for line in run.stdout.lines() {
        let mut words = line.split_whitespace();
        let (kind, short) = (words.next().unwrap(), words.next().unwrap());
        let page = kollect(&["kinds", short]).stdout;
        assert!(page.starts_with(&format!("# {kind}\n")), "{page}");
        assert_eq!(kollect(&["kinds", kind]).stdout, page);
    }
    let run = kollect(&["kinds", "kollect"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("there is no kind kollect"), "{}", run.stderr);
}

#[test]
fn an_unknown_command_is_refused_with_a_hint() {
    let run = kollect(&["validat", "x"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("validate"), "{}", run.stderr);
}
