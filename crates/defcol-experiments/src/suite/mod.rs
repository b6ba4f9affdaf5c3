//! The experiments of the papers, with our figures beside the published ones.

mod consistent_depth;
mod hashing_parameters;
mod integrators;
mod morphing;
mod plot;
mod volume_forces;

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use defcol_query::{OnStep, QueryError, short_number};
use plot::Plot;

/// Findings of one experiment.
#[derive(Debug, Clone, Serialize)]
pub struct Experiment {
    /// Name of the experiment.
    pub name: &'static str,
    /// The paper and what is measured.
    pub paper: &'static str,
    /// The published main figure.
    pub published: Option<f64>,
    /// Our main figure.
    pub measured: f64,
    /// Ours divided by the published one.
    pub ratio: Option<f64>,
    /// All figures.
    pub findings: Vec<Finding>,
    #[serde(skip)]
    plots: Vec<Plot>,
    /// Files beside the report.
    pub pictures: Vec<String>,
    /// Every measured curve.
    pub curves: Vec<Curve>,
}

/// One figure beside the published one.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    /// What is measured.
    pub what: String,
    /// The published figure.
    pub published: Option<f64>,
    /// Our figure.
    pub measured: f64,
    /// Ours divided by the published one.
    pub ratio: Option<f64>,
}

/// One measured curve.
#[derive(Debug, Clone, Serialize)]
pub struct Curve {
    /// Title of the plot it belongs to.
    pub plot: String,
    /// Name of the curve.
    pub name: String,
    /// Its points.
    pub points: Vec<[f64; 2]>,
}

/// Findings of all experiments that ran.
#[derive(Debug, Clone, Serialize)]
pub struct SuiteReport {
    /// `defcol.suite/1`.
    pub schema: &'static str,
    /// One entry per experiment.
    pub experiments: Vec<Experiment>,
}

impl Experiment {
    fn new(name: &'static str, paper: &'static str, published: impl Into<Option<f64>>) -> Self {
        Self {
            name,
            paper,
            published: published.into(),
            measured: f64::NAN,
            ratio: None,
            findings: vec![],
            plots: vec![],
            pictures: vec![],
            curves: vec![],
        }
    }

    /// Adds a figure beside the published one.
    fn find(&mut self, what: &str, published: Option<f64>, measured: f64) {
        let ratio = published.map(|published| measured / published);
        self.findings.push(Finding { what: what.to_owned(), published, measured, ratio });
    }

    /// Adds a plot, and its curves for programs.
    fn add(&mut self, plot: Plot) {
        let curves = plot.curves.iter().map(|(name, points)| Curve {
            plot: plot.title.clone(),
            name: name.clone(),
            points: points.clone(),
        });
        self.curves.extend(curves);
        self.plots.push(plot);
    }
}

/// Settings of [`run`].
#[derive(Debug, Clone)]
pub struct SuiteOptions {
    /// Names of the experiments; all of them if empty.
    pub names: Vec<String>,
    /// Folder for the report and its pictures.
    pub out: PathBuf,
    /// Small sizes only.
    pub quick: bool,
}

type Run = fn(&SuiteOptions, OnStep) -> Result<Experiment, QueryError>;

/// Every experiment by name.
const EXPERIMENTS: &[(&str, Run)] = &[
    ("hashing-parameters", hashing_parameters::run),
    ("morphing", morphing::run),
    ("consistent-depth", consistent_depth::run),
    ("volume-forces", volume_forces::run),
    ("integrators", integrators::run),
];

/// Runs experiments and writes `report.html`, `report.json` and pictures into the folder.
///
/// # Errors
/// If a name is unknown, the folder cannot be created or a computation fails.
pub fn run(options: &SuiteOptions, on_step: OnStep) -> Result<SuiteReport, QueryError> {
    let known = || EXPERIMENTS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    for name in &options.names {
        if !EXPERIMENTS.iter().any(|(known, _)| known == name) {
            return Err(QueryError::Request(format!(
                "there is no experiment {name}; known: {}",
                known()
            )));
        }
    }
    // Not after minutes of measuring.
    fs::create_dir_all(&options.out).map_err(|error| {
        QueryError::Request(format!("cannot make the folder {}: {error}", options.out.display()))
    })?;
    let wanted = |name: &str| options.names.is_empty() || options.names.iter().any(|n| n == name);
    let mut experiments = Vec::new();
    for (_, experiment) in EXPERIMENTS.iter().filter(|(name, _)| wanted(name)) {
        experiments.push(experiment(options, on_step)?);
    }
    let report = SuiteReport { schema: "defcol.suite/1", experiments };
    write(&report, &options.out)?;
    Ok(report)
}

/// Writes the report for people and for programs.
fn write(report: &SuiteReport, folder: &Path) -> Result<(), QueryError> {
    let json = serde_json::to_string_pretty(report).map_err(QueryError::computation)?;
    fs::write(folder.join("report.json"), json)?;
    let mut html = String::from(
        "<!DOCTYPE html><meta charset=\"utf-8\"><title>defcol suite</title>\n\
         <style>body{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}\
         table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:.3em .7em;text-align:left}\
         svg,img{max-width:100%;height:auto}</style>\n<h1>defcol suite</h1>\n",
    );
    for experiment in &report.experiments {
        html += &format!("<h2>{}</h2>\n<p>{}</p>\n", experiment.name, experiment.paper);
        html += "<table><tr><th>finding<th>published<th>measured<th>ratio</tr>\n";
        for finding in &experiment.findings {
            let number = |value: Option<f64>| value.map_or("-".to_owned(), short_number);
            html += &format!(
                "<tr><td>{}<td>{}<td>{}<td>{}</tr>\n",
                finding.what,
                number(finding.published),
                short_number(finding.measured),
                number(finding.ratio)
            );
        }
        html += "</table>\n";
        for picture in &experiment.pictures {
            html += &format!("<img src=\"{picture}\" alt=\"{picture}\">\n");
        }
        for plot in &experiment.plots {
            html += &plot.svg();
        }
    }
    fs::write(folder.join("report.html"), html)?;
    Ok(())
}
