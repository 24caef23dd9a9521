//! The object that `--json` prints: keys in the documented order, `null` where a number is not finite.

use std::fmt::Write;

/// Writes one flat object; `serde_json` does the letters and digits.
#[derive(Default)]
pub struct Object {
    text: String,
}

impl Object {
    /// A count.
    pub fn count(self, key: &str, value: u64) -> Self {
        self.raw(key, &value.to_string())
    }

    /// A number; JSON has neither NaN nor infinity, so those become `null`.
    pub fn number(self, key: &str, value: f64) -> Self {
        let text = serde_json::Number::from_f64(value).map_or("null".to_owned(), |n| n.to_string());
        self.raw(key, &text)
    }

    /// An object inside.
    pub fn object(self, key: &str, value: Object) -> Self {
        let text = value.finish();
        self.raw(key, &text)
    }

    /// The whole text.
    pub fn finish(self) -> String {
        format!("{{{}}}", self.text)
    }

    fn raw(mut self, key: &str, value: &str) -> Self {
        let comma = if self.text.is_empty() { "" } else { ", " };
        let key = serde_json::Value::from(key);
        write!(self.text, "{comma}{key}: {value}").expect("a String takes everything");
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_order_and_what_is_not_finite_becomes_null() {
        let text = Object::default()
            .count("steps", u64::MAX)
            .number("a", 0.1)
            .number("b", f64::NAN)
            .number("c", f64::INFINITY)
            .object("final", Object::default().number("say \"x\"", -1e-300))
            .object("empty", Object::default())
            .finish();
        assert_eq!(
            text,
            "{\"steps\": 18446744073709551615, \"a\": 0.1, \"b\": null, \"c\": null, \
             \"final\": {\"say \\\"x\\\"\": -1e-300}, \"empty\": {}}"
        );
        let parsed: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(parsed["final"]["say \"x\""], -1e-300);
    }
}
