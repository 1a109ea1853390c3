//! SVG as text. The one place where a character of the caller's reaches the picture: escaped.

use std::fmt::Write;

pub(super) const WIDTH: f64 = 860.0;

pub(super) const INK: &str = "#24292f";
const PAPER: &str = "#ffffff";
const GRID: &str = "#d8dee4";

type Place = (f64, f64);

pub(super) struct Canvas {
    svg: String,
}

impl Canvas {
    pub(super) fn new(title: &str, height: f64) -> Self {
        let title = escaped(title);
        let mut canvas = Self { svg: String::new() };
        canvas.add(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
             width=\"{WIDTH}\" height=\"{height}\" role=\"img\" \
             font-family=\"system-ui, sans-serif\">\n<title>{title}</title>"
        ));
        canvas.add(format_args!(
            "<rect width=\"{WIDTH}\" height=\"{height}\" rx=\"6\" fill=\"{PAPER}\"/>"
        ));
        canvas
    }

    pub(super) fn finish(mut self) -> String {
        self.svg.push_str("</svg>\n");
        self.svg
    }

    fn add(&mut self, element: std::fmt::Arguments<'_>) {
        writeln!(self.svg, "{element}").expect("text takes what is written to it");
    }

    /// Draws a text at its anchor: start, middle or end.
    pub(super) fn text(&mut self, (x, y): Place, anchor: &str, size: u32, text: &str) {
        let text = escaped(text);
        self.add(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"{size}\" \
             fill=\"{INK}\">{text}</text>"
        ));
    }

    /// Draws a text from the bottom up, centred at its place.
    pub(super) fn upright_text(&mut self, (x, y): Place, size: u32, text: &str) {
        let text = escaped(text);
        self.add(format_args!(
            "<text transform=\"translate({x:.1} {y:.1}) rotate(-90)\" text-anchor=\"middle\" \
             font-size=\"{size}\" fill=\"{INK}\">{text}</text>"
        ));
    }

    pub(super) fn axis_line(&mut self, from: Place, to: Place) {
        self.line(from, to, INK);
    }

    pub(super) fn grid_line(&mut self, from: Place, to: Place) {
        self.line(from, to, GRID);
    }

    fn line(&mut self, from: Place, to: Place, colour: &str) {
        self.add(format_args!(
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\"/>",
            from.0, from.1, to.0, to.1
        ));
    }

    /// Nothing, if there is no place to draw.
    pub(super) fn polyline(&mut self, places: &[Place], colour: &str, dashes: &str) {
        if places.is_empty() {
            return;
        }
        let mut points = String::new();
        for (x, y) in places {
            write!(points, "{x:.1},{y:.1} ").expect("text takes what is written to it");
        }
        let points = points.trim_end();
        self.add(format_args!(
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\" \
             stroke-dasharray=\"{dashes}\" stroke-linejoin=\"round\"/>"
        ));
    }

    pub(super) fn circle(&mut self, (x, y): Place, colour: &str) {
        self.add(format_args!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>"));
    }

    /// Draws a rectangle between two opposite corners.
    pub(super) fn rectangle(&mut self, one: Place, other: Place, colour: &str) {
        let (x, y) = (one.0.min(other.0), one.1.min(other.1));
        let (width, height) = ((one.0 - other.0).abs(), (one.1 - other.1).abs());
        self.add(format_args!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             fill=\"{colour}\"/>"
        ));
    }
}

/// Fit for XML: no markup, and no control character, which XML forbids.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push(' '),
            control if control.is_control() => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}
