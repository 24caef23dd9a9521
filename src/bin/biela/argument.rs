//! Values of command-line options.

use biela::study::SetValue;

/// A finite number of seconds.
pub fn finite(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err("expected a finite number of seconds".to_owned()),
    }
}

/// A positive, finite number of seconds.
pub fn positive(text: &str) -> Result<f64, String> {
    match finite(text) {
        Ok(value) if value > 0.0 => Ok(value),
        _ => Err("expected a positive, finite number of seconds".to_owned()),
    }
}

/// `NAME=LAW` of an input.
pub fn input_law(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, law)) if !name.trim().is_empty() && !law.trim().is_empty() => {
            Ok((name.trim().to_owned(), law.trim().to_owned()))
        }
        _ => Err("expected NAME=LAW, such as tau=step(0.5, 0, 10) or tau=file.csv".to_owned()),
    }
}

/// Two names, `X,Y`.
pub fn pair(text: &str) -> Result<[String; 2], String> {
    match text.split(',').map(str::trim).collect::<Vec<&str>>()[..] {
        [x, y] if !x.is_empty() && !y.is_empty() => Ok([x.to_owned(), y.to_owned()]),
        _ => Err("expected two outputs, X,Y".to_owned()),
    }
}

/// `NAME=VALUE` with a finite number, a word, or an expression that begins with a number, a sign or `(`.
pub fn assignment(text: &str) -> Result<(String, SetValue), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or("expected NAME=VALUE".to_owned())?;
    let name = name.trim();
    if name.is_empty() {
        return Err("expected a name before the equals sign".to_owned());
    }
    match SetValue::parse_expression(value) {
        Some(value) => Ok((name.to_owned(), value)),
        None => Err(format!(
            "expected a finite number, or a word, after \"{name}=\""
        )),
    }
}
