//! A browser, driven through the WebDriver protocol of `chromedriver`: JSON over HTTP, one request at a time.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How a browser draws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Graphics {
    /// WebGL computed by the processor.
    SoftwareWebgl,
    /// No WebGL at all.
    None,
}

/// A browser of its own, with a profile of its own.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    profile: PathBuf,
}

/// How long a page may take for what a script waits for.
const PATIENCE: Duration = Duration::from_secs(60);

impl Browser {
    /// Starts one; `None` and a SKIP line where there is none.
    pub fn start(graphics: Graphics, width: u32, height: u32) -> Option<Self> {
        let started = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut driver = match started {
            Ok(driver) => driver,
            Err(error) => {
                eprintln!(
                    "SKIP: the page is not opened in a browser, chromedriver does not start: {error}"
                );
                return None;
            }
        };
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = lines.by_ref().map_while(Result::ok).find_map(|line| {
            let (_, after) = line.split_once("successfully on port ")?;
            after.trim_end_matches('.').parse().ok()
        });
        // What it says later is read too, or it would wait for a reader.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let profile = super::support::scratch(&format!("profile{}-{number}", std::process::id()));
        let mut browser = Self {
            driver,
            port: port.expect("chromedriver tells its port"),
            session: String::new(),
            profile,
        };
        let capabilities = browser.capabilities(graphics, width, height);
        match browser.request("POST", "/session", Some(capabilities)) {
            Ok(session) => browser.session = session["sessionId"].as_str().unwrap().to_owned(),
            Err(error) => {
                eprintln!("SKIP: the page is not opened in a browser, it does not start: {error}");
                return None;
            }
        }
        browser.command(
            "Emulation.setDeviceMetricsOverride",
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false }),
        );
        Some(browser)
    }

    fn capabilities(&self, graphics: Graphics, width: u32, height: u32) -> Value {
        let mut arguments = vec![
            "--headless".to_owned(),
            "--no-sandbox".to_owned(),
            "--disable-gpu".to_owned(),
            "--disable-quic".to_owned(),
            "--no-first-run".to_owned(),
            "--disable-background-networking".to_owned(),
            "--disable-component-update".to_owned(),
            "--disable-sync".to_owned(),
            format!("--user-data-dir={}", self.profile.display()),
            format!("--window-size={width},{height}"),
        ];
        arguments.push(
            match graphics {
                Graphics::SoftwareWebgl => "--enable-unsafe-swiftshader",
                Graphics::None => "--disable-3d-apis",
            }
            .to_owned(),
        );
        json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": { "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
            "timeouts": { "script": 60_000 },
        } } })
    }

    /// Opens a file and waits until the page is ready.
    pub fn open(&self, page: &Path, fragment: &str) {
        self.visit(&format!("file://{}{fragment}", page.display()));
    }

    /// Opens an address and waits until the page is ready.
    pub fn visit(&self, address: &str) {
        self.post("/url", json!({ "url": address }));
        let ready =
            self.wait("biela.ready.then(() => done('ready'), (e) => done(String(e.stack)))");
        assert_eq!(ready, "ready");
    }

    /// Value of a script that ends with `return`.
    pub fn run(&self, script: &str) -> Value {
        self.post("/execute/sync", json!({ "script": script, "args": [] }))
    }

    /// Value of a script that calls `done`.
    pub fn wait(&self, script: &str) -> Value {
        let script = format!("const done = arguments[0]; {script}");
        self.post("/execute/async", json!({ "script": script, "args": [] }))
    }

    /// A number from a script.
    pub fn number(&self, script: &str) -> f64 {
        let value = self.run(script);
        value
            .as_f64()
            .unwrap_or_else(|| panic!("{script}: {value}"))
    }

    /// Waits until a script returns true.
    pub fn until(&self, script: &str) {
        let began = Instant::now();
        while self.run(script) != true {
            assert!(began.elapsed() < PATIENCE, "never true: {script}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Presses the mouse at one point, moves to another, releases it.
    pub fn drag(&self, from: [f64; 2], to: [f64; 2]) {
        let at = |p: [f64; 2]| json!({ "type": "pointerMove", "duration": 20, "x": p[0].round(), "y": p[1].round() });
        let button = |what: &str| json!({ "type": what, "button": 0 });
        let actions = json!([at(from), button("pointerDown"), at(to), button("pointerUp")]);
        self.post(
            "/actions",
            json!({ "actions": [{ "type": "pointer", "id": "mouse", "parameters": { "pointerType": "mouse" }, "actions": actions }] }),
        );
    }

    /// Presses and releases a key.
    pub fn key(&self, key: &str) {
        let key = match key {
            "Tab" => "\u{e004}",
            "Home" => "\u{e011}",
            "End" => "\u{e010}",
            "Left" => "\u{e012}",
            "Right" => "\u{e014}",
            other => other,
        };
        let actions =
            json!([{ "type": "keyDown", "value": key }, { "type": "keyUp", "value": key }]);
        self.post(
            "/actions",
            json!({ "actions": [{ "type": "key", "id": "keys", "actions": actions }] }),
        );
    }

    /// Messages on the console since the last call.
    pub fn messages(&self) -> Vec<String> {
        let entries = self.post("/se/log", json!({ "type": "browser" }));
        let texts = entries.as_array().unwrap().iter();
        texts.map(|entry| entry["message"].to_string()).collect()
    }

    /// Addresses that were requested since the last call.
    pub fn requests(&self) -> Vec<String> {
        let entries = self.post("/se/log", json!({ "type": "performance" }));
        let mut found = Vec::new();
        for entry in entries.as_array().unwrap() {
            let event: Value = serde_json::from_str(entry["message"].as_str().unwrap()).unwrap();
            if event["message"]["method"] == "Network.requestWillBeSent" {
                let address = &event["message"]["params"]["request"]["url"];
                found.push(address.as_str().unwrap().to_owned());
            }
        }
        found
    }

    /// Colours and medium that the page is asked for.
    pub fn prefer(&self, scheme: &str) {
        self.command(
            "Emulation.setEmulatedMedia",
            json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] }),
        );
    }

    /// A command of the developer tools.
    pub fn command(&self, name: &str, parameters: Value) -> Value {
        self.post(
            "/goog/cdp/execute",
            json!({ "cmd": name, "params": parameters }),
        )
    }

    fn post(&self, path: &str, body: Value) -> Value {
        let path = format!("/session/{}{path}", self.session);
        self.request("POST", &path, Some(body))
            .unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    fn request(&self, method: &str, path: &str, body: Option<Value>) -> Result<Value, String> {
        let body = body.map_or(String::new(), |value| value.to_string());
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).map_err(|e| e.to_string())?;
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n",
            self.port,
            body.len()
        );
        stream
            .write_all(format!("{head}{body}").as_bytes())
            .and_then(|()| answer_of(stream))
            .map_err(|e| e.to_string())
            .and_then(|text| value_of(&text))
    }
}

/// Body of an HTTP answer; the connection stays open after it.
fn answer_of(stream: TcpStream) -> std::io::Result<String> {
    let mut reader = BufReader::new(stream);
    let (mut line, mut length) = (String::new(), 0);
    while reader.read_line(&mut line)? > 2 {
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().map_err(std::io::Error::other)?;
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(String::from_utf8_lossy(&body).into_owned())
}

/// Value of an answer, or the error that it tells.
fn value_of(text: &str) -> Result<Value, String> {
    let value: Value = serde_json::from_str(text).map_err(|e| format!("{e}: {text}"))?;
    match value["value"]["error"].as_str() {
        Some(error) => Err(format!("{error}: {}", value["value"]["message"])),
        None => Ok(value["value"].clone()),
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            let _ = self.request("DELETE", &format!("/session/{}", self.session), None);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}
