//! What a unit says to its importer. Errors are always said; all else only while logging is on and its category wanted.

use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use super::types::{FmiStatus, fmi2CallbackLogger, fmi3LogMessageCallback};
use crate::capi::gate::c_text;
use crate::capi::pointer;
use crate::component::{LogCategory as Topic, LogLevel, Logger as ComponentLogger};
use crate::error::{Error, Result};

/// What messages are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FmiLogCategory {
    /// Calls that were refused or failed.
    Error,
    /// Steps that went only part of the way.
    Discard,
    /// What a user should know although it works.
    Warning,
    /// Assembly, events, jumps of inputs.
    Events,
    /// Everything else: the course of steps.
    Debug,
}

/// Everything at once.
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

    /// The name, standardised where the standards have one.
    pub fn name(self) -> &'static CStr {
        match self {
            Self::Error => c"logStatusError",
            Self::Discard => c"logStatusDiscard",
            Self::Warning => c"logStatusWarning",
            Self::Events => c"logEvents",
            Self::Debug => c"logDebug",
        }
    }

    /// For the model description.
    pub fn description(self) -> &'static str {
        match self {
            Self::Error => "Calls that were refused or failed; always on",
            Self::Discard => "Steps that went only part of the way; always on",
            Self::Warning => "What works but should be looked at",
            Self::Events => "Assembly at the start, events",
            Self::Debug => "Details of the course of steps",
        }
    }

    /// The name of all of them together and its description.
    pub fn all() -> (&'static str, &'static str) {
        (ALL, "All of them")
    }

    fn bit(self) -> u8 {
        1 << self as u8
    }

    fn always(self) -> bool {
        matches!(self, Self::Error | Self::Discard)
    }
}

/// The names of categories that an importer passes.
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

/// Where messages go.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sink {
    /// An importer of FMI 2, which may have given no logger.
    Two(Option<fmi2CallbackLogger>, *mut c_void),
    /// An importer of FMI 3.
    Three(Option<fmi3LogMessageCallback>, *mut c_void),
}

/// The importer's logger and what it wants to hear. Clones share both: one speaks for the unit, one for its component.
#[derive(Clone, Debug)]
pub(super) struct FmiLogger(Arc<SharedLogger>);

#[derive(Debug)]
struct SharedLogger {
    sink: Sink,
    name: CString,
    /// Bits of the categories that are on.
    wanted: AtomicU8,
}

// SAFETY: the environment is the importer's and only handed back to its own function, on the thread that calls us.
unsafe impl Send for SharedLogger {}
// SAFETY: as above; the rest is atomic or never changes.
unsafe impl Sync for SharedLogger {}

impl FmiLogger {
    /// For the unit called `name`.
    pub fn new(sink: Sink, name: &CStr, on: bool) -> Self {
        Self(Arc::new(SharedLogger {
            sink,
            name: name.to_owned(),
            wanted: AtomicU8::new(if on { u8::MAX } else { 0 }),
        }))
    }

    /// Whether a message of this category would be passed on.
    pub fn wants(&self, category: FmiLogCategory) -> bool {
        category.always() || self.0.wanted.load(Ordering::Relaxed) & category.bit() != 0
    }

    /// On or off for the categories named, all of them where none is named.
    pub fn switch(&self, on: bool, categories: &[&str]) -> Result<()> {
        let mut mask = if categories.is_empty() { u8::MAX } else { 0 };
        for name in categories {
            let known = FmiLogCategory::EACH
                .into_iter()
                .find(|c| c.name().to_bytes() == name.as_bytes());
            mask |= match known {
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
            .wanted
            .store(if on { mask } else { 0 }, Ordering::Relaxed);
        Ok(())
    }

    /// For the component, if anything of what it tells is wanted. Its errors are told by the gate.
    pub fn for_component(&self) -> Option<ComponentLogger> {
        let level = if self.wants(FmiLogCategory::Debug) {
            LogLevel::Debug
        } else if self.wants(FmiLogCategory::Events) {
            LogLevel::Info
        } else if self.wants(FmiLogCategory::Warning) {
            LogLevel::Warning
        } else {
            return None;
        };
        let logger = self.clone();
        Some(ComponentLogger::new(level, move |message| {
            let (status, category) = match (message.level, message.category) {
                (LogLevel::Error, _) => return,
                (LogLevel::Warning, _) => (FmiStatus::Warning, FmiLogCategory::Warning),
                (LogLevel::Info, _) | (LogLevel::Debug, Topic::Event) => {
                    (FmiStatus::Ok, FmiLogCategory::Events)
                }
                (LogLevel::Debug, _) => (FmiStatus::Ok, FmiLogCategory::Debug),
            };
            if logger.wants(category) {
                let sentence = format!("t = {} s: {}", message.time, message.text);
                logger.say(status, category, &sentence);
            }
        }))
    }

    /// Says `sentence`. The importer's code runs inside this call.
    pub fn say(&self, status: FmiStatus, category: FmiLogCategory, sentence: &str) {
        if !self.wants(category) {
            return;
        }
        let sentence = c_text(sentence);
        let (name, category) = (self.0.name.as_ptr(), category.name().as_ptr());
        match self.0.sink {
            Sink::Two(Some(log), environment) => {
                const AS_IT_IS: *const c_char = c"%s".as_ptr();
                // SAFETY: the importer's own function with its own environment; one finished string behind "%s".
                unsafe {
                    log(
                        environment,
                        name,
                        status,
                        category,
                        AS_IT_IS,
                        sentence.as_ptr(),
                    )
                }
            }
            Sink::Three(Some(log), environment) => {
                // SAFETY: the importer's own function with its own environment.
                unsafe { log(environment, status, category, sentence.as_ptr()) }
            }
            Sink::Two(None, _) | Sink::Three(None, _) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::null_mut;

    #[test]
    fn errors_are_always_wanted_and_the_rest_by_category() {
        let logger = FmiLogger::new(Sink::Three(None, null_mut()), c"one", false);
        assert!(logger.wants(FmiLogCategory::Error) && logger.wants(FmiLogCategory::Discard));
        assert!(!logger.wants(FmiLogCategory::Events));
        logger.switch(true, &["logEvents"]).unwrap();
        assert!(logger.wants(FmiLogCategory::Events) && !logger.wants(FmiLogCategory::Debug));
        logger.switch(true, &[]).unwrap();
        assert!(logger.wants(FmiLogCategory::Debug));
        logger.switch(true, &["logAll"]).unwrap();
        assert!(logger.wants(FmiLogCategory::Warning));
        let refusal = logger.switch(true, &["logNothing"]).unwrap_err();
        assert!(refusal.to_string().contains("logNothing"));
        assert!(
            logger.wants(FmiLogCategory::Warning),
            "a refusal changes nothing"
        );
        logger.switch(false, &[]).unwrap();
        assert!(!logger.wants(FmiLogCategory::Warning) && logger.wants(FmiLogCategory::Error));
    }
}
