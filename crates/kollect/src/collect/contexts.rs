//! Which clusters of a kubeconfig are meant.

use anyhow::bail;
use kollect_collect::Contexts;

/// Chooses contexts by name and by glob; each once, in order. What matches
/// nothing is said.
pub(super) fn chosen(
    known: &Contexts,
    wanted: &[String],
) -> anyhow::Result<(Vec<String>, Vec<String>)> {
    let mut remarks = Vec::new();
    let mut names = Vec::new();
    for one in wanted.iter().map(|one| one.trim()).filter(|one| !one.is_empty()) {
        if one.contains(['*', '?']) {
            let matching = known.names.iter().filter(|name| matches(one, name));
            let before = names.len();
            names.extend(matching.cloned());
            if names.len() == before {
                remarks.push(format!("no context matches {one}"));
            }
        } else if known.names.iter().any(|name| name == one) {
            names.push(one.to_owned());
        } else {
            let all = known.names.join(", ");
            bail!("--context: there is no context {one:?}; the kubeconfig has {all}");
        }
    }
    if wanted.is_empty() {
        match &known.current {
            Some(current) => names.push(current.clone()),
            None => bail!("the kubeconfig names no current context; choose one with --context"),
        }
    }
    names.sort();
    names.dedup();
    if names.is_empty() {
        bail!("--context: no context was chosen");
    }
    Ok((names, remarks))
}

/// Whether a glob of `*` and `?` matches a whole name.
fn matches(glob: &str, name: &str) -> bool {
    let (glob, name): (Vec<_>, Vec<_>) = (glob.chars().collect(), name.chars().collect());
    // Which beginnings of the name the glob so far can be.
    let mut reached = vec![false; name.len() + 1];
    if let Some(first) = reached.first_mut() {
        *first = true;
    }
    for piece in glob {
        let mut next = vec![false; name.len() + 1];
        for (at, _) in reached.iter().enumerate().filter(|(_, reached)| **reached) {
            match piece {
                '*' => next.iter_mut().skip(at).for_each(|one| *one = true),
                _ if name.get(at).is_some_and(|found| piece == '?' || piece == *found) => {
                    if let Some(one) = next.get_mut(at + 1) {
                        *one = true;
                    }
                }
                _ => {}
            }
        }
        reached = next;
    }
    reached.last() == Some(&true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Contexts {
        let names = ["eu-1", "eu-2", "us-1", "lab"].map(str::to_owned).to_vec();
        Contexts { names, current: Some("lab".to_owned()) }
    }

    #[track_caller]
    fn check(wanted: &[&str], expected: &[&str]) {
        let wanted: Vec<_> = wanted.iter().map(|one| (*one).to_owned()).collect();
        assert_eq!(chosen(&known(), &wanted).unwrap().0, expected);
    }

    #[test]
    fn names_and_globs_choose_each_context_once() {
        check(&[], &["lab"]);
        check(&["us-1", "eu-*", "eu-1"], &["eu-1", "eu-2", "us-1"]);
        check(&["?u-1"], &["eu-1"]);
        check(&["*"], &["eu-1", "eu-2", "lab", "us-1"]);
        check(&["*-?"], &["eu-1", "eu-2", "us-1"]);
    }

    #[test]
    fn a_name_that_is_not_there_is_an_error_and_a_glob_a_remark() {
        let error = chosen(&known(), &["mars".to_owned()]).unwrap_err().to_string();
        assert_eq!(
            error,
            "--context: there is no context \"mars\"; the kubeconfig has eu-1, eu-2, us-1, lab"
        );
        let (names, remarks) = chosen(&known(), &["lab".to_owned(), "mars-*".to_owned()]).unwrap();
        assert_eq!(
            (names, remarks),
            (vec!["lab".to_owned()], vec!["no context matches mars-*".to_owned()])
        );
        assert!(chosen(&known(), &["mars-*".to_owned()]).is_err());
    }
}
