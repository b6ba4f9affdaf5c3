//! Data to standard output, everything else to standard error.

use std::io::{self, Write};

use clap::builder::styling::{AnsiColor, Style};
use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;

/// Prints a JSON document.
pub fn json(document: &impl Serialize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, document)?;
    out.write_all(b"\n")?;
    out.flush()
}

/// Prints text.
pub fn text(text: impl std::fmt::Display) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}

/// A note about something the user should know.
pub fn note(message: impl std::fmt::Display) {
    let style: Style = AnsiColor::Yellow.on_default().bold();
    anstream::eprintln!("{style}note:{style:#} {message}");
}

/// An empty table in the style of all tables.
pub fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    // Fits the terminal; elsewhere nothing is wrapped.
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(header);
    table
}

/// A number to six digits.
pub fn short(value: f64) -> String {
    if value == 0.0 || (1e-3..1e6).contains(&value.abs()) {
        let digits = if value == 0.0 { 0 } else { 5 - value.abs().log10().floor() as i32 };
        let text = format!("{value:.*}", digits.max(0) as usize);
        if text.contains('.') {
            return text.trim_end_matches('0').trim_end_matches('.').to_owned();
        }
        return text;
    }
    format!("{value:.5e}")
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn numbers_have_six_digits() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (-2.5, "-2.5"),
            (1234.5678, "1234.57"),
            (999_999.6, "1000000"),
            (1e7, "1.00000e7"),
            (0.001, "0.001"),
            (1.0 / 3.0, "0.333333"),
            (1e-9, "1.00000e-9"),
            (120.0, "120"),
        ] {
            assert_eq!(short(value), text);
        }
    }
}
