//! What the servers are built from, and how.

use std::{fs, path::Path};

use anyhow::{Context, Result};

/// A server, as an executable that is built from a Go package.
pub(super) struct Server {
    pub(super) name: &'static str,
    pub(super) package: &'static str,
    stamp: Stamp,
}

/// Whether the linker writes the version into the executable.
enum Stamp {
    /// The sources know their version.
    None,
    /// Without it the server would call itself `v0.0.0-master`, and clients
    /// that look at the version would take it for an ancient one.
    Kubernetes,
}

/// Every server that tests need.
pub(super) const SERVERS: [Server; 3] = [
    Server { name: "etcd", package: "go.etcd.io/etcd/server/v3", stamp: Stamp::None },
    Server {
        name: "kube-apiserver",
        package: "k8s.io/kubernetes/cmd/kube-apiserver",
        stamp: Stamp::Kubernetes,
    },
    Server { name: "kubectl", package: "k8s.io/kubernetes/cmd/kubectl", stamp: Stamp::Kubernetes },
];

/// Everything that decides what the servers are.
pub(super) struct Recipe {
    module: String,
    checksums: String,
    /// The version of Kubernetes, such as `v1.36.3`.
    version: String,
    /// The oldest Go that builds it, such as `1.26.0`.
    pub(super) go: String,
}

impl Recipe {
    pub(super) fn read(root: &Path) -> Result<Self> {
        let read = |name: &str| {
            let path = root.join("testenv").join(name);
            fs::read_to_string(&path).with_context(|| format!("could not read {}", path.display()))
        };
        Self::new(read("go.mod")?, read("go.sum")?)
    }

    fn new(module: String, checksums: String) -> Result<Self> {
        let version = second_word(&module, "k8s.io/kubernetes")
            .context("testenv/go.mod does not require k8s.io/kubernetes")?;
        let go = second_word(&module, "go").context("testenv/go.mod does not say which Go")?;
        Ok(Self { version: version.to_owned(), go: go.to_owned(), module, checksums })
    }

    /// A name that changes with anything that decides what is built.
    pub(super) fn directory_name(&self) -> String {
        let mut parts = vec![self.module.clone(), self.checksums.clone()];
        for server in &SERVERS {
            parts.push(server.name.to_owned());
            parts.extend(self.arguments(server));
        }
        for (name, value) in platform() {
            parts.push(format!("{name}={value}"));
        }
        format!("{}-{:016x}", self.version, fingerprint(&parts))
    }

    /// The arguments of `go` that build a server; where to is added later.
    pub(super) fn arguments(&self, server: &Server) -> Vec<String> {
        let flags = match server.stamp {
            Stamp::None => "-s -w".to_owned(),
            Stamp::Kubernetes => {
                let version = &self.version;
                let mut numbers = version.trim_start_matches('v').split('.');
                let (major, minor) =
                    (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
                let at = "k8s.io/component-base/version";
                format!(
                    "-s -w -X {at}.gitVersion={version} \
                     -X {at}.gitMajor={major} -X {at}.gitMinor={minor}"
                )
            }
        };
        ["build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags", &flags]
            .map(str::to_owned)
            .into()
    }
}

/// The platform in the words of Go.
///
/// It is always the one we run on, even if somebody's environment asks for
/// another: the servers have to run here.
pub(super) fn platform() -> [(&'static str, &'static str); 2] {
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let processor = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "x86" => "386",
        "powerpc64" if cfg!(target_endian = "little") => "ppc64le",
        other => other,
    };
    [("GOOS", system), ("GOARCH", processor)]
}

/// The second word of the first line whose first one is given, be it in a
/// `require` block or behind a `require` of its own.
fn second_word<'a>(module: &'a str, first: &str) -> Option<&'a str> {
    module.lines().find_map(|line| {
        let mut words = line.trim().trim_start_matches("require ").split_whitespace();
        (words.next() == Some(first)).then(|| words.next()).flatten()
    })
}

/// FNV-1a over the parts. It only has to tell versions apart, and to be the
/// same for every compiler and run, which the standard library does not promise.
fn fingerprint(parts: &[String]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for part in parts {
        // The byte between parts occurs in none of them.
        for byte in part.bytes().chain([0xff]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "\
module kollect.dev/testenv

go 1.26.0

tool (
\tk8s.io/kubernetes/cmd/kube-apiserver
)

require (
\tk8s.io/kubectl v0.36.3 // indirect
\tk8s.io/kubernetes v1.36.3 // indirect
)
";

    fn recipe(module: &str, checksums: &str) -> Recipe {
        Recipe::new(module.to_owned(), checksums.to_owned()).unwrap()
    }

    #[test]
    fn the_versions_come_from_the_module_file() {
        let recipe = recipe(MODULE, "");
        assert_eq!((&*recipe.version, &*recipe.go), ("v1.36.3", "1.26.0"));
    }

    #[test]
    fn a_requirement_on_a_line_of_its_own_is_found_too() {
        let recipe = recipe("go 1.26\nrequire k8s.io/kubernetes v1.40.0\n", "");
        assert_eq!(recipe.version, "v1.40.0");
    }

    #[test]
    fn a_module_file_without_kubernetes_is_an_error() {
        assert!(Recipe::new("go 1.26.0\n".to_owned(), String::new()).is_err());
    }

    #[test]
    fn kubernetes_is_told_its_version_and_etcd_is_not() {
        let recipe = recipe(MODULE, "");
        let [etcd, apiserver, _] = SERVERS.map(|server| recipe.arguments(&server).pop().unwrap());
        assert_eq!(etcd, "-s -w");
        assert_eq!(
            apiserver,
            "-s -w -X k8s.io/component-base/version.gitVersion=v1.36.3 \
             -X k8s.io/component-base/version.gitMajor=1 \
             -X k8s.io/component-base/version.gitMinor=36"
        );
    }

    #[test]
    fn another_version_or_checksum_is_another_directory() {
        let name = recipe(MODULE, "one").directory_name();
        assert!(name.starts_with("v1.36.3-"), "{name}");
        assert_eq!(name, recipe(MODULE, "one").directory_name());
        assert_ne!(name, recipe(MODULE, "two").directory_name());
        assert_ne!(name, recipe(&MODULE.replace("0.36.3", "0.36.4"), "one").directory_name());
    }

    #[test]
    fn the_fingerprint_tells_where_a_part_ends() {
        let parts = |parts: [&str; 2]| fingerprint(&parts.map(str::to_owned));
        assert_ne!(parts(["ab", "c"]), parts(["a", "bc"]));
        assert_eq!(fingerprint(&[]), 0xcbf2_9ce4_8422_2325);
    }
}
