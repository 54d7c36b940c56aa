use std::{
    collections::VecDeque,
    error::Error,
    future,
    net::{Ipv4Addr, Ipv6Addr},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use proptest::prelude::*;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    time::{Instant, sleep},
};

use super::*;

/// A name server that gives one answer after the other, and the last for ever.
#[derive(Clone, Debug)]
struct Answers {
    next: Arc<Mutex<VecDeque<Vec<IpAddr>>>>,
    asked: Arc<AtomicUsize>,
}

#[async_trait]
impl Resolver for Answers {
    async fn resolve(&self, _host: &str, _port: u16) -> io::Result<Vec<SocketAddr>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let mut next = self.next.lock().unwrap();
        let answer = if next.len() > 1 { next.pop_front() } else { next.front().cloned() };
        // Whatever port a resolver makes up, the one that was asked for is dialled.
        Ok(answer.unwrap_or_default().into_iter().map(|ip| SocketAddr::new(ip, 1)).collect())
    }
}

fn answers(lists: &[&[&str]]) -> Answers {
    let parse = |list: &&[&str]| list.iter().map(|text| text.parse().unwrap()).collect();
    Answers { next: Arc::new(Mutex::new(lists.iter().map(parse).collect())), asked: Arc::default() }
}

/// A name server that fails the test which asks it.
#[derive(Debug)]
struct Unasked;

#[async_trait]
impl Resolver for Unasked {
    async fn resolve(&self, host: &str, _port: u16) -> io::Result<Vec<SocketAddr>> {
        panic!("{host} must be judged without DNS");
    }
}

/// A name server that does not answer.
#[derive(Debug)]
struct Silent;

#[async_trait]
impl Resolver for Silent {
    async fn resolve(&self, _host: &str, _port: u16) -> io::Result<Vec<SocketAddr>> {
        future::pending().await
    }
}

/// A name server that answers with an error.
#[derive(Debug)]
struct Broken;

#[async_trait]
impl Resolver for Broken {
    async fn resolve(&self, _host: &str, _port: u16) -> io::Result<Vec<SocketAddr>> {
        Err(io::Error::other("server failure"))
    }
}

/// `--allow-private-sinks` and `--allow-sink-cidrs`.
fn policy(private: bool, ranges: &[&str]) -> AddressPolicy {
    AddressPolicy { private, allowed: ranges.iter().map(|text| text.parse().unwrap()).collect() }
}

/// For tests that dial this machine.
fn at_home(resolver: impl Resolver + 'static) -> Guard {
    Guard::new(policy(false, &["127.0.0.0/8", "::1/128"]), resolver)
}

/// The reason for a refusal; nothing if the host passed.
async fn reason(guard: &Guard, host: &str) -> Option<Denied> {
    match guard.check(host, 443).await {
        Ok(addresses) => {
            assert!(!addresses.is_empty(), "{host}");
            None
        }
        Err(error @ DialError::Denied { reason, .. }) => {
            assert_eq!(error.class(), ErrorClass::Terminal, "{host}");
            Some(reason)
        }
        Err(other) => panic!("{host}: {other}"),
    }
}

async fn listener() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

const LITERALS: [(&str, Denied); 45] = [
    ("127.0.0.1", Denied::Loopback),
    ("127.255.255.254", Denied::Loopback),
    ("127.0.0.1.", Denied::Loopback),
    ("::1", Denied::Loopback),
    ("[::1]", Denied::Loopback),
    ("0:0:0:0:0:0:0:1", Denied::Loopback),
    ("::1%lo", Denied::Loopback),
    ("::ffff:127.0.0.1", Denied::Loopback),
    ("[::ffff:7f00:1]", Denied::Loopback),
    ("64:ff9b::127.0.0.1", Denied::Loopback),
    ("169.254.169.254", Denied::LinkLocal),
    ("169.254.170.2", Denied::LinkLocal),
    ("::ffff:169.254.169.254", Denied::LinkLocal),
    ("64:ff9b::a9fe:a9fe", Denied::LinkLocal),
    ("fe80::1", Denied::LinkLocal),
    ("fe80::1%eth0", Denied::LinkLocal),
    ("[fe80::1%25eth0]", Denied::LinkLocal),
    ("168.63.129.16", Denied::Metadata),
    ("fd00:ec2::254", Denied::Metadata),
    ("fd00:ec2::254%eth0", Denied::Metadata),
    ("fd20:ce::254", Denied::Metadata),
    ("100.100.100.200", Denied::Reserved),
    ("192.0.0.192", Denied::Reserved),
    ("0.0.0.0", Denied::Reserved),
    ("0.1.2.3", Denied::Reserved),
    ("::", Denied::Reserved),
    ("100.64.0.1", Denied::Reserved),
    ("198.18.0.1", Denied::Reserved),
    ("192.0.2.1", Denied::Reserved),
    ("198.51.100.1", Denied::Reserved),
    ("203.0.113.1", Denied::Reserved),
    ("2001:db8::1", Denied::Reserved),
    ("224.0.0.1", Denied::Reserved),
    ("240.0.0.1", Denied::Reserved),
    ("255.255.255.255", Denied::Reserved),
    ("ff02::1", Denied::Reserved),
    ("ff0e::1", Denied::Reserved),
    ("2002:808:808::1", Denied::Reserved),
    ("2002:7f00:1::", Denied::Reserved),
    ("10.0.0.1", Denied::Private),
    ("172.31.255.255", Denied::Private),
    ("192.168.0.1", Denied::Private),
    ("fd12:3456::1", Denied::Private),
    ("::ffff:10.0.0.1", Denied::Private),
    ("64:ff9b:1::10.0.0.1", Denied::Private),
];

#[tokio::test]
async fn forbidden_literals_are_refused_without_asking_anybody() {
    let guard = Guard::new(policy(false, &[]), Unasked);
    for (host, expected) in LITERALS {
        assert_eq!(reason(&guard, host).await, Some(expected), "{host}");
    }
}

#[tokio::test]
async fn the_private_flag_admits_private_addresses_and_no_others() {
    let guard = Guard::new(policy(true, &[]), Unasked);
    for (host, expected) in LITERALS {
        let expected = Some(expected).filter(|reason| *reason != Denied::Private);
        assert_eq!(reason(&guard, host).await, expected, "{host}");
    }
}

#[tokio::test]
async fn a_listed_range_admits_what_lies_in_it_and_no_neighbour() {
    let cases = [
        ("127.0.0.0/8", "127.1.2.3", "::1"),
        ("::1/128", "::1", "127.0.0.1"),
        ("10.1.0.0/16", "10.1.255.255", "10.2.0.0"),
        ("10.1.0.0/16", "::ffff:10.1.0.1", "::ffff:10.2.0.1"),
        ("10.1.0.0/16", "64:ff9b::10.1.0.1", "64:ff9b::10.2.0.1"),
        ("169.254.169.254/32", "169.254.169.254", "169.254.169.253"),
        ("203.0.113.0/24", "203.0.113.9", "198.51.100.9"),
        ("fd00:ec2::254/128", "fd00:ec2::254", "fd00:ec2::253"),
        ("2002::/16", "2002:808:808::1", "2001:db8::1"),
    ];
    for (range, inside, outside) in cases {
        let guard = Guard::new(policy(false, &[range]), Unasked);
        assert_eq!(reason(&guard, inside).await, None, "{inside} in {range}");
        assert!(reason(&guard, outside).await.is_some(), "{outside} in {range}");
    }
}

#[tokio::test]
async fn old_spellings_of_an_address_are_read_and_judged() {
    let guard = Guard::new(policy(false, &[]), Unasked);
    for host in [
        "2130706433",
        "0x7f000001",
        "0X7F.1",
        "0x7f.0x0.0x0.0x1",
        "017700000001",
        "0177.0.0.1",
        "00000177.0.0.01",
        "127.1",
        "127.0.1",
        "127.1.",
    ] {
        assert_eq!(reason(&guard, host).await, Some(Denied::Loopback), "{host}");
    }
    assert_eq!(reason(&guard, "2852039166").await, Some(Denied::LinkLocal));
    // What is dialled is the number that was judged, whatever others would read.
    let expected = vec!["8.8.8.8:443".parse().unwrap()];
    assert_eq!(guard.check("010.8.8.8", 443).await.unwrap(), expected);
}

#[tokio::test]
async fn old_spellings_mean_to_us_what_they_mean_to_the_system() {
    let guard = Guard::new(policy(false, &["0.0.0.0/0"]), Unasked);
    for host in ["2130706433", "0X7F.1", "017700000001", "010.8.8.8", "127.0.1", "1.0xffffff"] {
        let read = SystemResolver.resolve(host, 80).await.unwrap();
        assert_eq!(guard.check(host, 80).await.unwrap(), read, "{host}");
    }
}

#[tokio::test]
async fn what_looks_like_a_name_to_us_and_an_address_to_the_resolver_is_judged_as_its_answer() {
    let guard = Guard::new(policy(false, &[]), answers(&[&["127.0.0.1"]]));
    for host in ["0x7f.0x", "127.0.0.08", "4294967297", "1.2.3.4.5"] {
        assert_eq!(reason(&guard, host).await, Some(Denied::Loopback), "{host}");
    }
}

#[tokio::test]
async fn names_of_this_machine_and_of_metadata_services_are_refused_in_every_spelling() {
    // No flag admits a name.
    for policy in [policy(false, &[]), policy(true, &["0.0.0.0/0", "::/0"])] {
        let guard = Guard::new(policy, Unasked);
        for host in [
            "localhost",
            "LocalHost",
            "localhost.",
            ".localhost",
            "..localhost..",
            "[localhost]",
            "localhost%1",
            "localhost.localdomain",
            "LOCALHOST.LOCALDOMAIN.",
            "a.b.localhost",
            "x.LOCALHOST.",
            "metadata",
            "Metadata.",
            "metadata.google.internal",
            "METADATA.google.Internal.",
            "instance-data",
            "instance-data.ec2.internal.",
        ] {
            assert_eq!(reason(&guard, host).await, Some(Denied::Name), "{host}");
        }
    }
}

#[tokio::test]
async fn names_that_only_look_like_forbidden_ones_pass() {
    let guard = Guard::new(policy(false, &[]), answers(&[&["8.8.8.8"]]));
    for host in ["mylocalhost", "localhost.example.org", "metadata.example.org", "a_b.example.org."]
    {
        assert_eq!(reason(&guard, host).await, None, "{host}");
    }
}

#[tokio::test]
async fn what_is_no_host_is_refused_and_not_repeated() {
    let guard = Guard::new(policy(true, &["0.0.0.0/0", "::/0"]), Unasked);
    for host in [
        "",
        ".",
        "[]",
        "-oProxyCommand=x",
        "-x",
        "user:word@db",
        "db:5432",
        "db word",
        "db\n",
        "db\0",
        "127.0.0.1 x",
        "127。0。0。1",
        "１２７.0.0.1",
        "loc%61lhost",
        "%6cocalhost",
        "[db]",
        "8.8.8.8%eth0",
        "fe80::1%eth0",
        "::1::",
    ] {
        let error = guard.dial(host, 443).await.unwrap_err();
        assert!(matches!(error, DialError::Malformed), "{host}: {error}");
        assert_eq!(error.class(), ErrorClass::Terminal, "{host}");
    }
}

#[tokio::test]
async fn one_forbidden_address_spoils_the_whole_answer() {
    let mixed: [(&[&str], Denied); 7] = [
        (&["8.8.8.8", "127.0.0.1"], Denied::Loopback),
        (&["127.0.0.1", "8.8.8.8"], Denied::Loopback),
        (&["2001:4860::1", "8.8.8.8", "10.0.0.1"], Denied::Private),
        (&["8.8.8.8", "::ffff:169.254.169.254"], Denied::LinkLocal),
        (&["8.8.8.8", "64:ff9b::10.0.0.1"], Denied::Private),
        (&["8.8.8.8", "ff02::1"], Denied::Reserved),
        (&["8.8.8.8", "2002:a00:1::"], Denied::Reserved),
    ];
    for (answer, expected) in mixed {
        let guard = Guard::new(policy(false, &[]), answers(&[answer]));
        assert_eq!(reason(&guard, "db.example.org").await, Some(expected), "{answer:?}");
        let error = guard.dial("db.example.org", 443).await.unwrap_err();
        assert_eq!(error.class(), ErrorClass::Terminal, "{answer:?}: {error}");
    }
}

#[tokio::test]
async fn an_answer_is_admitted_by_the_same_flags_as_a_literal() {
    let answer: &[&str] = &["10.0.0.1", "8.8.8.8"];
    for (policy, expected) in [
        (policy(false, &[]), Some(Denied::Private)),
        (policy(true, &[]), None),
        (policy(false, &["10.0.0.0/8"]), None),
        (policy(false, &["10.9.0.0/16"]), Some(Denied::Private)),
    ] {
        let guard = Guard::new(policy.clone(), answers(&[answer]));
        assert_eq!(reason(&guard, "db.example.org").await, expected, "{policy:?}");
    }
}

#[tokio::test]
async fn a_name_that_answers_otherwise_the_second_time_gains_nothing() {
    let (listener, port) = listener().await;
    // The first answer is admitted, the second is not, and leads elsewhere.
    let answers = answers(&[&["127.0.0.1"], &["169.254.169.254"]]);
    let guard = at_home(answers.clone());
    let stream = guard.dial("rebind.example.org", port).await.unwrap();
    assert_eq!(answers.asked.load(Ordering::Relaxed), 1);
    assert_eq!(stream.peer_addr().unwrap(), listener.local_addr().unwrap());

    // To reconnect is to dial, and the second answer is judged as the first was.
    let error = guard.dial("rebind.example.org", port).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Terminal, "{error}");
    assert_eq!(answers.asked.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn the_checked_addresses_are_distinct_and_of_both_families_in_turn() {
    let answer: &[&str] =
        &["2001:4860::1", "2001:4860::2", "2001:4860::1", "8.8.8.8", "::ffff:8.8.8.8", "8.8.4.4"];
    let guard = Guard::new(policy(false, &[]), answers(&[answer]));
    let expected: Vec<SocketAddr> =
        ["[2001:4860::1]:443", "8.8.8.8:443", "[2001:4860::2]:443", "8.8.4.4:443"]
            .map(|text| text.parse().unwrap())
            .into();
    assert_eq!(guard.check("db.example.org", 443).await.unwrap(), expected);
}

#[tokio::test]
async fn an_empty_answer_is_an_error_that_may_pass() {
    let guard = Guard::new(policy(false, &[]), answers(&[&[]]));
    let error = guard.dial("db.example.org", 443).await.unwrap_err();
    assert!(matches!(error, DialError::Resolve { .. }));
    assert_eq!(error.class(), ErrorClass::Transient);
    assert_eq!(error.source().unwrap().to_string(), "the name has no address");
}

#[tokio::test]
async fn a_resolver_that_fails_may_do_better_next_time() {
    let guard = Guard::new(policy(false, &[]), Broken);
    let error = guard.check("db.example.org", 443).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Transient);
    assert_eq!(error.to_string(), "could not resolve db.example.org");
    assert_eq!(error.source().unwrap().to_string(), "server failure");
}

#[tokio::test(start_paused = true)]
async fn a_resolver_that_is_silent_is_left_after_ten_seconds() {
    let guard = Guard::new(policy(false, &[]), Silent);
    let start = Instant::now();
    let error = guard.dial("db.example.org", 5432).await.unwrap_err();
    assert_eq!(error.to_string(), "no connection to db.example.org, port 5432, within 10 s");
    assert_eq!(error.class(), ErrorClass::Transient);
    assert_eq!(start.elapsed().as_secs(), 10);
    guard.check("db.example.org", 5432).await.unwrap_err();
    assert_eq!(start.elapsed().as_secs(), 20);
}

#[tokio::test]
async fn a_refusal_names_the_flag_that_would_admit_the_address() {
    let listed = "(the operator's --allow-sink-cidrs can admit it)";
    let cases = [
        (
            "10.0.0.1",
            "db must not be dialled at 10.0.0.1: private addresses are not allowed (the operator's \
             --allow-private-sinks admits them)"
                .to_owned(),
        ),
        (
            "::ffff:127.0.0.1",
            format!("db must not be dialled at 127.0.0.1: loopback addresses are not allowed {listed}"),
        ),
        (
            "169.254.169.254",
            format!(
                "db must not be dialled at 169.254.169.254: link-local addresses are not allowed \
                 {listed}"
            ),
        ),
        (
            "fd00:ec2::254",
            format!(
                "db must not be dialled at fd00:ec2::254: the address belongs to a metadata \
                 service {listed}"
            ),
        ),
        (
            "100.64.0.1",
            format!("db must not be dialled at 100.64.0.1: the address is reserved {listed}"),
        ),
    ];
    for (answer, expected) in cases {
        let guard = Guard::new(policy(false, &[]), answers(&[&[answer]]));
        assert_eq!(guard.check("db", 5432).await.unwrap_err().to_string(), expected);
    }
    let guard = Guard::new(policy(false, &[]), Unasked);
    assert_eq!(
        guard.check("localhost", 5432).await.unwrap_err().to_string(),
        "localhost must not be dialled: the name belongs to this machine or to a metadata service \
         (no flag of the operator admits the name; --allow-sink-cidrs can admit an address)"
    );
}

#[tokio::test]
async fn a_listed_loopback_is_dialled_and_small_writes_leave_at_once() {
    let (listener, port) = listener().await;
    let guard = at_home(Unasked);
    let (dialled, accepted) = tokio::join!(guard.dial("127.0.0.1", port), listener.accept());
    let (mut dialled, (mut accepted, _)) = (dialled.unwrap(), accepted.unwrap());
    assert!(dialled.nodelay().unwrap());
    dialled.write_all(b"row").await.unwrap();
    let mut heard = [0; 3];
    accepted.read_exact(&mut heard).await.unwrap();
    assert_eq!(&heard, b"row");

    let closed = Guard::new(policy(true, &[]), Unasked);
    let error = closed.dial("127.0.0.1", port).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Terminal);
}

#[tokio::test]
async fn a_refused_address_is_followed_by_the_next() {
    // Nobody listens at the other addresses, or they do not exist.
    let (listener, port) = listener().await;
    let guard = at_home(answers(&[&["::1", "127.0.0.2", "127.0.0.1"]]));
    let stream = guard.dial("db.example.org", port).await.unwrap();
    assert_eq!(stream.peer_addr().unwrap(), listener.local_addr().unwrap());
}

#[tokio::test]
async fn when_all_addresses_refuse_each_is_told() {
    let (_listener, port) = listener().await;
    let guard = at_home(answers(&[&["127.0.0.2", "127.0.0.3"]]));
    let error = guard.dial("db.example.org", port).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Transient);
    assert_eq!(error.to_string(), format!("could not connect to db.example.org, port {port}"));
    let source = error.source().unwrap().to_string();
    for address in ["127.0.0.2", "127.0.0.3"] {
        assert!(source.contains(&format!("{address}:{port}: ")), "{source}");
    }
}

#[test]
fn a_dial_may_move_between_threads() {
    fn movable(_: impl Send) {}
    let guard = at_home(Unasked);
    movable(guard.dial("127.0.0.1", 1));
    movable(guard.check("127.0.0.1", 1));
}

/// Reads one request and sends the client elsewhere.
async fn redirect(listener: &TcpListener, location: &str) {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut request = [0; 64];
    assert!(stream.read(&mut request).await.unwrap() > 0);
    let answer = format!("HTTP/1.1 302 Found\r\nLocation: http://{location}/\r\n\r\n");
    stream.write_all(answer.as_bytes()).await.unwrap();
}

/// Asks for a page and returns the host and port that it is said to be at.
async fn location(guard: &Guard, host: &str, port: u16) -> Result<(String, u16), DialError> {
    let mut stream = guard.dial(host, port).await?;
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (_, rest) = answer.split_once("Location: http://").unwrap();
    let (host, port) = rest.split_once('/').unwrap().0.rsplit_once(':').unwrap();
    Ok((host.to_owned(), port.parse().unwrap()))
}

#[tokio::test]
async fn the_target_of_a_redirect_is_judged_like_the_first_host() {
    let (listener, port) = listener().await;
    let answers = answers(&[&["127.0.0.1"], &["127.0.0.1", "10.0.0.1"]]);
    let guard = at_home(answers.clone());
    for (target, refused) in [
        (format!("127.0.0.1:{port}"), false),
        ("169.254.169.254:80".to_owned(), true),
        ("localhost:80".to_owned(), true),
        ("[::ffff:169.254.169.254]:80".to_owned(), true),
        ("2852039166:80".to_owned(), true),
        // The name that was good a moment ago.
        (format!("git.example.org:{port}"), true),
    ] {
        let start = if target.starts_with("git") { "git.example.org" } else { "127.0.0.1" };
        let (next, ()) = tokio::join!(location(&guard, start, port), redirect(&listener, &target));
        let (host, port) = next.unwrap();
        match guard.dial(&host, port).await {
            Ok(_) => assert!(!refused, "{target}"),
            Err(error) => {
                assert!(refused, "{target}: {error}");
                assert_eq!(error.class(), ErrorClass::Terminal, "{target}: {error}");
            }
        }
        if !refused {
            listener.accept().await.unwrap();
        }
    }
    assert_eq!(answers.asked.load(Ordering::Relaxed), 2);
}

fn numbered(count: u8) -> Vec<SocketAddr> {
    (1..=count).map(|last| SocketAddr::from(([192, 0, 2, last], 443))).collect()
}

/// The last number of the address.
fn number(address: SocketAddr) -> u64 {
    match address.ip() {
        IpAddr::V4(address) => address.octets()[3].into(),
        IpAddr::V6(_) => 0,
    }
}

#[tokio::test(start_paused = true)]
async fn each_black_hole_costs_a_quarter_of_a_second() {
    let start = Instant::now();
    let winner = race::first(numbered(3), |address| async move {
        match number(address) {
            3 => Ok(address),
            _ => future::pending().await,
        }
    })
    .await;
    assert_eq!(number(winner.unwrap()), 3);
    assert_eq!(start.elapsed().as_millis(), 500);
}

#[tokio::test(start_paused = true)]
async fn a_slow_address_still_wins_if_the_others_are_slower() {
    let start = Instant::now();
    let winner = race::first(numbered(2), |address| async move {
        sleep(Duration::from_millis(400 * number(address))).await;
        Ok(address)
    })
    .await;
    assert_eq!(number(winner.unwrap()), 1);
    assert_eq!(start.elapsed().as_millis(), 400);
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_not_waited_out() {
    let start = Instant::now();
    let all: io::Result<()> =
        race::first(numbered(3), |_| async { Err(io::ErrorKind::ConnectionRefused.into()) }).await;
    let error = all.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    assert_eq!(
        error.to_string(),
        "192.0.2.1:443: connection refused; 192.0.2.2:443: connection refused; \
         192.0.2.3:443: connection refused"
    );
    assert_eq!(start.elapsed().as_millis(), 0);
}

#[tokio::test]
async fn a_name_with_very_many_addresses_is_not_tried_at_all_of_them() {
    let tried = AtomicUsize::new(0);
    let all: io::Result<()> = race::first(numbered(200), |_| {
        tried.fetch_add(1, Ordering::Relaxed);
        async { Err(io::ErrorKind::ConnectionRefused.into()) }
    })
    .await;
    all.unwrap_err();
    assert_eq!(tried.into_inner(), 16);
}

proptest! {
    #[test]
    fn an_address_gains_nothing_by_being_wrapped_in_another(bits: u32, private: bool) {
        let policy = policy(private, &["10.1.0.0/16"]);
        let plain = Ipv4Addr::from_bits(bits);
        let verdict = policy.address(plain.into());
        let [a, b, c, d] = plain.octets();
        let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
        let translated = Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low);
        let six_to_four = Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1);
        prop_assert_eq!(policy.address(plain.to_ipv6_mapped().into()), verdict);
        prop_assert_eq!(policy.address(translated.into()), verdict);
        prop_assert_eq!(policy.address(six_to_four.into()), Err(Denied::Reserved));
        for spelled in [format!("{bits}"), format!("{bits:#x}"), format!("0{bits:o}")] {
            prop_assert_eq!(policy.host(&spelled).map(drop), verdict);
        }
    }
}
