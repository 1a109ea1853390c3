//! How shares of outcomes move while a model learns (paper, fig. 6b).

/// A share that moves from the first to the last, fast at first: e^(-rate · progress) of the way is left.
pub(super) fn decay(shares: [f64; 2], rate: f64, progress: f64) -> f64 {
    let [first, last] = shares;
    last + (first - last) * (-rate * progress).exp()
}

/// A share that moves from the first to the last, ever slower: (1 - progress)^power of the way is left.
pub(super) fn settle(shares: [f64; 2], power: f64, progress: f64) -> f64 {
    let [first, last] = shares;
    last + (first - last) * (1.0 - progress).powf(power)
}

/// The progress at which `rise_and_fall` has its summit.
const SUMMIT: f64 = 0.4;

/// A share that rises a quarter of a sine to the second value, then falls straight to the third.
pub(super) fn rise_and_fall(shares: [f64; 3], progress: f64) -> f64 {
    let [first, summit, last] = shares;
    if progress < SUMMIT {
        first + (summit - first) * (progress / SUMMIT * std::f64::consts::FRAC_PI_2).sin()
    } else {
        summit + (last - summit) * (progress - SUMMIT) / (1.0 - SUMMIT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_begin_turn_and_end_where_they_should() {
        assert_eq!(decay([0.3, 0.1], 3.0, 0.0), 0.3);
        assert!((decay([0.3, 0.1], 3.0, 1.0) - 0.1).abs() < 0.011);
        assert_eq!(settle([0.3, 0.1], 2.5, 0.0), 0.3);
        assert_eq!(settle([0.3, 0.1], 2.5, 1.0), 0.1);
        assert!(settle([0.3, 0.1], 2.5, 0.5) < 0.15);
        let at = |progress| rise_and_fall([0.25, 0.42, 0.2], progress);
        assert_eq!((at(0.0), at(SUMMIT)), (0.25, 0.42));
        assert!((at(1.0) - 0.2).abs() < 1e-12);
        assert!(at(0.2) > 0.25 && at(0.2) < 0.42 && at(0.7) < 0.42 && at(0.7) > 0.2);
    }
}
