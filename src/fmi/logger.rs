//! Messages to the importer. Errors and discarded steps are always logged, other messages if their category is switched on.

use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use super::types::{FmiStatus, fmi2CallbackLogger, fmi3LogMessageCallback};
use crate::component::{LogCategory, LogLevel, Logger as ComponentLogger};
use crate::error::{Error, Result};
use crate::ffi::float_environment::in_host_environment;
use crate::ffi::pointer::{self, c_string};

/// Category of a log message, as the model description lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FmiLogCategory {
    /// Failed calls.
    Error,
    /// Steps that ended before their communication point.
    Discard,
    /// Legal, but probably not intended.
    Warning,
    /// Assembly, events, jumps of inputs.
    Events,
    /// Details of steps.
    Debug,
}

/// Name of all categories together.
const ALL: &str = "logAll";

impl FmiLogCategory {
    /// In the order of the model description.
    pub const EACH: [Self; 5] = [
        Self::Error,
        Self::Discard,
        Self::Warning,
        Self::Events,
        Self::Debug,
    ];

    /// The name; standardised if the standards define one.
    pub fn name(self) -> &'static CStr {
        match self {
            Self::Error => c"logStatusError",
            Self::Discard => c"logStatusDiscard",
            Self::Warning => c"logStatusWarning",
            Self::Events => c"logEvents",
            Self::Debug => c"logDebug",
        }
    }

    /// The description in the model description.
    pub fn description(self) -> &'static str {
        match self {
            Self::Error => "Failed calls; always on",
            Self::Discard => "Steps that ended before their communication point; always on",
            Self::Warning => "Legal, but probably not intended",
            Self::Events => "Assembly at the start, events",
            Self::Debug => "Details of steps",
        }
    }

    /// Name and description of all categories together.
    pub fn all() -> (&'static str, &'static str) {
        (ALL, "All categories")
    }

    fn bit(self) -> u8 {
        1 << self as u8
    }

    fn always_on(self) -> bool {
        matches!(self, Self::Error | Self::Discard)
    }
}

/// The category names that an importer passes.
///
/// # Safety
/// `names` points to `count` C strings.
pub(super) unsafe fn categories<'a>(
    count: usize,
    names: *const *const c_char,
) -> Result<Vec<&'a str>> {
    // SAFETY: the caller's promise.
    let names = unsafe { pointer::slice("categories", names, count)? };
    let text = |name: &*const c_char| {
        // SAFETY: the caller's promise.
        unsafe { pointer::text("category", *name) }
    };
    names.iter().map(text).collect()
}

/// Destination of messages.
#[derive(Clone, Copy, Debug)]
pub(super) enum LogSink {
    /// The logger of an FMI 2 importer, if it has one, and its environment.
    Two(Option<fmi2CallbackLogger>, *mut c_void),
    /// The logger of an FMI 3 importer, if it has one, and its environment.
    Three(Option<fmi3LogMessageCallback>, *mut c_void),
}

/// The importer's logger and the categories that are on. Clones share both: the FMU and its component have one each.
#[derive(Clone, Debug)]
pub(super) struct FmiLogger(Arc<SharedLogger>);

#[derive(Debug)]
struct SharedLogger {
    sink: LogSink,
    name: CString,
    /// Bits of the categories that are on.
    enabled: AtomicU8,
}

// SAFETY: the environment is only passed back to the importer's function, on the thread of the importer's call.
unsafe impl Send for SharedLogger {}
// SAFETY: as above; the rest is atomic or never changes.
unsafe impl Sync for SharedLogger {}

impl FmiLogger {
    /// For the instance called `name`.
    pub fn new(sink: LogSink, name: &CStr, on: bool) -> Self {
        Self(Arc::new(SharedLogger {
            sink,
            name: name.to_owned(),
            enabled: AtomicU8::new(if on { u8::MAX } else { 0 }),
        }))
    }

    /// Is the category on?
    pub fn enabled(&self, category: FmiLogCategory) -> bool {
        category.always_on() || self.0.enabled.load(Ordering::Relaxed) & category.bit() != 0
    }

    /// Switches the named categories on or off; all of them if none is named.
    pub fn switch(&self, on: bool, categories: &[&str]) -> Result<()> {
        let mut mask = if categories.is_empty() { u8::MAX } else { 0 };
        for name in categories {
            let named = FmiLogCategory::EACH
                .into_iter()
                .find(|c| c.name().to_bytes() == name.as_bytes());
            mask |= match named {
                Some(category) => category.bit(),
                None if *name == ALL => u8::MAX,
                None => {
                    return Err(Error::Argument {
                        name: "log category".to_owned(),
                        value: format!("\"{name}\""),
                        expected: "one of the model description's".to_owned(),
                    });
                }
            };
        }
        self.0
            .enabled
            .store(if on { mask } else { 0 }, Ordering::Relaxed);
        Ok(())
    }

    /// A logger for the component, if any of its messages would be logged. Its errors are logged by the gate.
    pub fn for_component(&self) -> Option<ComponentLogger> {
        let level = if self.enabled(FmiLogCategory::Debug) {
            LogLevel::Debug
        } else if self.enabled(FmiLogCategory::Events) {
            LogLevel::Info
        } else if self.enabled(FmiLogCategory::Warning) {
            LogLevel::Warning
        } else {
            return None;
        };
        let logger = self.clone();
        Some(ComponentLogger::new(level, move |message| {
            let (status, category) = match (message.level, message.category) {
                (LogLevel::Error, _) => return,
                (LogLevel::Warning, _) => (FmiStatus::Warning, FmiLogCategory::Warning),
                (LogLevel::Info, _) | (LogLevel::Debug, LogCategory::Event) => {
                    (FmiStatus::Ok, FmiLogCategory::Events)
                }
                (LogLevel::Debug, _) => (FmiStatus::Ok, FmiLogCategory::Debug),
            };
            if logger.enabled(category) {
                let sentence = format!("t = {} s: {}", message.time, message.text);
                logger.log(status, category, &sentence);
            }
        }))
    }

    /// Logs `sentence`. The importer's code runs inside this call.
    pub fn log(&self, status: FmiStatus, category: FmiLogCategory, sentence: &str) {
        if !self.enabled(category) {
            return;
        }
        let sentence = c_string(sentence);
        let (name, category) = (self.0.name.as_ptr(), category.name().as_ptr());
        in_host_environment(|| match self.0.sink {
            LogSink::Two(Some(log), environment) => {
                const FORMAT: *const c_char = c"%s".as_ptr();
                // SAFETY: the importer's function with its environment; one string after "%s".
                unsafe {
                    log(
                        environment,
                        name,
                        status,
                        category,
                        FORMAT,
                        sentence.as_ptr(),
                    )
                }
            }
            LogSink::Three(Some(log), environment) => {
                // SAFETY: the importer's function with its environment.
                unsafe { log(environment, status, category, sentence.as_ptr()) }
            }
            LogSink::Two(None, _) | LogSink::Three(None, _) => {}
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::null_mut;

    #[test]
    fn errors_are_always_logged_and_the_rest_by_category() {
        let logger = FmiLogger::new(LogSink::Three(None, null_mut()), c"one", false);
        assert!(logger.enabled(FmiLogCategory::Error) && logger.enabled(FmiLogCategory::Discard));
        assert!(!logger.enabled(FmiLogCategory::Events));
        logger.switch(true, &["logEvents"]).unwrap();
        assert!(logger.enabled(FmiLogCategory::Events) && !logger.enabled(FmiLogCategory::Debug));
        logger.switch(true, &[]).unwrap();
        assert!(logger.enabled(FmiLogCategory::Debug));
        logger.switch(true, &["logAll"]).unwrap();
        assert!(logger.enabled(FmiLogCategory::Warning));
        let error = logger.switch(true, &["logNothing"]).unwrap_err();
        assert!(error.to_string().contains("logNothing"));
        assert!(
            logger.enabled(FmiLogCategory::Warning),
            "an error changes nothing"
        );
        logger.switch(false, &[]).unwrap();
        assert!(!logger.enabled(FmiLogCategory::Warning) && logger.enabled(FmiLogCategory::Error));
    }
}
