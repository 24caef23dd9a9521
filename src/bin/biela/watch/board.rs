//! What the browser is to show: the page of the last run, and what is wrong with the file now.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

/// What is wrong with the file.
pub struct FileProblem {
    /// The message, one mistake on each line.
    pub sentence: String,
    places: Vec<Value>,
}

impl FileProblem {
    /// Of a text and the message about it. Places are read off the message: `file:line:column: what`.
    pub fn new(sentence: &str, text: &str) -> Self {
        let places = sentence.lines().filter_map(|line| place(line, text));
        Self {
            sentence: sentence.to_owned(),
            places: places.collect(),
        }
    }
}

fn place(message: &str, text: &str) -> Option<Value> {
    let (head, what) = message.split_once(": ")?;
    let mut parts = head.rsplitn(3, ':');
    let column: usize = parts.next()?.parse().ok()?;
    let line: usize = parts.next()?.parse().ok()?;
    let shown = text.lines().nth(line.checked_sub(1)?).unwrap_or("");
    Some(json!({ "line": line, "column": column, "message": what, "text": shown }))
}

#[derive(Default)]
struct Content {
    /// Counts all changes.
    serial: u64,
    /// Counts pages.
    pages: u64,
    page: Option<Arc<String>>,
    /// Whether the page shows a run.
    shows_run: bool,
    problem: Option<FileProblem>,
    running: bool,
}

/// The board, written by the runs and read by the server.
pub struct Board {
    content: Mutex<Content>,
    changed: Condvar,
    /// Tells the pages of this program from those of an earlier one on the same port.
    start: u128,
}

impl Board {
    /// An empty one.
    pub fn new() -> Self {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Self {
            content: Mutex::default(),
            changed: Condvar::new(),
            start: now.map_or(0, |now| now.as_nanos()),
        }
    }

    fn version(&self, pages: u64) -> String {
        format!("{:x}-{pages}", self.start)
    }

    /// Changes the content and tells everybody who waits.
    fn change(&self, act: impl FnOnce(&mut Content)) {
        let mut content = self.lock();
        act(&mut content);
        content.serial += 1;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Content> {
        // A thread that panicked has not left the content half written: every change is one assignment after the other.
        self.content
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// A run has begun.
    pub fn running(&self) {
        self.change(|content| content.running = true);
    }

    /// A run has given a page; it is made with its version.
    pub fn publish(&self, page: impl FnOnce(&str) -> String) {
        let pages = self.lock().pages + 1;
        let page = Arc::new(page(&self.version(pages)));
        self.change(|content| {
            content.pages = pages;
            content.page = Some(page);
            content.shows_run = true;
            content.problem = None;
            content.running = false;
        });
    }

    /// The file cannot be simulated. The page of the last run stays; if there is none, `page` is shown.
    pub fn object(&self, problem: FileProblem, page: impl FnOnce(&str) -> String) {
        let (pages, shows_run) = {
            let content = self.lock();
            (content.pages + 1, content.shows_run)
        };
        let page = (!shows_run).then(|| Arc::new(page(&self.version(pages))));
        self.change(|content| {
            if let Some(page) = page {
                content.pages = pages;
                content.page = Some(page);
            }
            content.problem = Some(problem);
            content.running = false;
        });
    }

    /// The page, once there is one.
    pub fn page(&self, patience: Duration) -> Option<Arc<String>> {
        let waiting = self
            .changed
            .wait_timeout_while(self.lock(), patience, |content| content.page.is_none());
        waiting.map_or(None, |(content, _)| content.page.clone())
    }

    /// The state as JSON, after a change beyond `serial` or when patience ends.
    pub fn state(&self, serial: u64, patience: Duration) -> String {
        let waiting = self
            .changed
            .wait_timeout_while(self.lock(), patience, |content| content.serial == serial);
        let Ok((content, _)) = waiting else {
            return "{}".to_owned();
        };
        let problem = content.problem.as_ref().map(|problem| {
            json!({
                "title": match problem.places.len() {
                    0 => "The model cannot be run".to_owned(),
                    1 => "The model file has a mistake".to_owned(),
                    n => format!("The model file has {n} mistakes"),
                },
                "sentence": problem.sentence,
                "places": problem.places,
                "shown": content.shows_run,
            })
        });
        json!({
            "serial": content.serial,
            "version": self.version(content.pages),
            "running": content.running,
            "problem": problem,
        })
        .to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(board: &Board) -> Value {
        serde_json::from_str(&board.state(u64::MAX, Duration::ZERO)).unwrap()
    }

    #[test]
    fn a_problem_leaves_the_last_run_on_the_board_and_a_run_takes_it_away() {
        let board = Board::new();
        assert!(board.page(Duration::ZERO).is_none());
        board.publish(|version| version.to_owned());
        let good = state(&board)["version"].clone();
        assert_eq!(*board.page(Duration::ZERO).unwrap(), good.as_str().unwrap());
        let text = "a = 1\nmass = \"x\"\n";
        let problem = FileProblem::new("dir/m.toml:2:8: expected a number\nand more", text);
        board.object(problem, |_| unreachable!("there is a page"));
        let now = state(&board);
        assert_eq!(now["version"], good);
        assert_eq!(
            now["problem"]["places"],
            json!([{ "line": 2, "column": 8, "message": "expected a number", "text": "mass = \"x\"" }])
        );
        board.running();
        assert_eq!(state(&board)["running"], true);
        board.publish(|version| version.to_owned());
        let now = state(&board);
        assert!(now["problem"].is_null() && now["version"] != good && now["running"] == false);
    }

    #[test]
    fn a_file_that_is_wrong_from_the_start_has_a_page_too() {
        let board = Board::new();
        board.object(FileProblem::new("cannot read \"x\": gone", ""), |version| {
            version.to_owned()
        });
        assert!(board.page(Duration::ZERO).is_some());
        let now = state(&board);
        assert_eq!(now["problem"]["title"], "The model cannot be run");
        assert_eq!(now["problem"]["shown"], false);
    }
}
