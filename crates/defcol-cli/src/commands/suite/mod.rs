//! `defcol suite`: the experiments of the papers, with our figures beside the published ones.

mod consistent_depth;
mod hashing_parameters;
mod integrators;
mod morphing;
mod plot;
mod volume_forces;

use std::fs;
use std::path::Path;

use serde::Serialize;

use crate::arguments::{Common, OutputFormat, SuiteOptions};
use crate::failure::Failure;
use crate::print;
use plot::Plot;

/// What an experiment found.
#[derive(Serialize)]
struct Experiment {
    name: &'static str,
    paper: &'static str,
    /// The figure that the experiment is about; the others are among the findings.
    published: Option<f64>,
    measured: f64,
    ratio: Option<f64>,
    findings: Vec<Finding>,
    #[serde(skip)]
    plots: Vec<Plot>,
    /// Files beside the report.
    pictures: Vec<String>,
    /// Every measured curve.
    curves: Vec<Curve>,
}

/// One figure beside the published one.
#[derive(Serialize)]
struct Finding {
    what: String,
    published: Option<f64>,
    measured: f64,
    ratio: Option<f64>,
}

#[derive(Serialize, Clone)]
struct Curve {
    plot: String,
    name: String,
    points: Vec<[f64; 2]>,
}

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    experiments: Vec<Experiment>,
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

type Run = fn(&SuiteOptions, &Common) -> Result<Experiment, Failure>;

const EXPERIMENTS: &[(&str, Run)] = &[
    ("hashing-parameters", hashing_parameters::run),
    ("morphing", morphing::run),
    ("consistent-depth", consistent_depth::run),
    ("volume-forces", volume_forces::run),
    ("integrators", integrators::run),
];

pub fn run(options: &SuiteOptions, common: &Common) -> Result<(), Failure> {
    let known = || EXPERIMENTS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    for name in &options.names {
        if !EXPERIMENTS.iter().any(|(known, _)| known == name) {
            return Err(Failure::usage(format!(
                "there is no experiment {name}; known: {}",
                known()
            )));
        }
    }
    // Not after minutes of measuring.
    fs::create_dir_all(&options.out).map_err(|error| {
        Failure::usage(format!("cannot make the folder {}: {error}", options.out.display()))
    })?;
    let wanted = |name: &str| options.names.is_empty() || options.names.iter().any(|n| n == name);
    let mut experiments = Vec::new();
    for (_, experiment) in EXPERIMENTS.iter().filter(|(name, _)| wanted(name)) {
        experiments.push(experiment(options, common)?);
    }
    let report = Report { schema: "defcol.suite/1", experiments };
    write(&report, &options.out)?;
    if common.format == OutputFormat::Json {
        return Ok(print::json(&report)?);
    }
    let mut table = print::table(&["experiment", "finding", "published", "measured", "ratio"]);
    for experiment in &report.experiments {
        for finding in &experiment.findings {
            let number = |value: Option<f64>| value.map_or("-".to_owned(), print::short);
            table.add_row([
                experiment.name,
                &finding.what,
                &number(finding.published),
                &print::short(finding.measured),
                &number(finding.ratio),
            ]);
        }
    }
    print::text(table)?;
    if !common.quiet {
        print::note(format!("curves in {}", options.out.join("report.html").display()));
    }
    Ok(())
}

/// Writes the report for people and for programs.
fn write(report: &Report, folder: &Path) -> Result<(), Failure> {
    let json = serde_json::to_string_pretty(report).map_err(Failure::computation)?;
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
            let number = |value: Option<f64>| value.map_or("-".to_owned(), print::short);
            html += &format!(
                "<tr><td>{}<td>{}<td>{}<td>{}</tr>\n",
                finding.what,
                number(finding.published),
                print::short(finding.measured),
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
