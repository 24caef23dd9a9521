//! `biela watch`: a page on loopback that follows its file.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::driver::{Browser, Graphics};
use super::support::{repository, written};

/// How long a run and the look at the file may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running `biela watch`.
struct Watch {
    program: Child,
    port: u16,
}

impl Watch {
    fn start(model: &Path) -> Self {
        let mut program = Command::new(env!("CARGO_BIN_EXE_biela"))
            .arg("watch")
            .arg(model)
            .args(["--port", "0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
        let first = lines.next().unwrap().unwrap();
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        let (_, address) = first.split_once("http://127.0.0.1:").unwrap();
        let port = address.trim_end_matches('/').parse().unwrap();
        Self { program, port }
    }

    fn address(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// Status line and body.
    fn request(&self, method: &str, path: &str, host: &str) -> (String, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        write!(stream, "{method} {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), body.to_owned())
    }

    fn get(&self, path: &str) -> (String, String) {
        self.request("GET", path, &format!("127.0.0.1:{}", self.port))
    }

    /// The first state for which `holds`.
    fn until(&self, holds: impl Fn(&Value) -> bool) -> Value {
        let began = Instant::now();
        let mut serial = 0;
        loop {
            let state: Value =
                serde_json::from_str(&self.get(&format!("/state?after={serial}")).1).unwrap();
            if state["running"] == false && holds(&state) {
                return state;
            }
            assert!(began.elapsed() < PATIENCE, "{state}");
            serial = state["serial"].as_u64().unwrap();
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

fn crank() -> String {
    std::fs::read_to_string(repository("models/slider_crank.toml")).unwrap()
}

fn saved(path: &PathBuf, text: &str) {
    std::fs::write(path, text).unwrap();
}

#[test]
fn mistakes_are_told_with_line_and_column_until_they_are_mended() {
    let text = crank();
    let path = written("watched.toml", &text);
    let watch = Watch::start(&path);
    let (head, page) = watch.get("/");
    assert!(
        head.starts_with("HTTP/1.1 200") && head.contains("text/html"),
        "{head}"
    );
    assert!(page.contains("connect-src 'self'") && page.contains("default-src 'none'"));
    let good = watch.until(|state| state["problem"].is_null());
    assert!(page.contains(&format!(
        "data-live=\"{}\"",
        good["version"].as_str().unwrap()
    )));

    let wrong = text.replacen("\nmass = ", "\nmass = -", 1);
    let line = 1 + wrong
        .lines()
        .position(|l| l.starts_with("mass = -"))
        .unwrap();
    saved(&path, &wrong);
    let bad = watch.until(|state| !state["problem"].is_null());
    let place = &bad["problem"]["places"][0];
    assert_eq!(place["line"], line, "{bad}");
    assert_eq!(place["column"], 8, "{bad}");
    assert!(place["text"].as_str().unwrap().starts_with("mass = -"));
    // The last run stays.
    assert_eq!(bad["version"], good["version"]);

    saved(&path, &text);
    let mended = watch.until(|state| state["problem"].is_null());
    assert_ne!(mended["version"], good["version"]);

    std::fs::remove_file(&path).unwrap();
    let gone = watch.until(|state| !state["problem"].is_null());
    assert!(
        gone["problem"]["sentence"]
            .as_str()
            .unwrap()
            .contains("watched.toml")
    );
    saved(&path, &text);
    watch.until(|state| state["problem"].is_null());
}

#[test]
fn a_save_ends_a_long_run() {
    let text = crank();
    let path = written(
        "watched_long.toml",
        &text.replace("stop = 2.0", "stop = 1e7"),
    );
    assert_ne!(std::fs::read_to_string(&path).unwrap(), text);
    let watch = Watch::start(&path);
    std::thread::sleep(Duration::from_millis(500));
    saved(&path, &text);
    watch.until(|state| state["problem"].is_null());
    assert!(watch.get("/").1.contains("stop = 2.0"));
}

#[test]
fn only_this_computer_is_answered() {
    let path = written("watched_alone.toml", &crank());
    let watch = Watch::start(&path);
    let own = format!("127.0.0.1:{}", watch.port);
    for (method, target, host, status) in [
        ("GET", "/", own.as_str(), "200"),
        ("GET", "/", &format!("localhost:{}", watch.port), "200"),
        ("GET", "/", "evil.example", "403"),
        ("GET", "/state", "evil.example", "403"),
        ("POST", "/", &own, "405"),
        ("GET", "/../Cargo.toml", &own, "404"),
        ("GET", "/favicon.ico", &own, "204"),
        ("nonsense", "", "", "400"),
    ] {
        let (head, _) = watch.request(method, target, host);
        assert!(
            head.starts_with(&format!("HTTP/1.1 {status}")),
            "{method} {target} {host}: {head}"
        );
        assert!(!head.to_lowercase().contains("access-control-allow"));
    }
    // No packet is sent: this only asks which address would be used.
    let outside = UdpSocket::bind("0.0.0.0:0").and_then(|socket| {
        socket.connect("192.0.2.1:9")?;
        socket.local_addr()
    });
    match outside.map(|address| address.ip()) {
        Ok(IpAddr::V4(ip)) if !ip.is_loopback() && !ip.is_unspecified() => {
            assert!(
                TcpStream::connect((ip, watch.port)).is_err(),
                "{ip} is answered"
            );
        }
        _ => eprintln!("SKIP: this computer has no other address than loopback"),
    }
}

#[test]
fn a_file_that_cannot_be_read_is_an_error_at_once() {
    let output = Command::new(env!("CARGO_BIN_EXE_biela"))
        .args(["watch", "no_such_model.toml"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no_such_model.toml"));
}

#[test]
fn the_browser_keeps_time_and_view_over_a_run() {
    let text = crank();
    let path = written("watched_browser.toml", &text);
    let watch = Watch::start(&path);
    let Some(browser) = Browser::start(Graphics::None, 1200, 800) else {
        return;
    };
    browser.visit(&watch.address());
    let version = browser.run("return document.documentElement.dataset.live");
    browser.run(
        "biela.seek(0.75); document.querySelector('[data-view=iso]').click(); \
         document.querySelector('[data-group=reactions]').click();",
    );
    saved(&path, &text.replacen("[[body]]", "[[boddy]]", 1));
    browser.until("return document.getElementById('problem') !== null");
    let told = browser.run("return document.getElementById('problem').innerText");
    let line = 1 + text.lines().position(|l| l == "[[body]]").unwrap();
    let told = told.as_str().unwrap();
    assert!(
        told.contains(&format!("line {line}, column")) && told.contains("boddy"),
        "{told}"
    );
    assert_eq!(browser.number("return biela.time()"), 0.75);

    saved(&path, &format!("{text}\n# mended\n"));
    browser.until(&format!(
        "return document.documentElement.dataset.live !== {version} && document.documentElement.dataset.ready === 'yes'"
    ));
    assert_eq!(
        browser.run("return document.getElementById('problem') === null"),
        true
    );
    assert_eq!(browser.number("return biela.time()"), 0.75);
    assert_eq!(
        browser.run("return document.getElementById('stage').dataset.tilted"),
        "yes"
    );
    assert_eq!(
        browser.run("return document.querySelector('[data-group=reactions]').checked"),
        true
    );
    let shown = browser.run("return document.getElementById('text').textContent");
    assert!(shown.as_str().unwrap().contains("# mended"));
    assert!(browser.messages().is_empty());
}
