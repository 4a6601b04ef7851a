//! Named random streams: every draw of a run comes from the scenario's seed and a name.
//!
//! Two streams with different names are independent, so a new consumer of randomness does not
//! change what the others draw.

use penstock_units::random::Pcg64Mcg;

/// The generator of the stream called `name` under the scenario's `seed`.
pub fn stream(seed: u64, name: &str) -> Pcg64Mcg {
    let mut low = mix(seed ^ 0x9e37_79b9_7f4a_7c15);
    let mut high = mix(low);
    for byte in name.bytes() {
        low = mix(low ^ u64::from(byte));
        high = mix(high.wrapping_add(low));
    }
    Pcg64Mcg::new((u128::from(high) << 64) | u128::from(low))
}

/// A bijective mix of 64 bits: the finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
pub fn mix(value: u64) -> u64 {
    let mut mixed = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::RngCore;

    #[test]
    fn a_stream_depends_on_its_seed_and_name_only() {
        let draw = |seed, name| stream(seed, name).next_u64();
        assert_eq!(draw(1, "sizes"), draw(1, "sizes"));
        assert_ne!(draw(1, "sizes"), draw(2, "sizes"));
        assert_ne!(draw(1, "sizes"), draw(1, "pairs"));
    }
}
