//! Data structures that several policies share, each tested alone.

pub mod bitmap;
pub mod heap;

pub use bitmap::Bitmap;
pub use heap::IndexedHeap;
