//! The machine of a reader: a directory, a shell, and our programs on its path.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::Duration,
};

use kollect_testenv::Assets;
use rusqlite::{Connection, types::ValueRef};
use tempfile::TempDir;

use super::page::{Step, is_printed, steps};

/// So often somebody looks who waits, which is longer than anything takes.
const LOOKS: usize = 2400;
const BETWEEN: Duration = Duration::from_millis(50);

/// Commands that are not run, and why.
const EXEMPT: [(&str, &str); 1] = [("cargo xtask test", "it is what runs this test")];

/// Programs that a page may ask a reader to have.
const PROGRAMS: [&str; 6] = ["cargo", "kollect", "kubectl", "sqlite3", "git", "find"];

/// `cargo run` of a checkout is the program that is being tested.
const CARGO: &str = r#"#!/bin/sh
if [ "$1 $2 $3" = "run --release --" ]; then shift 3; exec kollect "$@"; fi
echo "no page may ask for: cargo $*" >&2
exit 64
"#;

/// Whatever has a port takes a free one: others may have the usual one.
const KOLLECT: &str = r#"#!/bin/sh
if [ "$1" = operator ]; then set -- "$@" --health-probe-bind-address=127.0.0.1:0; fi
exec PROGRAM "$@"
"#;

/// Not every machine has it, so what was asked is written down, and asked by
/// the test.
const SQLITE: &str = r#"#!/bin/sh
printf '%s\0' "$@" > "$HOME/asked"
"#;

pub(super) struct World {
    place: TempDir,
    running: Vec<Running>,
}

/// Something that goes on until it is told to stop; ended when it is dropped.
struct Running {
    command: String,
    said: PathBuf,
    child: Child,
}

impl Drop for Running {
    fn drop(&mut self) {
        // One that has ended by itself is no harm.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl World {
    /// A machine with a kubectl that has this configuration.
    pub(super) fn with_cluster(assets: &Assets, kubeconfig: &str) -> Self {
        let world = Self::new();
        let home = world.place.path().join("home");
        symlink(assets.kubectl(), home.join("bin/kubectl")).unwrap();
        fs::write(home.join("kubeconfig"), kubeconfig).unwrap();
        world
    }

    /// A machine without a cluster.
    pub(super) fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let home = place.path().join("home");
        let programs = home.join("bin");
        fs::create_dir_all(&programs).unwrap();
        fs::create_dir(place.path().join("here")).unwrap();
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let deploy = fs::canonicalize(repository.join("deploy")).unwrap();
        symlink(deploy, place.path().join("here/deploy")).unwrap();
        let kollect = KOLLECT.replace("PROGRAM", env!("CARGO_BIN_EXE_kollect"));
        for (name, text) in [("cargo", CARGO), ("kollect", &kollect), ("sqlite3", SQLITE)] {
            let path = programs.join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self { place, running: Vec::new() }
    }

    /// Does all that a page says.
    #[track_caller]
    pub(super) fn follow(&mut self, name: &str) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
        let page = fs::read_to_string(path).unwrap();
        let steps = steps(&page);
        assert!(!steps.is_empty(), "{name} asks for nothing");
        for (at, step) in steps.iter().enumerate() {
            let printed: String =
                step.commands.iter().map(|command| self.run(name, step, command)).collect();
            if let Some(expected) = &step.prints {
                let place = format!("{name}:{}", step.line);
                assert!(
                    is_printed(expected, &printed),
                    "{place} says that it prints:\n{expected}\n\nit prints:\n{printed}"
                );
            }
            let ends = steps.get(at + 1).is_none_or(|next| next.section != step.section);
            if ends {
                self.stop();
            }
        }
    }

    #[track_caller]
    fn run(&mut self, page: &str, step: &Step, command: &str) -> String {
        let place = format!("{page}:{}: {command}", step.line);
        let program = command.split_whitespace().next().unwrap_or_default();
        assert!(PROGRAMS.contains(&program), "{place}: nobody knows {program}");
        if EXEMPT.iter().any(|(exempt, _)| command.starts_with(exempt)) {
            return String::new();
        }
        if goes_on(command) {
            self.start(&place, command);
            return String::new();
        }
        let output = self.shell(command).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let printed = text(&output.stdout) + &text(&output.stderr) + &self.asked();
        let log: String = self.running.iter().map(Running::said).collect();
        assert!(output.status.success(), "{place}\n{printed}\nmeanwhile: {log}");
        printed
    }

    fn shell(&self, command: &str) -> Command {
        let home = self.place.path().join("home");
        let mut shell = Command::new("sh");
        shell
            .args(["-c", command])
            .current_dir(self.place.path().join("here"))
            .env_clear()
            .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", home.join("bin").display()))
            .env("KUBECONFIG", home.join("kubeconfig"))
            .env("HOME", home)
            .stdin(Stdio::null());
        shell
    }

    /// Starts what goes on, and waits for its first word.
    #[track_caller]
    fn start(&mut self, place: &str, command: &str) {
        let said = self.place.path().join(format!("said-{}", self.running.len()));
        let file = fs::File::create(&said).unwrap();
        let child = self
            .shell(&format!("exec {command}"))
            .stdout(file.try_clone().unwrap())
            .stderr(file)
            .spawn();
        let mut running = Running { command: command.to_owned(), said, child: child.unwrap() };
        let spoke = (0..LOOKS).any(|_| {
            thread::sleep(BETWEEN);
            !running.said().is_empty() || running.child.try_wait().unwrap().is_some()
        });
        let ended = running.child.try_wait().unwrap();
        assert!(spoke && ended.is_none(), "{place}: {ended:?}\n{}", running.said());
        self.running.push(running);
    }

    /// Interrupts what goes on, as a reader does with Ctrl-C.
    #[track_caller]
    fn stop(&mut self) {
        for mut running in self.running.drain(..) {
            let pid = running.child.id().to_string();
            assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
            let mut ended: Option<ExitStatus> = None;
            for _ in 0..LOOKS {
                ended = running.child.try_wait().unwrap();
                if ended.is_some() {
                    break;
                }
                thread::sleep(BETWEEN);
            }
            let is_well = ended.is_some_and(|status| status.success());
            assert!(is_well, "{}: {ended:?}\n{}", running.command, running.said());
        }
    }

    /// What a database answers, if it was asked.
    fn asked(&self) -> String {
        let path = self.place.path().join("home/asked");
        let Ok(asked) = fs::read_to_string(&path) else { return String::new() };
        fs::remove_file(path).unwrap();
        let asked: Vec<_> = asked.split_terminator('\0').collect();
        let [file, query] = asked[..] else { panic!("nobody knows sqlite3 {asked:?}") };
        let file = self.place.path().join("here").join(file);
        assert!(file.exists(), "there is no {}", file.display());
        let database = Connection::open(file).unwrap();
        let mut query = database.prepare(query).unwrap();
        let columns = query.column_count();
        let cell = |value: ValueRef<'_>| match value {
            ValueRef::Null => String::new(),
            ValueRef::Integer(number) => number.to_string(),
            ValueRef::Real(number) => number.to_string(),
            ValueRef::Text(text) | ValueRef::Blob(text) => {
                String::from_utf8_lossy(text).into_owned()
            }
        };
        let line = |row: &rusqlite::Row<'_>| {
            let cells = (0..columns).map(|at| row.get_ref(at).map(cell));
            Ok(cells.collect::<Result<Vec<_>, _>>()?.join("|") + "\n")
        };
        let lines = query.query_map([], line).unwrap();
        lines.collect::<Result<String, _>>().unwrap()
    }
}

impl Running {
    fn said(&self) -> String {
        fs::read_to_string(&self.said).unwrap()
    }
}

/// Whether a command ends only when it is interrupted.
fn goes_on(command: &str) -> bool {
    let words: Vec<_> = command.split_whitespace().collect();
    let has = |word: &str| words.contains(&word);
    let is_ours = has("cargo") || has("kollect");
    is_ours && (has("operator") || has("--watch") || (has("demo") && !has("--for")))
}
