//! The right answers of the tasks, computed in the plainest way in double precision.

use std::collections::BTreeMap;

use super::values::Size;

pub(crate) type Buffers = BTreeMap<String, Vec<f64>>;

/// The output of a task.
pub(crate) fn of(task: &str, size: Size<'_>, buffers: &Buffers) -> Vec<f64> {
    let x = || &buffers["x"];
    let wide = |name: &str| size.of(name) as usize;
    match task {
        "saxpy" => {
            let alpha = size.0["alpha"].as_f64().expect("a number");
            x().iter().zip(&buffers["y"]).map(|(x, y)| alpha * x + y).collect()
        }
        "row_sum" => x().chunks(wide("cols")).map(|row| row.iter().sum()).collect(),
        "softmax" => x().chunks(wide("cols")).flat_map(softmax).collect(),
        "layernorm" => layernorm(wide("cols"), buffers),
        "matmul" => matmul(wide("m"), wide("n"), wide("k"), buffers),
        "transpose" => {
            let (rows, cols) = (wide("rows"), wide("cols"));
            (0..rows * cols).map(|at| x()[at % rows * cols + at / rows]).collect()
        }
        "prefix_sum" => x()
            .iter()
            .scan(0.0, |sum, value| {
                *sum += value;
                Some(*sum)
            })
            .collect(),
        "histogram" => {
            let mut counts = vec![0.0; 64];
            x().iter().for_each(|value| counts[*value as usize] += 1.0);
            counts
        }
        "five_point" => five_point(wide("height"), wide("width"), x()),
        "gelu" => x().iter().map(|x| x * normal_distribution(*x)).collect(),
        "rmsnorm" => rmsnorm(wide("cols"), buffers),
        "attention_scores" => attention(wide("heads"), wide("length"), wide("dim"), buffers),
        _ => panic!("nothing is known of the task {task}"),
    }
}

fn softmax(row: &[f64]) -> Vec<f64> {
    let top = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = row.iter().map(|value| (value - top).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.into_iter().map(|power| power / sum).collect()
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

fn layernorm(cols: usize, buffers: &Buffers) -> Vec<f64> {
    let rows = buffers["x"].chunks(cols);
    rows.flat_map(|row| {
        let middle = mean(row.iter().copied());
        let variance = mean(row.iter().map(|value| (value - middle).powi(2)));
        let scale = 1.0 / (variance + 1e-5).sqrt();
        let columns = row.iter().zip(&buffers["weight"]).zip(&buffers["bias"]);
        columns.map(move |((value, weight), bias)| (value - middle) * scale * weight + bias)
    })
    .collect()
}

fn rmsnorm(cols: usize, buffers: &Buffers) -> Vec<f64> {
    let rows = buffers["x"].chunks(cols);
    rows.flat_map(|row| {
        let root = (mean(row.iter().map(|value| value * value)) + 1e-5).sqrt();
        row.iter().zip(&buffers["weight"]).map(move |(value, weight)| value / root * weight)
    })
    .collect()
}

fn matmul(m: usize, n: usize, k: usize, buffers: &Buffers) -> Vec<f64> {
    let (a, b) = (&buffers["a"], &buffers["b"]);
    let one = |at: usize| (0..k).map(|i| a[at / n * k + i] * b[i * n + at % n]).sum();
    (0..m * n).map(one).collect()
}

fn five_point(height: usize, width: usize, x: &[f64]) -> Vec<f64> {
    let at = |row: Option<usize>, column: Option<usize>| match (row, column) {
        (Some(row), Some(column)) if row < height && column < width => x[row * width + column],
        _ => 0.0,
    };
    let one = |at_cell: usize| {
        let (row, column) = (at_cell / width, at_cell % width);
        let (above, left) = (row.checked_sub(1), column.checked_sub(1));
        at(above, Some(column))
            + at(Some(row + 1), Some(column))
            + at(Some(row), left)
            + at(Some(row), Some(column + 1))
            - 4.0 * x[at_cell]
    };
    (0..height * width).map(one).collect()
}

fn attention(heads: usize, length: usize, dim: usize, buffers: &Buffers) -> Vec<f64> {
    let row_of = |name: &str, head: usize, at: usize| {
        let first = (head * length + at) * dim;
        buffers[name][first..first + dim].to_vec()
    };
    let mut weights = Vec::new();
    for (head, i) in (0..heads).flat_map(|head| (0..length).map(move |i| (head, i))) {
        let query = row_of("q", head, i);
        let score = |j: usize| {
            let key = row_of("k", head, j);
            query.iter().zip(&key).map(|(q, k)| q * k).sum::<f64>() / (dim as f64).sqrt()
        };
        let scores: Vec<f64> = (0..=i).map(score).collect();
        weights.extend(softmax(&scores));
        weights.extend(std::iter::repeat_n(0.0, length - 1 - i));
    }
    weights
}

/// The distribution function of the standard normal distribution, by its Taylor series around zero: 1/2
/// plus the density times the sum of x^(2i+1) / (1 * 3 * ... * (2i+1)). All terms have one sign, so nothing
/// cancels.
fn normal_distribution(x: f64) -> f64 {
    let density = (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let (mut term, mut sum) = (x, x);
    for i in 1..400 {
        term *= x * x / f64::from(2 * i + 1);
        sum += term;
    }
    0.5 + density * sum
}
