//! Curves as SVG.

use std::fmt::Write;

use defcol_query::short_number as short;

/// How the x axis is divided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Scale {
    Linear,
    Logarithmic,
}

/// A plot of curves.
#[derive(Debug, Clone)]
pub(crate) struct Plot {
    pub title: String,
    pub x: &'static str,
    pub scale: Scale,
    pub y: &'static str,
    pub curves: Vec<(String, Vec<[f64; 2]>)>,
}

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 210.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;
const COLORS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"];

/// A curve with more points than this is drawn without dots.
const MOST_DOTS: usize = 60;

impl Plot {
    /// Round places on the x axis.
    fn ticks(&self, low: f64, high: f64) -> Vec<f64> {
        match self.scale {
            Scale::Linear => {
                let step = nice_above(high - low) / 8.0;
                let first = (low / step).ceil() as i64;
                (first..).map(|k| k as f64 * step).take_while(|&x| x <= high * 1.001).collect()
            }
            Scale::Logarithmic => {
                let factor = 2f64.powf(((high / low).log2() / 8.0).ceil().max(1.0));
                let first = 2f64.powf(low.log2().ceil());
                std::iter::successors(Some(first), |x| Some(x * factor))
                    .take_while(|&x| x <= high * 1.001)
                    .collect()
            }
        }
    }

    pub fn svg(&self) -> String {
        let all = || self.curves.iter().flat_map(|(_, points)| points).copied();
        let range = |axis: usize| {
            all().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], point| {
                [low.min(point[axis]), high.max(point[axis])]
            })
        };
        let ([x_low, x_high], [y_low, y_high]) = (range(0), range(1));
        let bottom = if y_low < 0.0 { -nice_above(-y_low) } else { 0.0 };
        let top = if y_high > 0.0 { nice_above(y_high) } else { 0.0 };
        let across = |x: f64| {
            let share = match self.scale {
                Scale::Linear => (x - x_low) / (x_high - x_low).max(f64::MIN_POSITIVE),
                Scale::Logarithmic => {
                    (x / x_low).ln() / (x_high / x_low).ln().max(f64::MIN_POSITIVE)
                }
            };
            LEFT + share * (WIDTH - LEFT - RIGHT)
        };
        let up = |y: f64| HEIGHT - BOTTOM - (y - bottom) / (top - bottom) * (HEIGHT - TOP - BOTTOM);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" \
             font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
             <text x=\"{LEFT}\" y=\"24\" font-size=\"16\">{}</text>\n",
            self.title
        );
        for k in 0..=4 {
            let y = bottom + (top - bottom) * f64::from(k) / 4.0;
            line(&mut svg, [LEFT, up(y)], [WIDTH - RIGHT, up(y)]);
            text(&mut svg, [LEFT - 8.0, up(y) + 4.0], "end", &short(y));
        }
        for x in self.ticks(x_low, x_high) {
            line(&mut svg, [across(x), up(bottom)], [across(x), up(top)]);
            text(&mut svg, [across(x), up(bottom) + 18.0], "middle", &label(x));
        }
        let middle = (LEFT + WIDTH - RIGHT) / 2.0;
        text(&mut svg, [middle, HEIGHT - 10.0], "middle", self.x);
        let _ = writeln!(
            svg,
            "<text transform=\"translate(16 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            HEIGHT / 2.0,
            self.y
        );
        for (number, ((name, points), color)) in
            self.curves.iter().zip(COLORS.iter().cycle()).enumerate()
        {
            let path: Vec<String> =
                points.iter().map(|&[x, y]| format!("{:.1},{:.1}", across(x), up(y))).collect();
            let _ = writeln!(
                svg,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"/>",
                path.join(" ")
            );
            for point in path.iter().filter(|_| path.len() <= MOST_DOTS) {
                let (x, y) = point.split_once(',').unwrap_or_default();
                let _ = writeln!(svg, "<circle cx=\"{x}\" cy=\"{y}\" r=\"3\" fill=\"{color}\"/>");
            }
            let y = TOP + 20.0 * number as f64;
            let x = WIDTH - RIGHT + 12.0;
            let _ = writeln!(
                svg,
                "<rect x=\"{x}\" y=\"{}\" width=\"14\" height=\"4\" fill=\"{color}\"/>",
                y - 6.0
            );
            text(&mut svg, [x + 20.0, y], "start", name);
        }
        svg + "</svg>\n"
    }
}

fn line(svg: &mut String, [x1, y1]: [f64; 2], [x2, y2]: [f64; 2]) {
    let _ = writeln!(
        svg,
        "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"#ddd\"/>"
    );
}

fn text(svg: &mut String, [x, y]: [f64; 2], anchor: &str, words: &str) {
    let _ =
        writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>");
}

/// A number that fits under a tick.
fn label(value: f64) -> String {
    if value >= 1e6 {
        format!("{:.1}M", value / 1e6)
    } else if value >= 1e4 {
        format!("{:.0}k", value / 1e3)
    } else {
        short(value)
    }
}

/// A round number that is not smaller.
fn nice_above(value: f64) -> f64 {
    if value <= 0.0 || !value.is_finite() {
        return 1.0;
    }
    let power = 10f64.powf(value.log10().floor());
    [1.0, 2.0, 4.0, 8.0, 10.0].map(|k| k * power).into_iter().find(|&k| k >= value).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_numbers_are_above() {
        assert_eq!([0.0, 0.7, 1.0, 3.0, 9.0].map(nice_above), [1.0, 0.8, 1.0, 4.0, 10.0]);
    }

    #[test]
    fn labels_are_short() {
        assert_eq!(
            [0.25, 4096.0, 262_144.0, 4_194_304.0].map(label),
            ["0.25", "4096", "262k", "4.2M"]
        );
    }

    #[test]
    fn every_curve_is_drawn() {
        let curves =
            vec![("a".into(), vec![[1.0, 2.0], [8.0, 1.0]]), ("b".into(), vec![[2.0, 3.0]])];
        for scale in [Scale::Linear, Scale::Logarithmic] {
            let curves = curves.clone();
            let svg = Plot { title: "t".into(), x: "x", scale, y: "y", curves }.svg();
            assert_eq!(svg.matches("<polyline").count(), 2);
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
        }
    }
}
