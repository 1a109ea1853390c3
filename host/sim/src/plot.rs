//! Charts of a run as SVG text: the paper's figures from plain numbers.
//!
//! The same numbers give the same text. Every chart brings its own light background, so that it
//! reads on a dark page as well, and a palette that stays apart for colour-blind eyes. Numbers that
//! an axis cannot show (none, infinite, not positive on a logarithmic one) are left out; a chart
//! never fails.

mod axis;
mod canvas;
mod frame;
pub mod policies;

use axis::Axis;
use canvas::Canvas;
use frame::{Frame, colour, dashes};

/// The words around a chart; an axis' unit stands in its label.
#[derive(Debug, Clone, Copy)]
pub struct Labels<'a> {
    pub title: &'a str,
    pub x: &'a str,
    pub y: &'a str,
}

/// Points in the order of x.
#[derive(Debug, Clone, Copy)]
pub struct Series<'a> {
    pub name: &'a str,
    pub points: &'a [(f64, f64)],
}

/// The extra delays of one policy's batches, in any order.
#[derive(Debug, Clone, Copy)]
pub struct Delays<'a> {
    pub name: &'a str,
    pub delays_s: &'a [f64],
}

/// One bar a category.
#[derive(Debug, Clone, Copy)]
pub struct Bars<'a> {
    pub name: &'a str,
    pub values: &'a [f64],
}

/// How two points are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    Straight,
    /// A value holds until the next one, as a number of workers does.
    Step,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    Linear,
    /// A logarithmic axis to base ten; it shows positive values alone.
    Log,
}

/// The scales of a curve's axes.
#[derive(Debug, Clone, Copy)]
pub struct Scales {
    pub x: Scale,
    pub y: Scale,
}

/// The most points with which a curve marks each of them; more marks would run together.
const MARKS_MAX: usize = 60;

/// The most bars with which each bar is labelled with its value.
const BAR_LABELS_MAX: usize = 24;

/// The part of a category's width that its bars take.
const BARS_WIDTH: f64 = 0.8;

/// Values over time (figures 10a, 10b and 13a): as many points as there are.
#[must_use]
pub fn line_chart(labels: &Labels<'_>, line: Line, series: &[Series<'_>]) -> String {
    let scales = Scales { x: Scale::Linear, y: Scale::Linear };
    let (mut canvas, frame) = start(labels, scales, series);
    for (place, series) in series.iter().enumerate() {
        draw_line(&mut canvas, &frame, line, place, series.points);
    }
    canvas.finish()
}

/// Extra delays from the least to the greatest (figures 10c and 13b).
#[must_use]
pub fn sorted_delays(title: &str, delays: &[Delays<'_>]) -> String {
    let ranked: Vec<Vec<(f64, f64)>> = delays.iter().map(|delays| rank(delays.delays_s)).collect();
    let series: Vec<Series<'_>> = delays
        .iter()
        .zip(&ranked)
        .map(|(delays, points)| Series { name: delays.name, points })
        .collect();
    let labels = Labels { title, x: "batches, sorted by extra delay", y: "extra delay (s)" };
    curve(&labels, Scales { x: Scale::Linear, y: Scale::Linear }, &series)
}

/// Measured points joined by lines (figures 14a and 15).
#[must_use]
pub fn curve(labels: &Labels<'_>, scales: Scales, series: &[Series<'_>]) -> String {
    let (mut canvas, frame) = start(labels, scales, series);
    for (place, series) in series.iter().enumerate() {
        draw_line(&mut canvas, &frame, Line::Straight, place, series.points);
        if series.points.len() <= MARKS_MAX {
            for (x, y) in frame.places(series.points) {
                canvas.circle((x, y), colour(place));
            }
        }
    }
    canvas.finish()
}

/// Bars by category, one beside the other (figure 12); the values begin at zero.
#[must_use]
pub fn bars(labels: &Labels<'_>, categories: &[&str], series: &[Bars<'_>]) -> String {
    let names: Vec<&str> = series.iter().map(|bars| bars.name).collect();
    let values = series.iter().flat_map(|bars| bars.values.iter().copied());
    let frame = Frame::new(Axis::categories(categories), Axis::from_zero(values), &names);
    let mut canvas = Canvas::new(labels.title, frame.height());
    frame.draw(&mut canvas, labels, &names);
    let width = BARS_WIDTH / series.len().max(1) as f64;
    let labelled = series.len() * categories.len() <= BAR_LABELS_MAX;
    for (place, bars) in series.iter().enumerate() {
        for (category, value) in bars.values.iter().take(categories.len()).enumerate() {
            let from = category as f64 + (1.0 - BARS_WIDTH) / 2.0 + width * place as f64;
            let corners = (frame.place((from, 0.0)), frame.place((from + width, *value)));
            let (Some(base), Some(top)) = corners else { continue };
            canvas.rectangle(base, top, colour(place));
            if labelled {
                let middle = ((base.0 + top.0) / 2.0, top.1.min(base.1) - 4.0);
                canvas.text(middle, "middle", 11, &axis::rounded(*value));
            }
        }
    }
    canvas.finish()
}

fn rank(delays_s: &[f64]) -> Vec<(f64, f64)> {
    let mut sorted: Vec<f64> = delays_s.iter().copied().filter(|delay| delay.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    sorted.into_iter().enumerate().map(|(rank, delay)| (rank as f64 + 1.0, delay)).collect()
}

fn start(labels: &Labels<'_>, scales: Scales, series: &[Series<'_>]) -> (Canvas, Frame) {
    let names: Vec<&str> = series.iter().map(|series| series.name).collect();
    let points = || series.iter().flat_map(|series| series.points);
    let (xs, ys) = (points().map(|(x, _)| *x), points().map(|(_, y)| *y));
    let x = match scales.x {
        Scale::Linear => Axis::exact(xs),
        Scale::Log => Axis::log(xs),
    };
    let y = match scales.y {
        Scale::Linear => Axis::from_zero(ys),
        Scale::Log => Axis::log(ys),
    };
    let frame = Frame::new(x, y, &names);
    let mut canvas = Canvas::new(labels.title, frame.height());
    frame.draw(&mut canvas, labels, &names);
    (canvas, frame)
}

fn draw_line(canvas: &mut Canvas, frame: &Frame, line: Line, place: usize, points: &[(f64, f64)]) {
    let mut path: Vec<(f64, f64)> = Vec::new();
    for (x, y) in thinned(frame.places(points)) {
        if let (Line::Step, Some((_, before))) = (line, path.last().copied()) {
            path.push((x, before));
        }
        path.push((x, y));
    }
    canvas.polyline(&path, colour(place), dashes(place));
}

/// The first, the lowest, the highest and the last point in each column of pixels. Other points could not
/// be seen, and leaving them out bounds a chart's size.
fn thinned(places: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let places: Vec<(f64, f64)> = places.collect();
    let mut kept = Vec::new();
    for column in places.chunk_by(|one, next| one.0.floor() == next.0.floor()) {
        let by_y = |one: &usize, other: &usize| column[*one].1.total_cmp(&column[*other].1);
        let lowest = (0..column.len()).min_by(by_y);
        let highest = (0..column.len()).max_by(by_y);
        let mut seen: Vec<usize> = lowest.into_iter().chain(highest).collect();
        seen.extend([0, column.len() - 1]);
        seen.sort_unstable();
        seen.dedup();
        kept.extend(seen.into_iter().map(|index| column[index]));
    }
    kept
}

#[cfg(test)]
mod tests;
