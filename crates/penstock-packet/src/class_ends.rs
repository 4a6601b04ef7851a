//! When the pauses of classes at one end of a link end by themselves (PFC with timed pauses).

use alloc::boxed::Box;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;

/// Priority classes of a link (IEEE 802.1Q).
pub const CLASSES: usize = 8;

/// The ends of the pauses of the eight classes. It takes memory from the first such pause on.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
pub struct ClassEnds(Option<Box<[Time; CLASSES]>>);

impl ClassEnds {
    /// The pause of `class` ends at `end`, later or earlier than before.
    pub fn set(&mut self, class: u8, end: Time) {
        let ends = self.0.get_or_insert_with(|| Box::new([Time::NEVER; CLASSES]));
        ends[usize::from(class) % CLASSES] = end;
    }

    /// `class` has no pause that ends by itself any more.
    pub fn clear(&mut self, class: u8) {
        if let Some(ends) = &mut self.0 {
            ends[usize::from(class) % CLASSES] = Time::NEVER;
        }
    }

    /// The next end; [`Time::NEVER`] when there is none.
    pub fn next(&self) -> Time {
        let ends = self.0.iter().flat_map(|ends| ends.iter());
        ends.copied().min().unwrap_or(Time::NEVER)
    }

    /// A class whose pause has ended by `now`.
    pub fn lapsed(&self, now: Time) -> Option<u8> {
        let ends = self.0.as_ref()?;
        ends.iter().position(|end| *end <= now).map(|class| class as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_ends_at_its_last_end_unless_it_is_cleared() {
        let mut ends = ClassEnds::default();
        assert_eq!((ends.next(), ends.lapsed(Time::from_us(9))), (Time::NEVER, None));
        ends.set(3, Time::from_us(5));
        ends.set(7, Time::from_us(6));
        ends.set(3, Time::from_us(8));
        assert_eq!(ends.next(), Time::from_us(6));
        assert_eq!(ends.lapsed(Time::from_us(5)), None);
        assert_eq!(ends.lapsed(Time::from_us(6)), Some(7));
        ends.clear(7);
        assert_eq!((ends.next(), ends.lapsed(Time::from_us(8))), (Time::from_us(8), Some(3)));
    }
}
