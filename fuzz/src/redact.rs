//! Any text, with a secret planted in it.

use kollect_expr::{Json, Projection, read};
use kollect_extract::redact::{Findings, Keys, redact as hide};

/// The first byte says which secret is planted, the next two where; the rest
/// is the text. The secret does not survive, and a second time nothing more is
/// found, whether the text stands alone, under a name, or is JSON itself.
pub fn redact(input: &[u8]) {
    let Some(([which, high, low], text)) = input.split_first_chunk() else { return };
    let Ok(text) = str::from_utf8(text) else { return };
    let keys = Keys::new(["pin"]);
    settle(Json::List(vec![Json::Text(text.into())]), &keys);
    settle(Json::map(vec![("note".into(), Json::Text(text.into()))]), &keys);
    if let Ok(json) = read(text.as_bytes(), &Projection::everything()) {
        settle(json, &keys);
    }
    let (secret, canary) = secret(*which);
    if text.contains(&canary) {
        // A fuzzer learns the secret, and plants it where nothing sets it apart.
        return;
    }
    let at = usize::from(u16::from_be_bytes([*high, *low])).checked_rem(text.len()).unwrap_or(0);
    let (before, after) = text.split_at(text.floor_char_boundary(at));
    let planted = format!("{before} {secret} {after}");
    let left = settle(Json::Map(vec![("note".into(), Json::Text(planted.clone().into()))]), &keys);
    assert!(!left.contains(&canary), "{canary} survives in {left}, planted in {planted}");
}

/// Redacts until nothing more is found, which is at once.
fn settle(mut value: Json<'_>, keys: &Keys) -> String {
    let mut found = Findings::default();
    hide(&mut value, keys, &mut found);
    let once = value.clone();
    let mut found = Findings::default();
    hide(&mut value, keys, &mut found);
    assert_eq!(value, once, "the second time more is hidden");
    assert_eq!(found, Findings::default(), "the second time more is found in {once:?}");
    once.to_value().to_string()
}

/// A secret, and the part of it that gives it away. It is put together here
/// because one that stands in a file is a find for those who look for leaks.
fn secret(which: u8) -> (String, String) {
    let body = "Zx81kQ0vRt93LmPa72WcYd45HsBn60UeJf1G";
    let key = "AKIA".to_owned() + "Q7ZP2LXK9WVM4TRB";
    let whole = match which % 5 {
        0 => format!("ghp_{body}"),
        1 => key,
        2 => format!("glpat-{}", body.split_at(20).0),
        3 => format!("xoxb-123456789012-1234567890123-{}", body.split_at(24).0),
        _ => {
            let line = body.repeat(2);
            let edge = |word: &str| format!("-----{word} RSA PRIVATE KEY-----");
            let block = format!("{}\n{line}\n{line}\n{}", edge("BEGIN"), edge("END"));
            return (block, line);
        }
    };
    (whole.clone(), whole)
}
