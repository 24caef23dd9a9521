//! A writer of XML: elements, attributes, escapes, indentation.

/// A document under construction.
pub(super) struct Xml {
    text: String,
    open: Vec<&'static str>,
}

impl Xml {
    /// A document with its declaration.
    pub fn new() -> Self {
        Self {
            text: "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned(),
            open: Vec::new(),
        }
    }

    fn tag(&mut self, name: &str, attributes: &[(&str, String)], end: &str) {
        self.text.push_str(&"  ".repeat(self.open.len()));
        self.text.push('<');
        self.text.push_str(name);
        for (key, value) in attributes {
            self.text.push_str(&format!(" {key}=\"{}\"", escape(value)));
        }
        self.text.push_str(end);
        self.text.push('\n');
    }

    /// Adds an element without contents.
    pub fn leaf(&mut self, name: &str, attributes: &[(&str, String)]) {
        self.tag(name, attributes, "/>");
    }

    /// Adds an element around the output of `contents`.
    pub fn element(
        &mut self,
        name: &'static str,
        attributes: &[(&str, String)],
        contents: impl FnOnce(&mut Self),
    ) {
        self.tag(name, attributes, ">");
        self.open.push(name);
        contents(self);
        self.open.pop();
        self.text.push_str(&"  ".repeat(self.open.len()));
        self.text.push_str(&format!("</{name}>\n"));
    }

    /// The text.
    pub fn finish(self) -> String {
        self.text
    }
}

/// Text escaped for attributes and contents. Characters that are illegal in XML become a replacement character.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\n' | '\r' | '\t' => out.push_str(&format!("&#{};", c as u32)),
            c if (c as u32) < 0x20 || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A number in the notation of XML Schema, with as many digits as its bits need.
pub(super) fn number(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "INF" } else { "-INF" }.to_owned();
    }
    format!("{value:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_nest_and_text_is_escaped() {
        let mut xml = Xml::new();
        xml.element("a", &[("x", "1 < 2 & \"3\"\n".to_owned())], |xml| {
            xml.leaf("b", &[("y", number(0.1))]);
        });
        assert_eq!(
            xml.finish(),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <a x=\"1 &lt; 2 &amp; &quot;3&quot;&#10;\">\n  <b y=\"0.1\"/>\n</a>\n"
        );
        assert_eq!(escape("a\u{1}b'"), "a\u{fffd}b&apos;");
    }

    #[test]
    fn numbers_are_written_exactly() {
        for value in [0.1, 1e300, -2.5e-308, 1.0 / 3.0, 0.0, -0.0, 5e-324] {
            assert_eq!(
                number(value).parse::<f64>().unwrap().to_bits(),
                f64::to_bits(value)
            );
        }
        assert_eq!(number(f64::INFINITY), "INF");
    }
}
