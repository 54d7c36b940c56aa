//! Reads the output of `cargo tree --prefix depth --format {p}`.

use anyhow::{Context, Result};

/// The way from the root of a tree to a crate, by names; none if it is not there.
///
/// A subtree that cargo has printed before is left out by it. The first way to
/// a crate is always there, and it is the one returned.
pub(super) fn way_to<'a>(tree: &'a str, krate: &str) -> Result<Option<Vec<&'a str>>> {
    let mut way = Vec::new();
    for line in tree.lines().filter(|line| !line.is_empty()) {
        let (depth, name) = node(line).with_context(|| format!("no line of a tree: {line}"))?;
        way.truncate(depth);
        way.push(name);
        // The root may be what is forbidden to others.
        if name == krate && depth > 0 {
            return Ok(Some(way));
        }
    }
    Ok(None)
}

/// Depth and name in `12kube-client v5.0.0 (*)`.
fn node(line: &str) -> Option<(usize, &str)> {
    let (described, _) = line.split_once(' ')?;
    let name = described.trim_start_matches(|char: char| char.is_ascii_digit());
    let depth = described.strip_suffix(name)?.parse().ok()?;
    Some((depth, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = "\
0kollect v0.1.0 (/clone/crates/kollect)
1kollect-api v0.1.0 (/clone/crates/api)
2serde v1.0.229
3serde_derive v1.0.229 (proc-macro)
2serde_json v1.0.154
1serde v1.0.229 (*)
";

    #[track_caller]
    fn check(krate: &str, expected: Option<&[&str]>) {
        assert_eq!(way_to(TREE, krate).unwrap().as_deref(), expected);
    }

    #[test]
    fn the_way_goes_over_every_crate_in_between() {
        check("serde_derive", Some(&["kollect", "kollect-api", "serde", "serde_derive"]));
        check("serde_json", Some(&["kollect", "kollect-api", "serde_json"]));
    }

    #[test]
    fn there_is_no_way_to_a_crate_that_is_not_in_the_tree() {
        check("serde_yaml", None);
        check("kollect", None);
    }

    #[test]
    fn a_line_that_is_no_line_of_a_tree_is_an_error() {
        assert!(way_to("warning: something else", "serde").is_err());
    }
}
