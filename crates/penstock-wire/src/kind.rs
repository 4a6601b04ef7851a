//! The number that a kind of packet has in our header.

use penstock_packet::PacketKind;

/// The bit of a number that says that the frame is for the neighbour.
pub const LINK_LOCAL: u8 = 0x80;

/// The version of our headers that this crate writes and reads.
pub const VERSION: u8 = 1;

/// All kinds, in the order of their numbers, which is that of their declaration.
pub const KINDS: [PacketKind; 22] = [
    PacketKind::Data,
    PacketKind::Acknowledgement,
    PacketKind::NegativeAcknowledgement,
    PacketKind::DropNotice,
    PacketKind::CongestionFeedback,
    PacketKind::CongestionNotification,
    PacketKind::Grant,
    PacketKind::Resend,
    PacketKind::Busy,
    PacketKind::Credit,
    PacketKind::CreditRequest,
    PacketKind::CreditStop,
    PacketKind::Trimmed,
    PacketKind::PauseClass,
    PacketKind::ResumeClass,
    PacketKind::PauseQueue,
    PacketKind::ResumeQueue,
    PacketKind::PauseFlow,
    PacketKind::ResumeFlow,
    PacketKind::QueueBitmap,
    PacketKind::PauseTime,
    PacketKind::HopCredit,
];

/// The number of `kind`. The numbers do not depend on the order in which the simulator lists the kinds.
#[inline]
pub fn number_of(kind: PacketKind) -> u8 {
    match kind {
        PacketKind::Data => 0x00,
        PacketKind::Acknowledgement => 0x01,
        PacketKind::NegativeAcknowledgement => 0x02,
        PacketKind::DropNotice => 0x03,
        PacketKind::CongestionFeedback => 0x04,
        PacketKind::CongestionNotification => 0x05,
        PacketKind::Grant => 0x06,
        PacketKind::Resend => 0x07,
        PacketKind::Busy => 0x08,
        PacketKind::Credit => 0x09,
        PacketKind::CreditRequest => 0x0a,
        PacketKind::CreditStop => 0x0b,
        PacketKind::Trimmed => 0x0c,
        PacketKind::PauseClass => 0x80,
        PacketKind::ResumeClass => 0x81,
        PacketKind::PauseQueue => 0x82,
        PacketKind::ResumeQueue => 0x83,
        PacketKind::PauseFlow => 0x84,
        PacketKind::ResumeFlow => 0x85,
        PacketKind::QueueBitmap => 0x86,
        PacketKind::PauseTime => 0x87,
        PacketKind::HopCredit => 0x88,
    }
}

/// The kind that has `number`, if any.
#[inline]
pub fn kind_of(number: u8) -> Option<PacketKind> {
    const LINK_LOCAL_START: u8 = 13;
    let place = match number {
        ..LINK_LOCAL_START => number,
        LINK_LOCAL.. => LINK_LOCAL_START + (number - LINK_LOCAL),
        _ => return None,
    };
    KINDS.get(usize::from(place)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_of_one_kind() {
        for (place, kind) in KINDS.into_iter().enumerate() {
            assert_eq!(kind as usize, place, "the order is that of the declaration");
            assert_eq!(kind_of(number_of(kind)), Some(kind));
            assert_eq!(number_of(kind) & LINK_LOCAL != 0, kind.is_link_local());
        }
        let known = (0..=u8::MAX).filter_map(kind_of).count();
        assert_eq!(known, KINDS.len());
        assert_eq!(PacketKind::NAMES.len(), KINDS.len());
    }
}
