//! Names that files and folders must not have.

use super::Finding;

/// Findings about one path.
pub(super) fn check(path: &str) -> Vec<Finding> {
    let mut folders: Vec<&str> = path.split('/').collect();
    let file = folders.pop().unwrap_or_default();
    let mut findings = Vec::new();
    if file == "mod.rs" {
        findings.push(Finding::new(
            path,
            1,
            "a module `x` stands in `x.rs` beside its folder, not in `x/mod.rs`",
        ));
    }
    if folders.contains(&"target") {
        findings.push(Finding::new(
            path,
            1,
            "a folder called `target` is skipped by many tools; call it `targets`",
        ));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_file_of_the_old_kind_is_found() {
        assert_eq!(check("crates/api/src/sink/mod.rs").len(), 1);
    }

    #[test]
    fn a_folder_called_target_is_found_and_a_file_is_not() {
        assert_eq!(check("crates/validate/src/target/rules.rs").len(), 1);
        assert!(check("crates/api/src/target.rs").is_empty());
        assert!(check("crates/operator/src/targets/plan.rs").is_empty());
    }
}
