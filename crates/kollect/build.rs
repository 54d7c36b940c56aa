//! Stamps the binary with the commit that it was built from.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=../../.git/HEAD");
    println!("cargo:rerun-if-changed=../../.git/logs/HEAD");
    println!("cargo:rerun-if-env-changed=KOLLECT_BUILD_COMMIT");
    println!("cargo:rerun-if-env-changed=KOLLECT_BUILD_TIME");
    let commit =
        given("KOLLECT_BUILD_COMMIT").or_else(|| git(&["rev-parse", "--short=12", "HEAD"]));
    // The time of the commit, not of the build: the same source gives the same binary.
    let time = given("KOLLECT_BUILD_TIME").or_else(|| git(&["log", "-1", "--format=%cI"]));
    let unknown = || "unknown".to_owned();
    println!("cargo:rustc-env=KOLLECT_COMMIT={}", commit.unwrap_or_else(unknown));
    println!("cargo:rustc-env=KOLLECT_BUILT={}", time.unwrap_or_else(unknown));
}

/// A stamp that the builder of a release passes in.
#[expect(clippy::disallowed_methods, reason = "a build script has no other door for settings")]
fn given(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
