//! Philox4x32-10: a counter becomes four random words. Salmon, Moraes, Dror, Shaw: "Parallel random
//! numbers: as easy as 1, 2, 3" (SC11).

const ROUNDS: u32 = 10;
const MULTIPLIERS: [u32; 2] = [0xd251_1f53, 0xcd9e_8d57];
/// Added to the key after each round: the golden ratio, and the square root of three less one.
const KEY_STEPS: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];

/// Four random words for a counter under a key.
#[must_use]
pub fn philox(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let mut words = counter;
    let mut key = key;
    for _ in 0..ROUNDS {
        let (high_0, low_0) = product(MULTIPLIERS[0], words[0]);
        let (high_1, low_1) = product(MULTIPLIERS[1], words[2]);
        words = [high_1 ^ words[1] ^ key[0], low_1, high_0 ^ words[3] ^ key[1], low_0];
        key = [key[0].wrapping_add(KEY_STEPS[0]), key[1].wrapping_add(KEY_STEPS[1])];
    }
    words
}

fn product(one: u32, other: u32) -> (u32, u32) {
    let product = u64::from(one) * u64::from(other);
    ((product >> 32) as u32, product as u32)
}
