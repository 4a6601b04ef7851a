//! Pauses of priorities as real devices send them: MAC control frames of IEEE 802.1Qbb (now IEEE 802.1Q,
//! clause 36; the frame is in IEEE 802.3, annex 31D).
//!
//! A pause lasts for a number of quanta. A quantum is the time of 512 bits on the link. The time 0 resumes.
//!
//! Two choices are ours. First, class 0 is our highest and priority 7 that of IEEE 802.1Q, so class c is
//! priority 7 − c ([`priority_of`]). Second, [`Signal::PauseClass`] lasts until it is resumed, which the
//! frame cannot say. It is written as the longest pause, and the longest pause is read as
//! [`Signal::PauseClass`]; a timed pause is at most one quantum shorter.

use penstock_packet::Signal;
use penstock_units::BitRate;

use crate::ethernet::SHORTEST_FRAME;
use crate::view::view;
use crate::{EtherType, Ethernet, Header, MacAddress, Malformed, NoRoom};

/// Opcode of priority-based flow control (IEEE 802.3, annex 31A).
pub const PRIORITY_PAUSE: u16 = 0x0101;

/// Priorities of a link, as many as classes.
pub const PRIORITIES: usize = penstock_packet::CLASSES;

/// Bits of a quantum (IEEE 802.3, annex 31B.2).
const QUANTUM_BITS: u128 = 512;

const NANOSECONDS: u128 = 1_000_000_000;

/// The priority that a class has outside, both 0 to 7. The mapping is its own inverse.
#[inline]
pub fn priority_of(class: u8) -> u8 {
    PRIORITIES as u8 - 1 - (class & 7)
}

/// The least number of quanta, at `rate`, that last at least `nanoseconds`; at most `u16::MAX`.
pub fn quanta(nanoseconds: u32, rate: BitRate) -> u16 {
    let bits = u128::from(nanoseconds) * u128::from(rate.as_bps());
    u16::try_from(bits.div_ceil(NANOSECONDS * QUANTUM_BITS)).unwrap_or(u16::MAX)
}

/// The time that `quanta` last at `rate` (ns), rounded up; at most `u32::MAX`, which is also the answer for
/// a rate of zero.
pub fn nanoseconds(quanta: u16, rate: BitRate) -> u32 {
    let scaled = u128::from(quanta) * QUANTUM_BITS * NANOSECONDS;
    match u128::from(rate.as_bps()) {
        0 => u32::MAX,
        bits_per_second => u32::try_from(scaled.div_ceil(bits_per_second)).unwrap_or(u32::MAX),
    }
}

view! {
    /// The bytes of a priority pause behind the Ethernet header.
    RawPriorityPause, Header::MacControl, PriorityPause::LENGTH;
    /// What the frame is.
    opcode, set_opcode: u16, 0;
    /// Bit p: whether the time of priority p counts. The high byte is reserved.
    enabled, set_enabled: u16, 2;
    /// Times of the priorities 0 to 7 in quanta, 2 B each.
    times, set_times: [u8; 16], 4;
}

/// A priority pause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PriorityPause {
    /// By priority: for how many quanta the neighbour must not send, 0 to resume; none where the frame says
    /// nothing about the priority.
    pub times: [Option<u16>; PRIORITIES],
}

impl PriorityPause {
    /// Length behind the Ethernet header, without padding (bytes).
    pub const LENGTH: usize = 20;

    /// The frame for a signal about a class, on a link of `rate`; none for other signals, and for classes
    /// above 7.
    pub fn of(signal: Signal, rate: BitRate) -> Option<PriorityPause> {
        let (class, time) = match signal {
            Signal::PauseClass(class) => (class, u16::MAX),
            Signal::PauseClassFor { class, nanoseconds } => {
                (class, quanta(nanoseconds, rate).clamp(1, u16::MAX - 1))
            }
            Signal::ResumeClass(class) => (class, 0),
            _ => return None,
        };
        let mut pause = PriorityPause::default();
        if usize::from(class) >= PRIORITIES {
            return None;
        }
        *pause.times.get_mut(usize::from(priority_of(class)))? = Some(time);
        Some(pause)
    }

    /// What the frame says about classes, on a link of `rate`, the highest class first.
    pub fn signals(self, rate: BitRate) -> impl Iterator<Item = Signal> {
        let classes = (0..PRIORITIES as u8).zip(self.times.into_iter().rev());
        classes.filter_map(move |(class, time)| {
            Some(match time? {
                0 => Signal::ResumeClass(class),
                u16::MAX => Signal::PauseClass(class),
                // Above 0 ns, which would be a pause until it is resumed: the time is rounded up.
                quanta => Signal::PauseClassFor { class, nanoseconds: nanoseconds(quanta, rate) },
            })
        })
    }

    /// Reads a whole frame, with its Ethernet header.
    ///
    /// # Errors
    /// When `frame` is no MAC control frame, ends within its header, or has another opcode.
    pub fn parse(frame: &[u8]) -> Result<PriorityPause, Malformed> {
        let (ethernet, rest) = Ethernet::parse(frame)?;
        if ethernet.ether_type != EtherType::MAC_CONTROL {
            return Err(Malformed::EtherType(ethernet.ether_type.0));
        }
        let (raw, _) = RawPriorityPause::new(rest)?;
        if raw.opcode() != PRIORITY_PAUSE {
            return Err(Malformed::Value(Header::MacControl));
        }
        let (enabled, bytes) = (raw.enabled(), raw.times());
        let (times, _) = bytes.as_chunks::<2>();
        let mut pause = PriorityPause::default();
        for (priority, (slot, &time)) in pause.times.iter_mut().zip(times).enumerate() {
            *slot = (enabled >> priority & 1 != 0).then_some(u16::from_be_bytes(time));
        }
        Ok(pause)
    }

    /// Writes a whole frame of `source`, with its Ethernet header and its padding; returns its length.
    ///
    /// # Errors
    /// When `frame` is shorter than 60 B.
    pub fn emit(&self, source: MacAddress, frame: &mut [u8]) -> Result<usize, NoRoom> {
        let room = NoRoom { needed: SHORTEST_FRAME, given: frame.len() };
        let frame = frame.get_mut(..SHORTEST_FRAME).ok_or(room)?;
        let header = Ethernet {
            destination: MacAddress::MAC_CONTROL,
            source,
            ether_type: EtherType::MAC_CONTROL,
        };
        let (mut raw, padding) = RawPriorityPause::new_mut(header.emit(frame)?)?;
        let (mut enabled, mut times) = (0, [0; 16]);
        let (slots, _) = times.as_chunks_mut::<2>();
        for (priority, (slot, time)) in slots.iter_mut().zip(self.times).enumerate() {
            enabled |= u16::from(time.is_some()) << priority;
            *slot = time.unwrap_or(0).to_be_bytes();
        }
        raw.set_opcode(PRIORITY_PAUSE);
        raw.set_enabled(enabled);
        raw.set_times(times);
        padding.fill(0);
        Ok(SHORTEST_FRAME)
    }
}

#[cfg(test)]
#[path = "mac_control_tests.rs"]
mod tests;
