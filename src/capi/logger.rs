//! Log messages through a callback.

use std::ffi::{CStr, c_char, c_int, c_void};

use super::gate::gate;
use super::instance::biela_instance;
use super::status::biela_status;
use crate::component::{LogCategory, LogLevel, LogMessage, Logger};
use crate::error::Error;
use crate::ffi::float_environment::in_host_environment;

/// Severity of a message. A logger receives messages up to its level.
#[allow(non_camel_case_types)]
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum biela_log_level {
    /// A call has failed; the text is the sentence of `biela_last_error`.
    Error = 1,
    /// Legal, but probably not intended: an input that jumped, many rejected trial steps in a row.
    Warning = 2,
    /// The start, events.
    Info = 3,
    /// Every communication step.
    Debug = 4,
}

/// Takes one message: your `user` pointer, how serious it is, what it is about ("start", "step", "event",
/// "input", "state"), the instance's time (s), and a sentence in UTF-8. Both texts are valid during the
/// call only.
///
/// It is called on the thread that has called the library, inside that call: it must return (no `longjmp`,
/// no C++ exception), and calls on the same instance from within it are answered with `BIELA_STATUS_BUSY`.
#[allow(non_camel_case_types)]
pub type biela_log_callback = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        level: biela_log_level,
        category: *const c_char,
        time: f64,
        message: *const c_char,
    ),
>;

/// The host's pointer.
struct User(*mut c_void);

// SAFETY: not used but for passing it back; by the promise of `biela_set_logger` it may be used on every thread that
// calls the instance.
unsafe impl Send for User {}

impl User {
    /// A method, so that closures capture the struct and not the pointer.
    fn pointer(&self) -> *mut c_void {
        self.0
    }
}

/// From now on messages up to `level` (a `biela_log_level`) go to `callback`, with `user` handed through;
/// NULL: none are made. It stays through resets and restores, until it is replaced or the instance freed.
/// Without a logger, and for messages above its level, nothing is composed and nothing allocated.
///
/// # Safety
/// `instance` is NULL or a live handle; `callback` is NULL or may be called with `user` on every thread that
/// calls this instance, as long as it is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_set_logger(
    instance: *mut biela_instance,
    callback: biela_log_callback,
    user: *mut c_void,
    level: c_int,
) -> biela_status {
    // SAFETY: the caller's promise.
    unsafe {
        gate(instance, c"biela_set_logger", |content| {
            let Some(callback) = callback else {
                content.component.set_logger(None);
                return Ok(());
            };
            let named = LogLevel::ALL.into_iter().find(|l| *l as c_int == level);
            let level = named.ok_or_else(|| Error::Argument {
                name: "level".to_owned(),
                value: level.to_string(),
                expected: "BIELA_LOG_LEVEL_ERROR, _WARNING, _INFO or _DEBUG".to_owned(),
            })?;
            let user = User(user);
            let mut text = Vec::new();
            let sink = move |message: &LogMessage| {
                text.clear();
                text.extend(message.text.bytes().filter(|byte| *byte != 0));
                text.push(0);
                // SAFETY: the promise above; both texts end with a NUL and live until the call returns.
                in_host_environment(|| {
                    callback(
                        user.pointer(),
                        level_for_c(message.level),
                        category_for_c(message.category).as_ptr(),
                        message.time,
                        text.as_ptr().cast(),
                    );
                });
            };
            content.component.set_logger(Some(Logger::new(level, sink)));
            Ok(())
        })
    }
}

fn level_for_c(level: LogLevel) -> biela_log_level {
    match level {
        LogLevel::Error => biela_log_level::Error,
        LogLevel::Warning => biela_log_level::Warning,
        LogLevel::Info => biela_log_level::Info,
        LogLevel::Debug => biela_log_level::Debug,
    }
}

fn category_for_c(category: LogCategory) -> &'static CStr {
    match category {
        LogCategory::Start => c"start",
        LogCategory::Step => c"step",
        LogCategory::Event => c"event",
        LogCategory::Input => c"input",
        LogCategory::State => c"state",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_those_of_the_component() {
        for level in LogLevel::ALL {
            assert_eq!(level_for_c(level) as c_int, level as c_int);
        }
        for category in LogCategory::ALL {
            assert_eq!(category_for_c(category).to_str(), Ok(category.name()));
        }
    }
}
