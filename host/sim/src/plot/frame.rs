//! The frame of a chart: title, legend, axes with their ticks, and the colours.

use super::Labels;
use super::axis::Axis;
use super::canvas::{Canvas, WIDTH};

const LEFT: f64 = 76.0;
const RIGHT: f64 = WIDTH - 28.0;
const BELOW: f64 = 56.0;
const PLOT_HEIGHT: f64 = 380.0;

const LEGEND_TOP: f64 = 50.0;
const LEGEND_ROW: f64 = 20.0;
const SWATCH: f64 = 22.0;
/// About the width of a letter of the legend's size.
const LETTER: f64 = 7.2;

/// Okabe and Ito's colours, without the yellow, which is too pale on white.
const COLOURS: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];
/// A second round of the colours is dashed, a third dotted.
const DASHES: [&str; 3] = ["none", "7 4", "2 3"];

pub(super) fn colour(place: usize) -> &'static str {
    COLOURS[place % COLOURS.len()]
}

pub(super) fn dashes(place: usize) -> &'static str {
    DASHES[place / COLOURS.len() % DASHES.len()]
}

pub(super) struct Frame {
    x: Axis,
    y: Axis,
    /// The places of the series' names.
    legend: Vec<(f64, f64)>,
    top: f64,
}

impl Frame {
    pub(super) fn new(x: Axis, y: Axis, names: &[&str]) -> Self {
        let legend = legend_places(names);
        let last_row = legend.last().map_or(LEGEND_TOP - LEGEND_ROW, |(_, y)| *y);
        Self { x, y, legend, top: last_row + LEGEND_ROW }
    }

    pub(super) fn height(&self) -> f64 {
        self.bottom() + BELOW
    }

    fn bottom(&self) -> f64 {
        self.top + PLOT_HEIGHT
    }

    fn across(&self, share: f64) -> f64 {
        LEFT + share * (RIGHT - LEFT)
    }

    fn up(&self, share: f64) -> f64 {
        self.bottom() - share * PLOT_HEIGHT
    }

    /// The place of a point on the canvas; `None` if an axis cannot show it.
    pub(super) fn place(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        Some((self.across(self.x.place(x)?), self.up(self.y.place(y)?)))
    }

    pub(super) fn places(&self, points: &[(f64, f64)]) -> impl Iterator<Item = (f64, f64)> {
        points.iter().filter_map(|point| self.place(*point))
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, labels: &Labels<'_>, names: &[&str]) {
        let middle = f64::midpoint(LEFT, RIGHT);
        canvas.text((middle, 26.0), "middle", 17, labels.title);
        for (place, ((x, y), name)) in self.legend.iter().zip(names).enumerate() {
            let swatch = [(*x, y - 4.0), (x + SWATCH, y - 4.0)];
            canvas.polyline(&swatch, colour(place), dashes(place));
            canvas.text((x + SWATCH + 6.0, *y), "start", 13, name);
        }
        self.draw_ticks(canvas);
        let corner = (LEFT, self.bottom());
        canvas.axis_line(corner, (RIGHT, self.bottom()));
        canvas.axis_line(corner, (LEFT, self.top));
        canvas.text((middle, self.bottom() + 44.0), "middle", 13, labels.x);
        canvas.upright_text((20.0, self.up(0.5)), 13, labels.y);
    }

    fn draw_ticks(&self, canvas: &mut Canvas) {
        for (tick, label) in &self.x.ticks {
            let Some(share) = self.x.place(*tick) else { continue };
            let x = self.across(share);
            if self.x.has_grid {
                canvas.grid_line((x, self.top), (x, self.bottom()));
            }
            canvas.text((x, self.bottom() + 18.0), "middle", 12, label);
        }
        for (tick, label) in &self.y.ticks {
            let Some(share) = self.y.place(*tick) else { continue };
            let y = self.up(share);
            canvas.grid_line((LEFT, y), (RIGHT, y));
            canvas.text((LEFT - 8.0, y + 4.0), "end", 12, label);
        }
    }
}

/// Names beside one another, in as many rows as they need.
fn legend_places(names: &[&str]) -> Vec<(f64, f64)> {
    let (mut x, mut y) = (LEFT, LEGEND_TOP);
    let mut places = Vec::with_capacity(names.len());
    for name in names {
        let width = SWATCH + 28.0 + LETTER * name.chars().count() as f64;
        if x > LEFT && x + width > RIGHT {
            (x, y) = (LEFT, y + LEGEND_ROW);
        }
        places.push((x, y));
        x += width;
    }
    places
}
