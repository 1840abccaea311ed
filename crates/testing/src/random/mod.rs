//! Random input, the same for the same seed on every machine.

pub mod columns;
pub mod formulas;
pub mod operations;
pub mod text;

/// The generator splitmix64.
pub struct Generator(pub u64);

impl Generator {
    #[expect(
        clippy::should_implement_trait,
        reason = "it never ends, and needs no option"
    )]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize]
    }
}

/// The generator xorshift64*, whose state must not be 0.
pub struct Xorshift(pub u64);

impl Xorshift {
    #[expect(
        clippy::should_implement_trait,
        reason = "it never ends, and needs no option"
    )]
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}
