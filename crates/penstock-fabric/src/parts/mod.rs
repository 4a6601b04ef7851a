//! Data structures that several policies share, each tested alone.

pub mod bitmap;
pub mod draws;
pub mod hash;
pub mod heap;
pub mod streams;

pub use bitmap::Bitmap;
pub use draws::Draws;
pub use hash::MixedKeys;
pub(crate) use hash::{reduce, salted};
pub use heap::IndexedHeap;
pub use streams::Streams;
