//! A small HTTP server on the loopback address: the page, and its state. Requests under another name than that of this
//! computer are refused, so that no page of the web can read it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use super::board::Board;
use crate::Failure;

/// The port, if it is free and no other was asked for.
const PORT: u16 = 8642;
/// Longest head of a request (bytes).
const LONGEST_HEAD: u64 = 16 * 1024;
/// How long a request may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(10);
/// How long an answer about the state waits for a change.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long an answer waits for the first page.
const FIRST_PAGE: Duration = Duration::from_secs(600);

/// Listens on 127.0.0.1 only.
pub fn listen(port: Option<u16>) -> Result<TcpListener, Failure> {
    let at = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    match port {
        Some(port) => at(port),
        None => at(PORT).or_else(|_| at(0)),
    }
    .map_err(|error| {
        let port = port.map_or(String::new(), |port| format!(":{port}"));
        Failure::Input(format!("cannot listen on 127.0.0.1{port}: {error}"))
    })
}

/// Answers requests on threads of their own.
pub fn start(listener: TcpListener, board: Arc<Board>) {
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let board = Arc::clone(&board);
            // A browser that goes away in the middle of an answer is no failure.
            std::thread::spawn(move || answer(stream, &board).ok());
        }
    });
}

fn answer(mut stream: TcpStream, board: &Board) -> std::io::Result<()> {
    stream.set_read_timeout(Some(ARRIVAL))?;
    let own_port = stream.local_addr()?.port();
    let mut reader = BufReader::new((&stream).take(LONGEST_HEAD));
    let Some(request) = Request::read(&mut reader)? else {
        return respond(
            &mut stream,
            "400 Bad Request",
            "text/plain",
            "bad request\n",
        );
    };
    if !request.is_for(own_port) {
        return respond(
            &mut stream,
            "403 Forbidden",
            "text/plain",
            "not this host\n",
        );
    }
    if request.method != "GET" {
        return respond(
            &mut stream,
            "405 Method Not Allowed",
            "text/plain",
            "only GET\n",
        );
    }
    let (path, query) = request
        .target
        .split_once('?')
        .unwrap_or((&request.target, ""));
    match path {
        "/" => match board.page(FIRST_PAGE) {
            Some(page) => respond(&mut stream, "200 OK", "text/html; charset=utf-8", &page),
            None => respond(
                &mut stream,
                "503 Service Unavailable",
                "text/plain",
                "still running\n",
            ),
        },
        "/state" => {
            let serial = query.strip_prefix("after=").and_then(|n| n.parse().ok());
            let state = board.state(serial.unwrap_or(0), PATIENCE);
            respond(&mut stream, "200 OK", "application/json", &state)
        }
        // Browsers ask for it; the page has none.
        "/favicon.ico" => respond(&mut stream, "204 No Content", "image/x-icon", ""),
        _ => respond(&mut stream, "404 Not Found", "text/plain", "not found\n"),
    }
}

/// The head of a request.
struct Request {
    method: String,
    target: String,
    host: String,
}

impl Request {
    /// `None` if it is not HTTP.
    fn read(reader: &mut impl BufRead) -> std::io::Result<Option<Self>> {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let mut words = line.split_whitespace();
        let (Some(method), Some(target), Some(version)) =
            (words.next(), words.next(), words.next())
        else {
            return Ok(None);
        };
        if !version.starts_with("HTTP/1.") {
            return Ok(None);
        }
        let (method, target, mut host) = (method.to_owned(), target.to_owned(), String::new());
        loop {
            line.clear();
            if reader.read_line(&mut line)? == 0 {
                return Ok(None); // ended or too long
            }
            if line.trim_end().is_empty() {
                return Ok(Some(Self {
                    method,
                    target,
                    host,
                }));
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("host")
            {
                host = value.trim().to_ascii_lowercase();
            }
        }
    }

    /// Was the address of this server written in the browser, or its local name?
    fn is_for(&self, port: u16) -> bool {
        ["127.0.0.1", "localhost"]
            .iter()
            .any(|name| self.host == format!("{name}:{port}"))
    }
}

fn respond(stream: &mut TcpStream, status: &str, kind: &str, body: &str) -> std::io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nCross-Origin-Resource-Policy: same-origin\r\nX-Frame-Options: DENY\r\n\
         Referrer-Policy: no-referrer\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())?;
    stream.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(text: &str) -> Option<Request> {
        Request::read(&mut text.as_bytes()).unwrap()
    }

    #[test]
    fn requests_under_a_foreign_name_are_told_from_ours() {
        let own = request("GET / HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n").unwrap();
        assert!(own.is_for(80) && !own.is_for(81));
        assert!(
            request("GET / HTTP/1.1\r\nhost: LocalHost:80\r\n\r\n")
                .unwrap()
                .is_for(80)
        );
        assert!(
            !request("GET / HTTP/1.1\r\nHost: evil.example:80\r\n\r\n")
                .unwrap()
                .is_for(80)
        );
        assert!(!request("GET / HTTP/1.1\r\n\r\n").unwrap().is_for(80));
        for text in ["", "GET /\r\n\r\n", "GET / HTTP/1.1\r\nHost: x", "\r\n"] {
            assert!(request(text).is_none(), "{text:?}");
        }
    }
}
