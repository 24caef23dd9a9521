//! What the component tells its host on the way: events, refused steps, jumps of inputs, failures. The host gives a sink
//! and says how much it wants to hear; without one nothing is written and nothing is allocated.

use std::fmt::{Arguments, Write};

use super::Instance;

/// How serious a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// A call has failed.
    Error = 1,
    /// It goes on, but the user should look at it.
    Warning = 2,
    /// What happened: the start, events.
    Info = 3,
    /// Every communication step.
    Debug = 4,
}

impl LogLevel {
    /// All of them, from the most serious on.
    pub const ALL: [Self; 4] = [Self::Error, Self::Warning, Self::Info, Self::Debug];

    /// In small letters.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
            Self::Debug => "debug",
        }
    }
}

/// What a message is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogCategory {
    /// Assembly and consistent start.
    Start = 1,
    /// Communication steps and the substeps in them.
    Step = 2,
    /// Contacts, stops, changes of mode.
    Event = 3,
    /// Inputs and parameters that were set.
    Input = 4,
    /// Saving and restoring.
    State = 5,
}

impl LogCategory {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Start,
        Self::Step,
        Self::Event,
        Self::Input,
        Self::State,
    ];

    /// In small letters.
    pub fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Step => "step",
            Self::Event => "event",
            Self::Input => "input",
            Self::State => "state",
        }
    }

    fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// One message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogMessage<'a> {
    /// How serious.
    pub level: LogLevel,
    /// About what.
    pub category: LogCategory,
    /// The instance's time (s).
    pub time: f64,
    /// A sentence.
    pub text: &'a str,
}

/// Where messages go. It stays with the instance through reset and restore.
pub struct Logger {
    level: LogLevel,
    categories: u32,
    sink: Box<dyn FnMut(&LogMessage) + Send>,
    text: String,
}

impl Logger {
    /// Hears every category up to `level`.
    pub fn new(level: LogLevel, sink: impl FnMut(&LogMessage) + Send + 'static) -> Self {
        Self {
            level,
            categories: u32::MAX,
            sink: Box::new(sink),
            text: String::new(),
        }
    }

    /// Hears these categories only.
    #[must_use]
    pub fn only(mut self, categories: &[LogCategory]) -> Self {
        self.categories = categories.iter().fold(0, |all, c| all | c.bit());
        self
    }

    /// The most it hears.
    pub fn level(&self) -> LogLevel {
        self.level
    }

    fn hears(&self, level: LogLevel, category: LogCategory) -> bool {
        level <= self.level && self.categories & category.bit() != 0
    }

    fn write(&mut self, level: LogLevel, category: LogCategory, time: f64, text: Arguments) {
        let mut buffer = std::mem::take(&mut self.text);
        buffer.clear();
        let _ = buffer.write_fmt(text); // a String takes everything
        (self.sink)(&LogMessage {
            level,
            category,
            time,
            text: &buffer,
        });
        self.text = buffer;
    }
}

impl Instance {
    /// From now on messages go to `logger`; `None`: nowhere. The former one is given back.
    pub fn set_logger(&mut self, logger: Option<Logger>) -> Option<Logger> {
        std::mem::replace(&mut self.logger, logger)
    }

    /// Would a message be heard? For those that cost something to compose.
    pub(super) fn hears(&self, level: LogLevel, category: LogCategory) -> bool {
        self.logger
            .as_ref()
            .is_some_and(|logger| logger.hears(level, category))
    }

    /// Tells the host, if it listens.
    pub(super) fn log(&mut self, level: LogLevel, category: LogCategory, text: Arguments) {
        let time = self.time();
        if let Some(logger) = &mut self.logger
            && logger.hears(level, category)
        {
            logger.write(level, category, time, text);
        }
    }

    /// A failure is told before it is returned.
    #[inline]
    pub(super) fn tell<T>(&mut self, category: LogCategory, outcome: &crate::error::Result<T>) {
        if let (Err(error), Some(_)) = (outcome, &self.logger) {
            self.log(LogLevel::Error, category, format_args!("{error}"));
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::testing::*;
    use super::*;
    use std::sync::{Arc, Mutex};

    type Heard = Arc<Mutex<Vec<(LogLevel, LogCategory, String)>>>;

    /// A logger that keeps what it hears.
    pub fn keeping(level: LogLevel) -> (Logger, Heard) {
        let heard = Heard::default();
        let kept = Arc::clone(&heard);
        let logger = Logger::new(level, move |m| {
            let message = (m.level, m.category, m.text.to_string());
            kept.lock().unwrap().push(message);
        });
        (logger, heard)
    }

    #[test]
    fn a_life_is_told_up_to_the_level_asked_for() {
        for level in LogLevel::ALL {
            let mut instance = oscillator();
            let (logger, heard) = keeping(level);
            instance.set_logger(Some(logger));
            instance.initialize(0.0, 10.0, 0.0).unwrap();
            instance.step(0.0, 0.5).unwrap();
            instance.step(0.7, 0.5).unwrap_err();
            let heard = heard.lock().unwrap();
            assert!(heard.iter().all(|(l, ..)| *l <= level), "{heard:?}");
            assert!(
                heard.iter().any(|(l, ..)| *l == LogLevel::Error),
                "{heard:?}"
            );
            let starts = heard.iter().filter(|(_, c, _)| *c == LogCategory::Start);
            assert_eq!(starts.count() > 0, level >= LogLevel::Info);
            let steps =
                (heard.iter()).filter(|(l, c, _)| *c == LogCategory::Step && *l == LogLevel::Debug);
            assert_eq!(steps.count(), usize::from(level == LogLevel::Debug));
        }
    }

    #[test]
    fn the_sentence_of_a_failure_is_the_one_that_is_returned() {
        let mut instance = running();
        let (logger, heard) = keeping(LogLevel::Error);
        instance.set_logger(Some(logger));
        let error = instance.step(0.0, -1.0).unwrap_err();
        let expected = (LogLevel::Error, LogCategory::Step, error.to_string());
        assert_eq!(*heard.lock().unwrap(), [expected]);
    }

    #[test]
    fn categories_can_be_chosen() {
        let mut instance = oscillator();
        let (logger, heard) = keeping(LogLevel::Debug);
        instance.set_logger(Some(logger.only(&[LogCategory::Step])));
        instance.initialize(0.0, 10.0, 0.0).unwrap();
        instance.step(0.0, 0.5).unwrap();
        let heard = heard.lock().unwrap();
        assert!(!heard.is_empty());
        assert!(
            heard.iter().all(|(_, c, _)| *c == LogCategory::Step),
            "{heard:?}"
        );
    }

    #[test]
    fn a_logger_changes_no_bit_and_stays_through_reset() {
        let run = |logger: Option<Logger>| {
            let mut instance = oscillator();
            instance.set_logger(logger);
            instance.reset();
            instance.initialize(0.0, 10.0, 0.0).unwrap();
            instance.step(0.0, 2.0).unwrap();
            format!("{:?}", instance.save().unwrap())
        };
        let (logger, heard) = keeping(LogLevel::Debug);
        assert_eq!(run(None), run(Some(logger)));
        assert!(!heard.lock().unwrap().is_empty());
    }
}
