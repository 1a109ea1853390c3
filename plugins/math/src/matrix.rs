//! Sums, products and determinants of matrices whose entries are expressions, up to a bounded size.

use crate::expression::Expression;
use crate::limits;
use crate::unreadable::{Result, Unreadable};
use crate::value::{Scalar, Value};

const UNUSABLE: Unreadable = Unreadable("matrices that do not fit together");

type Grid = Vec<Vec<Expression>>;

/// The entries of a matrix with rows of one length.
fn grid(value: Value) -> Result<Grid> {
    let Value::Matrix(rows) = value else { return Err(UNUSABLE) };
    let width = rows.first().map_or(0, Vec::len);
    let fits = (1..=limits::MATRIX_SIDE_MAX).contains(&width)
        && rows.len() <= limits::MATRIX_SIDE_MAX
        && rows.iter().all(|row| row.len() == width);
    if !fits {
        return Err(UNUSABLE);
    }
    let entry = |cell: Value| match cell {
        Value::Scalar(Scalar { expression, unit: None, .. }) => Ok(expression),
        _ => Err(UNUSABLE),
    };
    rows.into_iter().map(|row| row.into_iter().map(entry).collect()).collect()
}

fn matrix(grid: Grid) -> Value {
    let row = |row: Vec<Expression>| row.into_iter().map(Value::scalar).collect();
    Value::Matrix(grid.into_iter().map(row).collect())
}

pub(crate) fn add(left: Value, right: Value, minus: bool) -> Result<Value> {
    let (left, right) = (grid(left)?, grid(right)?);
    if left.len() != right.len() || left[0].len() != right[0].len() {
        return Err(UNUSABLE);
    }
    let entry = |(left, right): (Expression, Expression)| {
        let right = if minus { Expression::Negate(Box::new(right)) } else { right };
        Expression::Sum(Box::new(left), Box::new(right))
    };
    let row = |(left, right): (Vec<Expression>, Vec<Expression>)| {
        left.into_iter().zip(right).map(entry).collect()
    };
    Ok(matrix(left.into_iter().zip(right).map(row).collect()))
}

/// The product of a number or a matrix with a matrix.
pub(crate) fn multiply(left: Value, right: Value) -> Result<Value> {
    let right = grid(right)?;
    if let Value::Scalar(Scalar { expression, unit: None, .. }) = left {
        let times = |entry| Expression::Product(Box::new(expression.clone()), Box::new(entry));
        let row = |row: Vec<Expression>| row.into_iter().map(times).collect();
        return Ok(matrix(right.into_iter().map(row).collect()));
    }
    let left = grid(left)?;
    if left[0].len() != right.len() {
        return Err(UNUSABLE);
    }
    let entry = |row: &[Expression], column: usize| {
        let products = row.iter().zip(&right).map(|(left, right)| {
            Expression::Product(Box::new(left.clone()), Box::new(right[column].clone()))
        });
        let sum = |left, right| Expression::Sum(Box::new(left), Box::new(right));
        products.reduce(sum).ok_or(UNUSABLE)
    };
    let row = |row: &Vec<Expression>| {
        (0..right[0].len()).map(|column| entry(row, column)).collect::<Result<Vec<_>>>()
    };
    let product = matrix(left.iter().map(row).collect::<Result<_>>()?);
    bounded(product)
}

/// Refuses a product of products that grew too large.
fn bounded(value: Value) -> Result<Value> {
    let Value::Matrix(rows) = &value else { return Ok(value) };
    let mut nodes = 0_usize;
    for cell in rows.iter().flatten() {
        if let Value::Scalar(scalar) = cell {
            nodes += scalar.expression.size(limits::WORK_MAX as usize);
        }
    }
    if nodes > limits::ANSWER_BYTES_MAX * 4 { Err(UNUSABLE) } else { Ok(value) }
}

/// The determinant of up to three rows.
pub(crate) fn determinant(value: Value) -> Result<Value> {
    let grid = grid(value)?;
    if grid.len() != grid[0].len() || grid.len() > 3 {
        return Err(UNUSABLE);
    }
    Ok(Value::scalar(expand(&grid)))
}

fn expand(grid: &[Vec<Expression>]) -> Expression {
    if let [row] = grid {
        return row[0].clone();
    }
    let mut sum = Expression::integer(0);
    for (column, entry) in grid[0].iter().enumerate() {
        let minor: Grid = grid[1..]
            .iter()
            .map(|row| {
                let others = row.iter().enumerate().filter(|(at, _)| *at != column);
                others.map(|(_, entry)| entry.clone()).collect()
            })
            .collect();
        let term = Expression::Product(Box::new(entry.clone()), Box::new(expand(&minor)));
        let term = if column % 2 == 1 { Expression::Negate(Box::new(term)) } else { term };
        sum = Expression::Sum(Box::new(sum), Box::new(term));
    }
    sum
}
