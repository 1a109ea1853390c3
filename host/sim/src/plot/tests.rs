//! Every chart is well-formed, complete, and the same each time.

use super::*;

const LABELS: Labels<'_> = Labels { title: "Workers", x: "time (s)", y: "workers" };

/// Reads a chart as strictly as this subset of XML needs, and returns its elements' names.
fn elements(svg: &str) -> Vec<String> {
    let mut open = Vec::new();
    let mut names = Vec::new();
    let mut rest = svg;
    while let Some(start) = rest.find('<') {
        check_text(&rest[..start]);
        let end = start + rest[start..].find('>').expect("a tag ends");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
            continue;
        }
        let (tag, closed) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        check_attributes(attributes);
        names.push(name.to_owned());
        if !closed {
            open.push(name.to_owned());
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?} {rest:?}");
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    names
}

fn check_text(text: &str) {
    assert!(
        !text.contains('>')
            && text.chars().all(|character| character == '\n' || !character.is_control())
    );
    for entity in text.split('&').skip(1) {
        assert!(["amp;", "lt;", "gt;", "quot;"].iter().any(|known| entity.starts_with(known)));
    }
}

fn check_attributes(attributes: &str) {
    let parts: Vec<&str> = attributes.split('"').collect();
    let (last, pairs) = parts.split_last().expect("a split has parts");
    assert!(last.trim().is_empty() && pairs.len() % 2 == 0, "{attributes}");
    let mut names: Vec<&str> = pairs.iter().step_by(2).map(|name| name.trim()).collect();
    assert!(names.iter().all(|name| name.ends_with('=')), "{attributes}");
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "{attributes}");
}

fn count(elements: &[String], name: &str) -> usize {
    elements.iter().filter(|element| *element == name).count()
}

/// The points of each line that is drawn in the plot, legend aside.
fn lines(svg: &str) -> Vec<Vec<(f64, f64)>> {
    let points = |line: &str| {
        let text = line.split("points=\"").nth(1)?.split('"').next()?;
        let pairs = text.split(' ').map(|pair| pair.split_once(',').unwrap());
        Some(pairs.map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap())).collect())
    };
    let all: Vec<Vec<(f64, f64)>> = svg.lines().filter_map(points).collect();
    all[all.len() / 2..].to_vec()
}

#[test]
fn a_step_chart_holds_each_value() {
    let points = [(0.0, 0.0), (50.0, 10.0), (100.0, 5.0)];
    let flat = [(0.0, 2.0), (100.0, 2.0)];
    let series = [Series { name: "cpu", points: &points }, Series { name: "gpu", points: &flat }];
    let svg = line_chart(&LABELS, Line::Step, &series);
    elements(&svg);
    for word in ["Workers", "time (s)", "workers", ">cpu<", ">gpu<", ">100<", ">10<"] {
        assert!(svg.contains(word), "{word}");
    }
    let lines = lines(&svg);
    assert_eq!(lines.len(), 2);
    let [first, before, up, held, down] = lines[0][..] else { panic!("{:?}", lines[0]) };
    assert_eq!((first.1, before.0, held.1), (before.1, up.0, up.1));
    assert!(up.1 < down.1 && down.1 < first.1, "greater values stand higher");
    assert_eq!(lines[1].len(), 3);
    let straight = line_chart(&LABELS, Line::Straight, &series);
    assert_eq!(self::lines(&straight)[0], [first, up, down]);
    assert_eq!(svg, line_chart(&LABELS, Line::Step, &series));
}

#[test]
fn a_long_series_is_thinned_to_what_can_be_seen() {
    let mut points: Vec<(f64, f64)> =
        (0..200_000).map(|second| (f64::from(second), f64::from(second % 7))).collect();
    points[123_456].1 = 500.0;
    let svg = line_chart(&LABELS, Line::Straight, &[Series { name: "cpu", points: &points }]);
    elements(&svg);
    assert!(svg.len() < 60_000, "{}", svg.len());
    let line = &lines(&svg)[0];
    let highest = line.iter().map(|(_, y)| *y).fold(f64::MAX, f64::min);
    assert_eq!(line.iter().filter(|(_, y)| *y == highest).count(), 1, "the spike is kept");
    assert!(line.windows(2).all(|pair| pair[0].0 <= pair[1].0), "in order");
}

#[test]
fn delays_are_sorted() {
    let delays = [
        Delays { name: "history", delays_s: &[9.0, 0.5, f64::NAN, 3.0] },
        Delays { name: "distrs", delays_s: &[0.1, 0.0] },
    ];
    let svg = sorted_delays("Extra delay", &delays);
    assert_eq!(count(&elements(&svg), "circle"), 5);
    assert!(svg.contains("extra delay (s)") && svg.contains(">history<"));
    let lines = lines(&svg);
    assert_eq!((lines[0].len(), lines[1].len()), (3, 2));
    assert!(lines[0].windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 > pair[1].1));
}

#[test]
fn a_curve_on_logarithmic_axes_leaves_out_what_is_not_positive() {
    let points = [(1_000.0, 0.0), (2_000.0, 0.01), (16_000.0, 0.1), (1e6, 10.0)];
    let scales = Scales { x: Scale::Log, y: Scale::Log };
    let labels = Labels { title: "Planner time", x: "requests", y: "time (s)" };
    let svg = curve(&labels, scales, &[Series { name: "both stages", points: &points }]);
    assert_eq!(count(&elements(&svg), "circle"), 3);
    let line = &lines(&svg)[0];
    let (decade, two_decades) = (line[0].1 - line[1].1, line[1].1 - line[2].1);
    assert!(decade > 50.0 && (two_decades - 2.0 * decade).abs() < 0.3, "{line:?}");
    for tick in [">1000<", ">10k<", ">100k<", ">1M<", ">0.01<", ">0.1<", ">1<", ">10<"] {
        assert!(svg.contains(tick), "{tick}");
    }
}

#[test]
fn bars_stand_side_by_side_from_zero() {
    let labels = Labels { title: "GPU time", x: "", y: "normalised" };
    let series = [
        Bars { name: "distrs", values: &[1.298, 1.2] },
        Bars { name: "ideal", values: &[1.106, f64::NAN, 9.0] },
    ];
    let svg = bars(&labels, &["colocated", "disaggregated"], &series);
    // The background and three bars: one value is none, one has no category.
    assert_eq!(count(&elements(&svg), "rect"), 4);
    for word in [">colocated<", ">disaggregated<", ">1.298<", ">1.106<", ">1.2<", ">ideal<"] {
        assert!(svg.contains(word), "{word}");
    }
    assert!(!svg.contains(">9<"));
}

#[test]
fn nothing_breaks_a_chart() {
    let hostile = "a<b & \"c\" > \u{1}\u{ffff} ü";
    let labels = Labels { title: hostile, x: hostile, y: hostile };
    let odd = [(f64::NAN, 1.0), (1.0, f64::INFINITY), (1e300, 1.0), (-5.0, -5.0)];
    let series: Vec<Series<'_>> = (0..30).map(|_| Series { name: hostile, points: &odd }).collect();
    for line in [Line::Straight, Line::Step] {
        elements(&line_chart(&labels, line, &series));
        elements(&line_chart(&labels, line, &[]));
        elements(&line_chart(&labels, line, &[Series { name: "", points: &[] }]));
    }
    for scale in [Scale::Linear, Scale::Log] {
        let scales = Scales { x: scale, y: scale };
        elements(&curve(&labels, scales, &series));
        elements(&curve(&labels, scales, &[]));
        elements(&curve(&labels, scales, &[Series { name: "one", points: &[(3.0, 3.0)] }]));
        let huge = [(1e15, 1e-15), (1e15, 1e15)];
        elements(&curve(&labels, scales, &[Series { name: "huge", points: &huge }]));
    }
    elements(&bars(&labels, &[], &[]));
    elements(&bars(&labels, &[hostile], &[]));
    elements(&sorted_delays(hostile, &[Delays { name: hostile, delays_s: &[f64::NAN] }]));
}

#[test]
fn many_series_get_rows_in_the_legend_and_stay_apart() {
    let points = [(0.0, 0.0), (1.0, 1.0)];
    let series: Vec<Series<'_>> =
        (0..9).map(|_| Series { name: "a policy with a long name", points: &points }).collect();
    let svg = line_chart(&LABELS, Line::Straight, &series);
    assert_eq!(count(&elements(&svg), "polyline"), 18);
    assert!(svg.contains("stroke-dasharray=\"7 4\""), "the eighth is dashed");
    let few = line_chart(&LABELS, Line::Straight, &series[..1]);
    let height = |svg: &str| -> f64 {
        svg.split(" height=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
    };
    assert!(height(&svg) > height(&few));
}
