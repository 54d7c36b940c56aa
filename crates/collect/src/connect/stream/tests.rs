use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
    select,
    time::sleep,
};

use super::*;

/// Our end, and the other.
async fn pair() -> (TokioIo<Stream>, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    #[expect(clippy::disallowed_methods, reason = "a listener of this test")]
    let (ours, theirs) = tokio::join!(TcpStream::connect(address), listener.accept());
    (TokioIo::new(Stream::new(TokioIo::new(ours.unwrap()))), theirs.unwrap().0)
}

fn is_told(stream: &TokioIo<Stream>) -> bool {
    matches!(stream.inner().socket, Socket::Told(_))
}

/// Bytes of which no part is like another.
fn bytes(count: usize) -> Vec<u8> {
    (0..count).map(|at| u8::try_from((at ^ (at >> 8) ^ (at >> 16)) & 0xff).unwrap()).collect()
}

#[tokio::test]
async fn many_waits_within_a_short_time_are_too_many() {
    let begin = Instant::now();
    let mut waits = Waits { since: begin, count: 0 };
    let mut after = |micros: u64| waits.one_more(begin + Duration::from_micros(micros));
    for wait in 1..16 {
        assert!(!after(wait * 400), "{wait}");
    }
    assert!(after(6_400));
    // The next ones are as many, but take their time.
    for wait in 1..=16 {
        assert!(!after(6_400 + wait * 600), "{wait}");
    }
}

#[tokio::test]
async fn what_arrives_by_drops_and_by_floods_arrives_whole_and_in_order() {
    let sent = bytes(4_000_000);
    for looked_at in [false, true] {
        let (mut ours, mut theirs) = pair().await;
        if looked_at {
            ours.inner_mut().look().unwrap();
        }
        let copy = sent.clone();
        let sending = tokio::spawn(async move {
            let sizes = [1, 7_000, 100_000, 4_096, 300, 65_536, 65_537, 1_000_000];
            let (mut rest, mut sizes) = (&copy[..], sizes.iter().cycle());
            while !rest.is_empty() {
                let (piece, after) = rest.split_at(rest.len().min(*sizes.next().unwrap()));
                theirs.write_all(piece).await.unwrap();
                tokio::task::yield_now().await;
                rest = after;
            }
        });
        let mut received = Vec::new();
        for size in [4_096, 1, 16_000, 70_000].into_iter().cycle() {
            let mut buffer = vec![0; size];
            let read = ours.read(&mut buffer).await.unwrap();
            if read == 0 {
                break;
            }
            received.extend_from_slice(&buffer[..read]);
        }
        sending.await.unwrap();
        assert!(received == sent, "{} of {} bytes", received.len(), sent.len());
    }
}

#[tokio::test(start_paused = true)]
async fn who_looks_in_vain_is_told_again() {
    let (mut ours, mut theirs) = pair().await;
    ours.inner_mut().look().unwrap();
    let mut buffer = [0; 8];
    select! {
        read = ours.read(&mut buffer) => panic!("{read:?}"),
        () = sleep(LOOK * 2) => {}
    }
    assert!(!is_told(&ours), "a short silence is none");
    select! {
        read = ours.read(&mut buffer) => panic!("{read:?}"),
        () = sleep(LOOK * 100) => {}
    }
    assert!(is_told(&ours));
    theirs.write_all(b"news").await.unwrap();
    assert_eq!(ours.read(&mut buffer).await.unwrap(), 4);
}

#[tokio::test]
async fn what_is_sent_while_looking_arrives_whole() {
    let (mut ours, mut theirs) = pair().await;
    ours.inner_mut().look().unwrap();
    let sent = bytes(8_000_000);
    let receiving = tokio::spawn(async move {
        let mut received = Vec::new();
        theirs.read_to_end(&mut received).await.unwrap();
        received
    });
    ours.write_all(&sent).await.unwrap();
    ours.shutdown().await.unwrap();
    assert!(receiving.await.unwrap() == sent);
}

#[tokio::test]
async fn an_end_is_one_either_way() {
    for looked_at in [false, true] {
        let (mut ours, theirs) = pair().await;
        if looked_at {
            ours.inner_mut().look().unwrap();
        }
        drop(theirs);
        assert_eq!(ours.read(&mut [0; 8]).await.unwrap(), 0);
    }
}
