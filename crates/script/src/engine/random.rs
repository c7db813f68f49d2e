//! `Math.random`: the same numbers again for the same seed.

/// xoshiro256**, by Blackman and Vigna (public domain algorithm), seeded through splitmix64.
pub(super) struct Random([u64; 4]);

impl Random {
    #[expect(clippy::cast_possible_truncation, reason = "the two halves of the seed")]
    pub(super) fn new(seed: u128) -> Self {
        let (low, high) = (seed as u64, (seed >> 64) as u64);
        // Each half takes part in every word, since the first number follows from one word alone.
        let (mut first, mut second) = (low ^ split_mix(&mut high.clone()), high ^ split_mix(&mut low.clone()));
        Self([split_mix(&mut first), split_mix(&mut second), split_mix(&mut first), split_mix(&mut second)])
    }

    /// Returns the next number in [0, 1).
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    pub(super) fn next(&mut self) -> f64 {
        let state = &mut self.0;
        let result = state[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let shifted = state[1] << 17;
        state[2] ^= state[0];
        state[3] ^= state[1];
        state[1] ^= state[2];
        state[0] ^= state[3];
        state[2] ^= shifted;
        state[3] = state[3].rotate_left(45);
        (result >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_and_another_seed_others() {
        let take = |seed| {
            let mut random = Random::new(seed);
            [random.next(), random.next(), random.next()]
        };
        assert_eq!(take(7), take(7));
        assert_ne!(take(7), take(7 << 64));
        assert_ne!(take(0), take(1));
        assert!(take(0).iter().all(|number| (0.0..1.0).contains(number)));
    }
}
