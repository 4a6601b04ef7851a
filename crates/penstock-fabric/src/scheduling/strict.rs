//! Strict priority: the lowest-numbered active queue sends; starvation of the others is expected.

/// The strict scheduler for up to 128 queues (Tofino2 has 128 at a 400 Gb/s port, BFC sec. 3.1).
#[derive(Debug, Default)]
pub struct Strict {
    active: u128,
}

/// The number of queues that [`Strict`] can tell apart, the control queue included.
pub const QUEUES_MAX: usize = 128;

impl Strict {
    #[inline]
    pub(crate) fn activate(&mut self, number: u32) {
        self.active |= 1 << number;
    }

    #[inline]
    pub(crate) fn deactivate(&mut self, number: u32) {
        self.active &= !(1 << number);
    }

    #[inline]
    pub(crate) fn select(&self) -> u32 {
        self.active.trailing_zeros()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_number_goes_first() {
        let mut strict = Strict::default();
        strict.activate(5);
        strict.activate(3);
        assert_eq!(strict.select(), 3);
        strict.deactivate(3);
        assert_eq!(strict.select(), 5);
    }
}
