//! Log messages to the host: start, events, rejected steps, changed inputs, failures. The host gives a sink with a level and
//! categories; without one nothing is written and nothing is allocated.

use std::fmt::{Arguments, Write};

use super::Instance;

/// How serious a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// A call has failed.
    Error = 1,
    /// The simulation continues, but the user should check.
    Warning = 2,
    /// The start and events.
    Info = 3,
    /// Every communication step.
    Debug = 4,
}

impl LogLevel {
    /// All levels, the most serious first.
    pub const ALL: [Self; 4] = [Self::Error, Self::Warning, Self::Info, Self::Debug];

    /// Lower-case name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
            Self::Debug => "debug",
        }
    }
}

/// Subject of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogCategory {
    /// Assembly and consistent initialisation.
    Start = 1,
    /// Communication steps and their substeps.
    Step = 2,
    /// Contacts, joint limits, changes of mode.
    Event = 3,
    /// Changed inputs and parameters.
    Input = 4,
    /// Saving and restoring.
    State = 5,
}

impl LogCategory {
    /// All categories.
    pub const ALL: [Self; 5] = [
        Self::Start,
        Self::Step,
        Self::Event,
        Self::Input,
        Self::State,
    ];

    /// Lower-case name.
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

/// A message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogMessage<'a> {
    /// Level.
    pub level: LogLevel,
    /// Category.
    pub category: LogCategory,
    /// Time of the instance (s).
    pub time: f64,
    /// A sentence.
    pub text: &'a str,
}

/// Receiver of messages. It stays with the instance through reset and restore.
pub struct Logger {
    level: LogLevel,
    categories: u32,
    sink: Box<dyn FnMut(&LogMessage) + Send>,
    text: String,
}

impl Logger {
    /// Receives every category up to `level`.
    pub fn new(level: LogLevel, sink: impl FnMut(&LogMessage) + Send + 'static) -> Self {
        Self {
            level,
            categories: u32::MAX,
            sink: Box::new(sink),
            text: String::new(),
        }
    }

    /// Receives these categories only.
    #[must_use]
    pub fn only(mut self, categories: &[LogCategory]) -> Self {
        self.categories = categories.iter().fold(0, |all, c| all | c.bit());
        self
    }

    /// The least serious level received.
    pub fn level(&self) -> LogLevel {
        self.level
    }

    fn accepts(&self, level: LogLevel, category: LogCategory) -> bool {
        level <= self.level && self.categories & category.bit() != 0
    }

    fn write(&mut self, level: LogLevel, category: LogCategory, time: f64, text: Arguments) {
        let mut buffer = std::mem::take(&mut self.text);
        buffer.clear();
        let _ = buffer.write_fmt(text); // writing to a String cannot fail
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
    /// Replaces the logger, or removes it with `None`. Returns the former one.
    pub fn set_logger(&mut self, logger: Option<Logger>) -> Option<Logger> {
        std::mem::replace(&mut self.logger, logger)
    }

    /// Whether a message would be received; for messages that are expensive to compose.
    pub(super) fn is_logged(&self, level: LogLevel, category: LogCategory) -> bool {
        self.logger
            .as_ref()
            .is_some_and(|logger| logger.accepts(level, category))
    }

    /// Sends a message to the logger.
    pub(super) fn log(&mut self, level: LogLevel, category: LogCategory, text: Arguments) {
        let time = self.time();
        if let Some(logger) = &mut self.logger
            && logger.accepts(level, category)
        {
            logger.write(level, category, time, text);
        }
    }

    /// Logs the error of a result.
    #[inline]
    pub(super) fn log_failure<T>(
        &mut self,
        category: LogCategory,
        outcome: &crate::error::Result<T>,
    ) {
        if let (Err(error), Some(_)) = (outcome, &self.logger) {
            self.log(LogLevel::Error, category, format_args!("{error}"));
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::tests::*;
    use super::*;
    use std::sync::{Arc, Mutex};

    type Messages = Arc<Mutex<Vec<(LogLevel, LogCategory, String)>>>;

    /// A logger that stores its messages.
    pub fn storing(level: LogLevel) -> (Logger, Messages) {
        let messages = Messages::default();
        let sink = Arc::clone(&messages);
        let logger = Logger::new(level, move |m| {
            let message = (m.level, m.category, m.text.to_string());
            sink.lock().unwrap().push(message);
        });
        (logger, messages)
    }

    #[test]
    fn messages_are_sent_up_to_the_level_of_the_logger() {
        for level in LogLevel::ALL {
            let mut instance = oscillator();
            let (logger, messages) = storing(level);
            instance.set_logger(Some(logger));
            instance.initialize(0.0, 10.0, 0.0).unwrap();
            instance.step(0.0, 0.5).unwrap();
            instance.step(0.7, 0.5).unwrap_err();
            let messages = messages.lock().unwrap();
            assert!(messages.iter().all(|(l, ..)| *l <= level), "{messages:?}");
            assert!(
                messages.iter().any(|(l, ..)| *l == LogLevel::Error),
                "{messages:?}"
            );
            let starts = messages.iter().filter(|(_, c, _)| *c == LogCategory::Start);
            assert_eq!(starts.count() > 0, level >= LogLevel::Info);
            let steps = (messages.iter())
                .filter(|(l, c, _)| *c == LogCategory::Step && *l == LogLevel::Debug);
            assert_eq!(steps.count(), usize::from(level == LogLevel::Debug));
        }
    }

    #[test]
    fn the_message_of_a_failure_is_the_error_returned() {
        let mut instance = running();
        let (logger, messages) = storing(LogLevel::Error);
        instance.set_logger(Some(logger));
        let error = instance.step(0.0, -1.0).unwrap_err();
        let expected = (LogLevel::Error, LogCategory::Step, error.to_string());
        assert_eq!(*messages.lock().unwrap(), [expected]);
    }

    #[test]
    fn categories_can_be_selected() {
        let mut instance = oscillator();
        let (logger, messages) = storing(LogLevel::Debug);
        instance.set_logger(Some(logger.only(&[LogCategory::Step])));
        instance.initialize(0.0, 10.0, 0.0).unwrap();
        instance.step(0.0, 0.5).unwrap();
        let messages = messages.lock().unwrap();
        assert!(!messages.is_empty());
        assert!(
            messages.iter().all(|(_, c, _)| *c == LogCategory::Step),
            "{messages:?}"
        );
    }

    #[test]
    fn a_logger_changes_no_bit_and_survives_a_reset() {
        let run = |logger: Option<Logger>| {
            let mut instance = oscillator();
            instance.set_logger(logger);
            instance.reset();
            instance.initialize(0.0, 10.0, 0.0).unwrap();
            instance.step(0.0, 2.0).unwrap();
            format!("{:?}", instance.save().unwrap())
        };
        let (logger, messages) = storing(LogLevel::Debug);
        assert_eq!(run(None), run(Some(logger)));
        assert!(!messages.lock().unwrap().is_empty());
    }
}
