//! The papers' experiments and comparisons of defcol with other libraries.
//!
//! [`mod@bench`] times hot paths against other methods and libraries in one run; [`suite`] repeats the experiments of the papers
//! and lists our figures beside the published ones. Functions return rows and reports; the command line prints them.

pub mod bench;
pub mod suite;
mod timing;
