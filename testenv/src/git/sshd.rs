//! Stock Git behind stock OpenSSH.

use std::{
    fs::{self, Permissions},
    io::{self, Write as _},
    net::{SocketAddr, TcpStream},
    os::unix::{fs::PermissionsExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use tempfile::TempDir;

use super::{GitServerError, Protocol, git};
use crate::{assets::setting, launch::free_address};

const SSHD: &str = "/usr/sbin/sshd";

/// How often a server that has just been started is knocked at.
const KNOCKS: u32 = 400;
const PAUSE: Duration = Duration::from_millis(25);

/// Arguments: the command line of the server. It ends when our end of the pipe
/// is closed, however we end.
const SCRIPT: &str = r#"
trap '' HUP INT QUIT PIPE TERM
"$@" </dev/null >/dev/null 2>&1 &
server=$!
while read -r line; do :; done
kill -9 "$server"
wait
"#;

/// An sshd that one key opens, with bare repositories below its directory.
pub struct SshServer {
    keeper: Child,
    root: TempDir,
    address: SocketAddr,
    user: String,
}

/// Whether sshd is installed.
///
/// `false` means that the test is to return: it has then been reported as
/// skipped.
///
/// # Panics
///
/// When it is not installed and `KOLLECT_TEST_REQUIRE` is `all`.
#[track_caller]
pub fn has_sshd() -> bool {
    let found = Path::new(SSHD).exists();
    if !found {
        assert!(
            setting("KOLLECT_TEST_REQUIRE").as_deref() != Some("all"),
            "there is no {SSHD}, and KOLLECT_TEST_REQUIRE=all lets no test be skipped: \
             `cargo xtask env` installs it"
        );
        let thread = thread::current();
        let test = thread.name().unwrap_or("a test");
        writeln!(io::stderr(), "skipped {test}: there is no {SSHD}").ok();
    }
    found
}

impl SshServer {
    /// Starts a server and returns when it listens.
    pub fn start(protocol: Protocol) -> Result<Self, GitServerError> {
        let prepare = GitServerError::Prepare;
        let root = TempDir::with_prefix("kollect-testenv-").map_err(prepare)?;
        for key in ["host", "user", "stranger"] {
            make_key(&root.path().join(key))?;
        }
        fs::copy(root.path().join("user.pub"), root.path().join("authorized")).map_err(prepare)?;
        let address = free_address().map_err(prepare)?;
        let config = root.path().join("sshd_config");
        fs::write(&config, settings(root.path(), address, protocol)).map_err(prepare)?;
        // Without it sshd does not start when it runs as root.
        fs::create_dir_all("/run/sshd").ok();
        let keeper = Command::new("sh")
            .args(["-c", SCRIPT, "keeper", SSHD, "-D", "-e", "-f"])
            .arg(&config)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(prepare)?;
        let user = run(Command::new("id").arg("-un"))?;
        let server = Self { keeper, root, address, user };
        server.wait()?;
        Ok(server)
    }

    /// Makes an empty repository and answers where it is on disk.
    pub fn repository(&self, name: &str) -> Result<PathBuf, GitServerError> {
        let path = self.root.path().join(name);
        let text = path.display().to_string();
        let arguments = ["init", "--quiet", "--bare", "--initial-branch", "main", &text];
        git(self.root.path(), &arguments).map_err(GitServerError::Git)?;
        Ok(path)
    }

    /// What to give to clients for a repository.
    pub fn url(&self, name: &str) -> String {
        let path = self.root.path().join(name);
        format!("ssh://{}@{}{}", self.user, self.address, path.display())
    }

    /// The private key that opens the server.
    pub fn key(&self) -> String {
        fs::read_to_string(self.root.path().join("user")).unwrap_or_default()
    }

    /// A private key that does not.
    pub fn strange_key(&self) -> String {
        fs::read_to_string(self.root.path().join("stranger")).unwrap_or_default()
    }

    /// What a client must know of the server.
    pub fn known_hosts(&self) -> String {
        let key = fs::read_to_string(self.root.path().join("host.pub")).unwrap_or_default();
        format!("[{}]:{} {key}", self.address.ip(), self.address.port())
    }

    #[expect(clippy::disallowed_methods, reason = "it knocks at our own server")]
    fn wait(&self) -> Result<(), GitServerError> {
        for _ in 0..KNOCKS {
            if TcpStream::connect(self.address).is_ok() {
                return Ok(());
            }
            thread::sleep(PAUSE);
        }
        Err(GitServerError::Prepare(io::ErrorKind::TimedOut.into()))
    }
}

impl Drop for SshServer {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        self.keeper.wait().ok();
    }
}

fn make_key(path: &Path) -> Result<(), GitServerError> {
    let mut keygen = Command::new("ssh-keygen");
    keygen.args(["-q", "-t", "ed25519", "-N", "", "-C", "tests", "-f"]).arg(path);
    run(&mut keygen)?;
    fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(GitServerError::Prepare)
}

fn run(command: &mut Command) -> Result<String, GitServerError> {
    let output = command.output().map_err(GitServerError::Prepare)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(GitServerError::Prepare(io::Error::other(text)))
}

fn settings(root: &Path, address: SocketAddr, protocol: Protocol) -> String {
    let root = root.display();
    let accepts = match protocol {
        Protocol::Any => "AcceptEnv GIT_PROTOCOL\n",
        Protocol::First => "",
    };
    format!(
        "ListenAddress {address}\nHostKey {root}/host\nAuthorizedKeysFile {root}/authorized\n\
         PidFile none\nStrictModes no\nUsePAM no\nPermitRootLogin prohibit-password\n\
         PasswordAuthentication no\nKbdInteractiveAuthentication no\n{accepts}"
    )
}
