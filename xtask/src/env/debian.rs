//! Makes sure of the servers that tests take from Debian.
//!
//! They are looked for where Debian's packages put them. What is missing is
//! installed if we may, and named if we may not: a test never goes without.

use std::{
    fs,
    io::ErrorKind,
    os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};

use crate::{run, say};

/// What tests need of one package.
#[derive(Debug, PartialEq, Eq)]
struct Package {
    purpose: &'static str,
    name: &'static str,
    /// Programs that must be there; `*` stands for any one directory.
    programs: &'static [&'static str],
}

const PACKAGES: [Package; 3] = [
    Package {
        purpose: "the Postgres sink",
        name: "postgresql",
        programs: &["/usr/lib/postgresql/*/bin/initdb", "/usr/lib/postgresql/*/bin/postgres"],
    },
    Package {
        purpose: "the Git sink over ssh",
        name: "openssh-server",
        programs: &["/usr/sbin/sshd"],
    },
    Package {
        purpose: "the Git sink over https, and clones of what it wrote",
        name: "git",
        programs: &["/usr/bin/git", "/usr/lib/git-core/git-http-backend"],
    },
];

/// Asked by the scripts of packages whether a service may be started.
const POLICY: &str = "/usr/sbin/policy-rc.d";

/// Installs what is missing, or says what somebody else has to install.
pub(super) fn ensure(root: &Path) -> Result<()> {
    let missing = missing(Path::new("/"));
    if missing.is_empty() {
        return Ok(());
    }
    let apt = run::succeeds(run::program(root, "apt-get").arg("--version"));
    may_install(&missing, is_root()?, apt)?;
    for Package { purpose, name, .. } in &missing {
        say::progress(&format!("installing the Debian package {name}, for {purpose}"));
    }
    install(root, &missing)?;
    check_installed(Path::new("/"))
}

/// The packages of which a program is not to be found.
fn missing(root: &Path) -> Vec<&'static Package> {
    let lacks = |package: &&Package| !package.programs.iter().all(|path| is_there(root, path));
    PACKAGES.iter().filter(lacks).collect()
}

/// Whether there is a program that can be run at a path below a directory.
fn is_there(root: &Path, pattern: &str) -> bool {
    let mut found = vec![root.to_owned()];
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        found = found.into_iter().flat_map(|directory| step(&directory, part)).collect();
    }
    found.iter().any(|path| {
        fs::metadata(path)
            .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    })
}

fn step(directory: &Path, part: &str) -> Vec<PathBuf> {
    if part != "*" {
        return vec![directory.join(part)];
    }
    let entries = fs::read_dir(directory).into_iter().flatten();
    entries.flatten().map(|entry| entry.path()).collect()
}

fn may_install(missing: &[&Package], is_root: bool, has_apt: bool) -> Result<()> {
    let wanted: Vec<_> = missing
        .iter()
        .map(|package| format!("{} (for {})", package.name, package.purpose))
        .collect();
    let names: Vec<_> = missing.iter().map(|package| package.name).collect();
    if !has_apt {
        bail!(
            "tests need what these Debian packages hold, and there is no apt-get to install them: \
             {}",
            wanted.join(", ")
        );
    }
    if !is_root {
        bail!(
            "tests need Debian packages that only root can install: {}; \
             run `apt-get install --no-install-recommends {}` as root and try again",
            wanted.join(", "),
            names.join(" ")
        );
    }
    Ok(())
}

fn is_root() -> Result<bool> {
    Ok(fs::metadata("/proc/self").context("could not see as whom we run")?.uid() == 0)
}

fn install(root: &Path, missing: &[&Package]) -> Result<()> {
    // Held until the end of this function.
    let _no_services = NoServices::begin()?;
    let apt = || {
        let mut command = run::program(root, "apt-get");
        command.args(["--quiet=2", "--option=DPkg::Lock::Timeout=300"]);
        command.env("DEBIAN_FRONTEND", "noninteractive");
        // The packages are what the caller waits for, their output is not.
        command.stdout(std::process::Stdio::null());
        command
    };
    let mut command = apt();
    command.args(["install", "--yes", "--no-install-recommends"]);
    command.args(missing.iter().map(|package| package.name));
    // An old list of packages names files that the mirror no longer has.
    run::check(apt().arg("update"))?;
    run::check(&mut command)
}

fn check_installed(root: &Path) -> Result<()> {
    let missing: Vec<_> = missing(root).iter().map(|package| package.name).collect();
    if !missing.is_empty() {
        bail!(
            "these Debian packages are installed but lack the programs that tests need: {}",
            missing.join(", ")
        );
    }
    Ok(())
}

/// Keeps the scripts of packages from starting services: tests start their own.
struct NoServices {
    ours: bool,
}

impl NoServices {
    fn begin() -> Result<Self> {
        let file = fs::OpenOptions::new().write(true).create_new(true).mode(0o755).open(POLICY);
        match file {
            Ok(mut file) => {
                let forbidden = "#!/bin/sh\nexit 101\n";
                let guard = Self { ours: true };
                std::io::Write::write_all(&mut file, forbidden.as_bytes())
                    .with_context(|| format!("could not write {POLICY}"))?;
                Ok(guard)
            }
            // Whoever has put one there has decided.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(Self { ours: false }),
            Err(error) => Err(error).with_context(|| format!("could not create {POLICY}")),
        }
    }
}

impl Drop for NoServices {
    fn drop(&mut self) {
        if self.ours
            && let Err(error) = fs::remove_file(POLICY)
        {
            say::progress(&format!("could not remove {POLICY}: {error}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    fn put(root: &Path, path: &str, mode: u32) {
        let path = root.join(path.trim_start_matches('/'));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn names(root: &Path) -> Vec<&'static str> {
        missing(root).iter().map(|package| package.name).collect()
    }

    #[test]
    fn an_empty_system_lacks_every_package() {
        let scratch = Scratch::new().unwrap();
        assert_eq!(names(scratch.path()), ["postgresql", "openssh-server", "git"]);
    }

    #[test]
    fn any_version_of_a_server_will_do() {
        let scratch = Scratch::new().unwrap();
        for program in ["initdb", "postgres"] {
            put(scratch.path(), &format!("/usr/lib/postgresql/17/bin/{program}"), 0o755);
        }
        assert_eq!(names(scratch.path()), ["openssh-server", "git"]);
    }

    #[test]
    fn a_package_that_lacks_one_program_is_missing() {
        let scratch = Scratch::new().unwrap();
        put(scratch.path(), "/usr/bin/git", 0o755);
        put(scratch.path(), "/usr/lib/git-core/git-http-backend", 0o644);
        put(scratch.path(), "/usr/sbin/sshd", 0o755);
        assert_eq!(names(scratch.path()), ["postgresql", "git"]);
        let error = check_installed(scratch.path()).unwrap_err().to_string();
        assert!(error.ends_with("the programs that tests need: postgresql, git"), "{error}");
    }

    #[track_caller]
    fn check(is_root: bool, has_apt: bool, expected: Option<&str>) {
        let [_, sshd, git] = &PACKAGES;
        let error =
            may_install(&[sshd, git], is_root, has_apt).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), expected);
    }

    #[test]
    fn root_may_install_where_apt_is() {
        check(true, true, None);
    }

    #[test]
    fn others_are_told_what_root_has_to_install() {
        check(
            false,
            true,
            Some(
                "tests need Debian packages that only root can install: \
                 openssh-server (for the Git sink over ssh), \
                 git (for the Git sink over https, and clones of what it wrote); \
                 run `apt-get install --no-install-recommends openssh-server git` as root \
                 and try again",
            ),
        );
    }

    #[test]
    fn without_apt_everybody_is_told_what_is_missing() {
        for is_root in [false, true] {
            check(
                is_root,
                false,
                Some(
                    "tests need what these Debian packages hold, and there is no apt-get \
                     to install them: openssh-server (for the Git sink over ssh), \
                     git (for the Git sink over https, and clones of what it wrote)",
                ),
            );
        }
    }
}
