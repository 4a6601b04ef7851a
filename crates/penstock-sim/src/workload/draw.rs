//! Draws from a random stream: uniform, index, standard normal.
//!
//! The transcendental functions come from `libm`, so that a draw is the same on every machine.

use core::f64::consts::TAU;

use rand_core::RngCore;

/// Uniform over (0, 1], in steps of 2^-53. Never zero, so the logarithm is finite.
pub(super) fn unit(random: &mut impl RngCore) -> f64 {
    ((random.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
}

/// Uniform over `0..count` (by multiplication; the bias is below `count` / 2^64).
pub(super) fn index(random: &mut impl RngCore, count: usize) -> usize {
    debug_assert!(count > 0, "nothing to draw from");
    ((u128::from(random.next_u64()) * count as u128) >> 64) as usize
}

/// Normal with mean 0 and variance 1 (Box and Muller 1958; one of the pair is used).
pub(super) fn standard_normal(random: &mut impl RngCore) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(unit(random)));
    radius * libm::cos(TAU * unit(random))
}

#[cfg(test)]
mod tests {
    use penstock_engine::stream::stream;

    use super::*;

    #[test]
    fn draws_have_their_moments() {
        let mut random = stream(1, "draws");
        let count = 200_000;
        let (mut first, mut second, mut normal, mut square) = (0.0, [0u32; 3], 0.0, 0.0);
        for _ in 0..count {
            first += unit(&mut random);
            second[index(&mut random, 3)] += 1;
            let draw = standard_normal(&mut random);
            normal += draw;
            square += draw * draw;
        }
        let count = f64::from(count);
        // Within five standard errors each.
        assert!((first / count - 0.5).abs() < 5.0 * (1.0 / 12.0 / count).sqrt());
        assert!(second.iter().all(|hits| (f64::from(*hits) - count / 3.0).abs() < 1_055.0));
        assert!((normal / count).abs() < 5.0 / count.sqrt());
        assert!((square / count - 1.0).abs() < 5.0 * (2.0 / count).sqrt());
    }
}
