//! Processes that are killed while they write.

use kollect_testenv::{GitServer, Postgres, Protocol, git};

use self::support::{Kind, Reader, branch_is_sound, look_at_server, survives};

/// Whoever reads while others write and die sees complete states only.
#[test]
fn a_database_survives_a_hundred_kills_and_shows_no_partial_state() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("rows.db");
    let reader = Reader::of_file(&path);
    survives(&Kind { name: "sqlite", is_atomic: true }, &path, 100);
    let looks = reader.stop();
    assert!(looks > 100, "the reader looked only {looks} times");
}

/// The same on a server, where a killed writer must leave no lock and no table.
#[test]
fn a_server_survives_a_hundred_kills_and_shows_no_partial_state() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.database("killed");
    let roots = server.ca_path();
    let place =
        format!("{}?sslmode=verify-full&sslrootcert={}", server.dsn(&database), roots.display());
    let reader = Reader::start({
        let database = database.clone();
        move || look_at_server(server, &database).is_some()
    });
    survives(&Kind { name: "postgres", is_atomic: true }, place.as_ref(), 100);
    let looks = reader.stop();
    assert!(looks > 100, "the reader looked only {looks} times");
    let sessions = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'kollect'";
    while server.query(&database, sessions) != [["0"]] {
        std::thread::yield_now();
    }
    let left = "SELECT (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'), \
        (SELECT count(*) FROM pg_class WHERE relpersistence = 't'), \
        (SELECT count(*) FROM pg_prepared_xacts)";
    assert_eq!(server.query(&database, left), [["0", "0", "0"]]);
}

#[test]
fn a_tree_of_files_survives_a_hundred_kills() {
    let directory = tempfile::tempdir().unwrap();
    survives(&Kind { name: "tree", is_atomic: false }, &directory.path().join("copy"), 100);
}

#[test]
fn a_document_survives_twenty_kills_and_is_never_torn() {
    let directory = tempfile::tempdir().unwrap();
    survives(&Kind { name: "document", is_atomic: true }, &directory.path().join("copy"), 20);
}

/// Half a push is none: a reader sees a commit or the one before it.
#[test]
fn a_repository_on_disk_survives_sixty_kills() {
    let directory = tempfile::tempdir().unwrap();
    git(directory.path(), &["init", "--quiet", "--bare", "copy.git"]).unwrap();
    let path = directory.path().join("copy.git");
    survives(&Kind { name: "git-tree", is_atomic: true }, &path, 60);
    branch_is_sound(&path);
}

#[test]
fn a_repository_behind_https_survives_forty_kills() {
    let server = GitServer::start(Protocol::Any).unwrap();
    let settings = [("uploadpack.allowFilter", "true")];
    let path = server.repository("copy.git", &settings).unwrap();
    // The writer is told by a file how to get there; the reader goes there by itself.
    let (user, password) = server.login();
    let reach = serde_json::json!({
        "endpoint": server.url("copy.git"), "user": user, "password": password,
        "ca": server.authority(),
    });
    std::fs::write(path.join("reach.json"), reach.to_string()).unwrap();
    survives(&Kind { name: "git-https", is_atomic: true }, &path, 40);
    branch_is_sound(&path);
}

#[cfg(test)]
mod support {
    use std::{
        env, fs,
        io::{BufRead as _, BufReader},
        path::{Path, PathBuf},
        process::{Child, Command, Stdio},
        sync::{
            Arc,
            atomic::{AtomicBool, Ordering},
            mpsc,
        },
        thread::{self, JoinHandle},
        time::Duration,
    };

    use kollect_inventory::{Digest, Identity, Row, envelope, sort};
    use kollect_sinks::conformance::Churn;
    use kollect_testenv::{Postgres, git};
    use rusqlite::{Connection, OptionalExtension as _};
    use serde_json::Value;

    /// What is copied to, and whether a kill can be seen there.
    pub(crate) struct Kind {
        pub(crate) name: &'static str,
        pub(crate) is_atomic: bool,
    }

    const SEED: u64 = 20_261_115;
    const OBJECTS: usize = 200;

    /// Kills a writer so often, each time at another moment; then lets one end
    /// in peace, and compares.
    pub(crate) fn survives(kind: &Kind, path: &Path, kills: u64) {
        let mut acknowledged = 0;
        let mut moment = SEED;
        for round in 0..kills {
            moment = moment.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Before the first acknowledgement, or some time after one of the
            // next: a slow machine is no reason to get nowhere.
            let moment = Moment {
                acknowledgements: round % 4,
                then: Duration::from_micros((moment >> 33) % 20_000),
            };
            if let Some(step) = run_and_kill(kind, path, acknowledged, &moment) {
                acknowledged = step;
            }
            if kind.is_atomic && acknowledged > 0 {
                let found = read(kind, path);
                let is_whole = |step: u64| found == rows_at(step);
                assert!(
                    (acknowledged..acknowledged + 3).any(is_whole),
                    "after step {acknowledged} the copy is of no step at all"
                );
            }
        }
        assert!(acknowledged > kills / 4, "only {acknowledged} steps were acknowledged in all");
        let until = acknowledged + 5;
        let status = writer(kind, path, acknowledged + 2, until).wait().unwrap();
        assert!(status.success());
        assert!(read(kind, path) == rows_at(until), "the copy is not the cluster");
        let unfinished = path.join(".kollect/.unfinished");
        let left = fs::read_dir(unfinished).map_or(0, Iterator::count);
        assert_eq!(left, 0, "killed writers left files behind");
    }

    /// When a writer is killed: after so many acknowledgements, and so long.
    struct Moment {
        acknowledgements: u64,
        then: Duration,
    }

    /// The last step that was acknowledged before the kill.
    fn run_and_kill(kind: &Kind, path: &Path, from: u64, moment: &Moment) -> Option<u64> {
        let mut child = writer(kind, path, from, u64::MAX);
        let output = BufReader::new(child.stdout.take().unwrap());
        let (say, said) = mpsc::channel();
        let reader = thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                say.send(line.parse::<u64>().ok()).unwrap();
            }
        });
        let mut last = None;
        for _ in 0..moment.acknowledgements {
            last = said.recv_timeout(Duration::from_mins(1)).unwrap().or(last);
        }
        thread::sleep(moment.then);
        child.kill().unwrap();
        child.wait().unwrap();
        reader.join().unwrap();
        // What was said before the end counts, however late it is read.
        said.try_iter().fold(last, |last, step| step.or(last))
    }

    fn writer(kind: &Kind, path: &Path, from: u64, until: u64) -> Child {
        let tests = env::current_exe().unwrap();
        let program = tests.parent().and_then(Path::parent).unwrap().join("examples/churn");
        assert!(program.exists(), "`cargo test` without a choice of tests builds {program:?}");
        Command::new(program)
            .arg(kind.name)
            .arg(path)
            .args([SEED, from, until].map(|number| number.to_string()))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    }

    fn rows_at(step: u64) -> Vec<Row> {
        let mut churn = Churn::new(SEED, OBJECTS);
        churn.forward_to(step);
        churn.cluster().rows()
    }

    fn read(kind: &Kind, path: &Path) -> Vec<Row> {
        let mut rows = match kind.name {
            "sqlite" => look(&Connection::open(path).unwrap()).unwrap_or_default(),
            "postgres" => {
                let place = path.to_str().unwrap();
                let (dsn, _) = place.split_once('?').unwrap();
                let (_, database) = dsn.rsplit_once('/').unwrap();
                look_at_server(Postgres::shared().unwrap(), database).unwrap_or_default()
            }
            "git-tree" | "git-https" => rows_on_branch(path),
            "document" => rows_of(&[path.join("eu-1/shop/web.ndjson")]),
            _ => rows_of(&files_below(&path.join("eu-1/web"))),
        };
        sort(&mut rows);
        rows
    }

    /// The rows as a clone by stock Git has them; none without a branch.
    fn rows_on_branch(path: &Path) -> Vec<Row> {
        let clone = tempfile::tempdir().unwrap();
        let from = format!("file://{}", path.display());
        let arguments = ["clone", "--quiet", "--depth", "1", "--branch", "main", &from, "."];
        match git(clone.path(), &arguments) {
            Ok(_) => rows_of(&files_below(&clone.path().join("eu-1/web"))),
            Err(_) => Vec::new(),
        }
    }

    /// Nothing is broken, and nobody is kept out.
    pub(crate) fn branch_is_sound(path: &Path) {
        git(path, &["fsck", "--strict", "--full", "--no-dangling"]).unwrap();
        assert!(!path.join("refs/heads/main.lock").exists(), "a lock was left behind");
        let tip = git(path, &["rev-parse", "refs/heads/main"]).unwrap();
        git(path, &["update-ref", "refs/heads/main", &tip, &tip]).unwrap();
    }

    fn rows_of(files: &[PathBuf]) -> Vec<Row> {
        let texts: Vec<_> = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
        let lines: Vec<_> = texts.iter().flat_map(|text| text.lines()).collect();
        envelope::decode(format!("[{}]", lines.join(",")).as_bytes()).unwrap().rows
    }

    fn files_below(folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let (folders, mut files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
        files.extend(folders.iter().flat_map(|folder| files_below(folder)));
        files
    }

    /// Looks at a database again and again, as a portal would.
    pub(crate) struct Reader {
        done: Arc<AtomicBool>,
        looks: JoinHandle<u64>,
    }

    impl Reader {
        pub(crate) fn of_file(path: &Path) -> Self {
            let path = path.to_owned();
            Self::start(move || Connection::open(&path).is_ok_and(|reader| look(&reader).is_some()))
        }

        pub(crate) fn start(look: impl Fn() -> bool + Send + 'static) -> Self {
            let done = Arc::new(AtomicBool::new(false));
            let ends = Arc::clone(&done);
            let looks = thread::spawn(move || {
                let mut looks = 0;
                while !ends.load(Ordering::Relaxed) {
                    looks += u64::from(look());
                    thread::sleep(Duration::from_millis(2));
                }
                looks
            });
            Self { done, looks }
        }

        pub(crate) fn stop(self) -> u64 {
            self.done.store(true, Ordering::Relaxed);
            self.looks.join().unwrap()
        }
    }

    /// The same on a server; what one statement sees is of one moment.
    pub(crate) fn look_at_server(server: &Postgres, database: &str) -> Option<Vec<Row>> {
        let there = "SELECT 1 FROM pg_class WHERE relname = 'inventory_items_kollect'";
        if server.query(database, there).is_empty() {
            return None;
        }
        let query = "SELECT (SELECT digest FROM inventory_items_kollect), \
            (SELECT rows FROM inventory_items_kollect), payload FROM inventory_items";
        let found = server.query(database, query);
        let row = |payload: &String| {
            let identity: Identity<'_> = serde_json::from_str(payload).unwrap();
            let value: Value = serde_json::from_str(payload).unwrap();
            Row::of_value(&identity, &value["attributes"])
        };
        let rows: Vec<_> = found.iter().map(|columns| row(&columns[2])).collect();
        if let Some([digest, count, _]) = found.first().map(Vec::as_slice)
            && !digest.is_empty()
        {
            let sum = rows.iter().fold(Digest::EMPTY, |sum, row| sum.with(row.hash()));
            assert_eq!((sum.to_string(), rows.len().to_string()), (digest.clone(), count.clone()));
        }
        Some(rows)
    }

    /// The rows, if the table is there yet. They must be those that the record
    /// beside them speaks of.
    fn look(reader: &Connection) -> Option<Vec<Row>> {
        reader.busy_timeout(Duration::from_secs(5)).unwrap();
        let tables = "select count(*) from sqlite_schema where name like 'inventory_items%'";
        if reader.query_row(tables, (), |row| row.get::<_, i64>(0)).ok()? < 2 {
            return None;
        }
        let moment = reader.unchecked_transaction().unwrap();
        let record = "select digest, rows from inventory_items_kollect";
        let recorded: Option<(Option<String>, Option<i64>)> =
            moment.query_row(record, (), |row| Ok((row.get(0)?, row.get(1)?))).optional().unwrap();
        let mut query = moment.prepare("select payload from inventory_items").unwrap();
        let payloads = query.query_map((), |row| row.get::<_, String>(0)).unwrap();
        let payloads: Vec<_> = payloads.map(Result::unwrap).collect();
        let rows = envelope::decode(format!("[{}]", payloads.join(",")).as_bytes()).unwrap().rows;
        if let Some((Some(digest), Some(count))) = recorded {
            let sum = rows.iter().fold(Digest::EMPTY, |sum, row| sum.with(row.hash()));
            assert_eq!((sum.to_string(), i64::try_from(rows.len()).unwrap()), (digest, count));
        }
        Some(rows)
    }
}
