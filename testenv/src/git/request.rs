//! Requests as far as Git's clients make them.

use std::io::{self, BufRead, Read as _};

/// A request that has been read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: String,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// Reads the next request; nothing if the client has hung up.
    pub(crate) fn read(input: &mut impl BufRead) -> io::Result<Option<Self>> {
        let Some(first) = line(input)? else { return Ok(None) };
        let mut words = first.split(' ');
        let mut word = || words.next().unwrap_or_default().to_owned();
        let (method, target) = (word(), word());
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let mut request =
            Self { method, path: path.to_owned(), query: query.to_owned(), ..Self::default() };
        while let Some(header) = line(input)?.filter(|line| !line.is_empty()) {
            if let Some((name, value)) = header.split_once(':') {
                request.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
            }
        }
        if request.header("transfer-encoding") == Some("chunked") {
            request.body = chunks(input)?;
        } else if let Some(length) = request.header("content-length") {
            let length = length.parse().map_err(io::Error::other)?;
            input.take(length).read_to_end(&mut request.body)?;
        }
        Ok(Some(request))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

fn line(input: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = String::new();
    let read = input.read_line(&mut line)?;
    Ok((read > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned()))
}

fn chunks(input: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let length = line(input)?.unwrap_or_default();
        let length = u64::from_str_radix(length.trim(), 16).map_err(io::Error::other)?;
        input.take(length).read_to_end(&mut body)?;
        line(input)?;
        if length == 0 {
            return Ok(body);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_of_both_kinds_are_read() {
        let text = "POST /a?b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n\
            PUT /c HTTP/1.1\r\nContent-Length: 2\r\nX: y\r\n\r\nde";
        let mut input = text.as_bytes();
        let first = Request::read(&mut input).unwrap().unwrap();
        assert_eq!((first.path.as_str(), first.query.as_str()), ("/a", "b"));
        assert_eq!(first.body, b"abc");
        let second = Request::read(&mut input).unwrap().unwrap();
        assert_eq!((second.body.as_slice(), second.header("x")), (&b"de"[..], Some("y")));
        assert_eq!(Request::read(&mut input).unwrap(), None);
    }
}
