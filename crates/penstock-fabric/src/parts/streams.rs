//! The random numbers of ns-3, for comparisons draw by draw.
//!
//! ns-3 uses the generator MRG32k3a with independent streams (P. L'Ecuyer et al., "An Object-Oriented
//! Random-Number Package with Many Long Streams and Substreams", Operations Research 2002). The ns-3
//! HPCC simulator makes a new random variable for every packet that it may mark and for every pause
//! frame. Each new variable has a new stream, of which the simulator takes the first number.
//!
//! | symbol | here | value | source |
//! |---|---|---|---|
//! | m1, m2, a12 … | constants | | L'Ecuyer 1999, MRG32k3a |
//! | seed, run | all words 1; substream 1 | | ns-3's defaults |

/// The two moduli.
const M1: u64 = 4_294_967_087;
const M2: u64 = 4_294_944_443;
/// The multipliers. The names with an N are of negative multipliers.
const A12: u64 = 1_403_580;
const A13N: u64 = 810_728;
const A21: u64 = 527_612;
const A23N: u64 = 1_370_589;
/// 1 / (m1 + 1).
const NORM: f64 = 2.328_306_549_295_728e-10;
/// Streams begin 2^127 numbers apart, substreams 2^76.
const STREAM_LOG2: u32 = 127;
const SUBSTREAM_LOG2: u32 = 76;

type Matrix = [[u64; 3]; 3];

/// The first numbers of consecutive streams.
#[derive(Clone, Debug)]
pub struct Streams {
    /// Where the next stream begins, in both components.
    next: [[u64; 3]; 2],
    /// The matrices that move both components one stream further.
    step: [Matrix; 2],
}

impl Streams {
    /// Streams from number `first` on.
    pub fn new(first: u64) -> Self {
        let one = [
            [[0, 1, 0], [0, 0, 1], [M1 - A13N, A12, 0]],
            [[0, 1, 0], [0, 0, 1], [M2 - A23N, 0, A21]],
        ];
        let moduli = [M1, M2];
        let ahead = |log2: u32| [0, 1].map(|k| doubled(one[k], log2, moduli[k]));
        let (step, substream) = (ahead(STREAM_LOG2), ahead(SUBSTREAM_LOG2));
        let mut next = [[1; 3]; 2];
        for k in [0, 1] {
            next[k] = apply(&substream[k], next[k], moduli[k]);
            let (mut power, mut left) = (step[k], first);
            while left > 0 {
                if left & 1 == 1 {
                    next[k] = apply(&power, next[k], moduli[k]);
                }
                power = product(&power, &power, moduli[k]);
                left >>= 1;
            }
        }
        Streams { next, step }
    }

    /// The first number of the next stream, in (0, 1).
    pub fn draw(&mut self) -> f64 {
        let [low, high] = self.next;
        let first = (A12 * low[1] % M1 + (M1 - A13N) * low[0] % M1) % M1;
        let second = (A21 * high[2] % M2 + (M2 - A23N) * high[0] % M2) % M2;
        self.skip();
        let difference = if first > second { first - second } else { first + M1 - second };
        difference as f64 * NORM
    }

    /// Skips one stream.
    pub fn skip(&mut self) {
        self.next =
            [apply(&self.step[0], self.next[0], M1), apply(&self.step[1], self.next[1], M2)];
    }
}

/// `matrix` to the power of 2^`log2`.
fn doubled(matrix: Matrix, log2: u32, modulus: u64) -> Matrix {
    (0..log2).fold(matrix, |power, _| product(&power, &power, modulus))
}

fn product(left: &Matrix, right: &Matrix, modulus: u64) -> Matrix {
    let mut result = [[0; 3]; 3];
    for (row, from) in result.iter_mut().zip(left) {
        for (column, entry) in row.iter_mut().enumerate() {
            *entry =
                (0..3).fold(0, |sum, k| (sum + from[k] * right[k][column] % modulus) % modulus);
        }
    }
    result
}

fn apply(matrix: &Matrix, state: [u64; 3], modulus: u64) -> [u64; 3] {
    matrix.map(|row| (0..3).fold(0, |sum, k| (sum + row[k] * state[k] % modulus) % modulus))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_further_is_the_next_draw() {
        let mut streams = Streams::new(0);
        let in_turn: [f64; 5] = core::array::from_fn(|_| streams.draw());
        for (number, expected) in in_turn.into_iter().enumerate() {
            assert_eq!(Streams::new(number as u64).draw(), expected);
        }
        assert!(in_turn.iter().all(|&number| number > 0.0 && number < 1.0));
    }

    #[test]
    fn first_numbers_are_uniform() {
        let mut streams = Streams::new(7);
        let count = 100_000;
        let mean = (0..count).map(|_| streams.draw()).sum::<f64>() / f64::from(count);
        // The mean of a uniform number has a deviation of 0.2887 / sqrt(count) = 0.0009.
        assert!((mean - 0.5).abs() < 0.004, "{mean}");
    }
}
