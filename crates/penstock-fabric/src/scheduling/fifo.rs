//! First in, first out: one data queue a port, which the `class` assignment with one class gives.

/// The FIFO scheduler: it remembers the one queue there is.
#[derive(Debug, Default)]
pub struct Fifo {
    queue: u32,
}

impl Fifo {
    #[inline]
    pub(crate) fn activate(&mut self, number: u32) {
        self.queue = number;
    }

    #[inline]
    pub(crate) fn select(&self) -> u32 {
        self.queue
    }
}
