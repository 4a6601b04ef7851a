//! Data structures that several policies share, each tested alone.

pub mod bitmap;
pub mod hash;
pub mod heap;
pub mod pause_clock;

pub use bitmap::Bitmap;
pub use hash::MixedKeys;
pub use heap::IndexedHeap;
pub use pause_clock::PauseClock;
