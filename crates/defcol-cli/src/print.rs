//! Data to standard output, everything else to standard error.

use std::io::{self, Write};

use clap::builder::styling::{AnsiColor, Style};
use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;

pub use defcol_query::short_number as short;

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
