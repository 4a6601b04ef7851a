//! RoCEv2: the base transport header (BTH) of InfiniBand behind UDP (InfiniBand Architecture, volume 1, sec.
//! 9.2 and annex A17).

use crate::view::view;
use crate::{Header, Malformed, NoRoom};

/// The UDP port of the receiver (IANA, "roce v2").
pub const PORT: u16 = 4_791;

/// Opcode of a congestion notification packet (annex A17.9.3).
pub const CONGESTION_NOTIFICATION: u8 = 0x81;

view! {
    /// The bytes of a base transport header.
    RawRoce, Header::Roce, Roce::LENGTH;
    /// What the packet is.
    opcode, set_opcode: u8, 0;
    /// Solicited event (1 bit), migration (1), padding (2), version (4).
    event_padding_version, set_event_padding_version: u8, 1;
    /// Partition key.
    partition, set_partition: u16, 2;
    /// Congestion marks forward and backward (2 bits), 6 reserved bits, the receiver's queue pair (24).
    queue_pair, set_queue_pair: u32, 4;
    /// Whether an acknowledgement is asked for (1 bit), 7 reserved bits, sequence number (24).
    sequence, set_sequence: u32, 8;
}

/// A base transport header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Roce {
    /// What the packet is.
    pub opcode: u8,
    /// Whether the receiver should raise an event (SE).
    pub is_solicited: bool,
    /// Whether the path has migrated (MigReq).
    pub has_migrated: bool,
    /// Bytes behind the payload that make it a multiple of 4, 0 to 3.
    pub padding: u8,
    /// Partition key.
    pub partition: u16,
    /// Congestion was experienced on the way here (FECN).
    pub forward_congestion: bool,
    /// Congestion was experienced on the way back (BECN).
    pub backward_congestion: bool,
    /// The receiver's queue pair, below 2^24.
    pub queue_pair: u32,
    /// Whether an acknowledgement is asked for.
    pub asks_acknowledgement: bool,
    /// Packet sequence number (PSN), below 2^24.
    pub sequence: u32,
}

impl Roce {
    /// Length of the header (bytes).
    pub const LENGTH: usize = 12;

    /// Whether the packet tells a sender of congestion (CNP).
    #[inline]
    pub fn is_congestion_notification(&self) -> bool {
        self.opcode == CONGESTION_NOTIFICATION
    }

    /// Reads the header at the start of `bytes`, the payload of a UDP packet to port [`PORT`]; returns what
    /// follows, too. Reserved bits are ignored, as the standard asks.
    ///
    /// # Errors
    /// When `bytes` end within the header, or its version is not 0.
    pub fn parse(bytes: &[u8]) -> Result<(Roce, &[u8]), Malformed> {
        let (raw, rest) = RawRoce::new(bytes)?;
        let (second, pair, sequence) =
            (raw.event_padding_version(), raw.queue_pair(), raw.sequence());
        if second & 0xf != 0 {
            return Err(Malformed::Version(Header::Roce));
        }
        let header = Roce {
            opcode: raw.opcode(),
            is_solicited: second & 0x80 != 0,
            has_migrated: second & 0x40 != 0,
            padding: second >> 4 & 3,
            partition: raw.partition(),
            forward_congestion: pair >> 31 != 0,
            backward_congestion: pair >> 30 & 1 != 0,
            queue_pair: pair & 0xff_ffff,
            asks_acknowledgement: sequence >> 31 != 0,
            sequence: sequence & 0xff_ffff,
        };
        Ok((header, rest))
    }

    /// Writes the header to the start of `bytes`; returns what follows.
    ///
    /// # Errors
    /// When `bytes` are too short.
    pub fn emit<'a>(&self, bytes: &'a mut [u8]) -> Result<&'a mut [u8], NoRoom> {
        let (mut raw, rest) = RawRoce::new_mut(bytes)?;
        let solicited = u8::from(self.is_solicited) << 7;
        let migrated = u8::from(self.has_migrated) << 6;
        raw.set_opcode(self.opcode);
        raw.set_event_padding_version(solicited | migrated | (self.padding & 3) << 4);
        raw.set_partition(self.partition);
        let marks =
            u32::from(self.forward_congestion) << 31 | u32::from(self.backward_congestion) << 30;
        raw.set_queue_pair(marks | self.queue_pair & 0xff_ffff);
        raw.set_sequence(u32::from(self.asks_acknowledgement) << 31 | self.sequence & 0xff_ffff);
        Ok(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notification() -> Roce {
        Roce {
            opcode: CONGESTION_NOTIFICATION,
            is_solicited: false,
            has_migrated: true,
            padding: 2,
            partition: 0xffff,
            forward_congestion: false,
            backward_congestion: true,
            queue_pair: 0x123456,
            asks_acknowledgement: true,
            sequence: 0xabcdef,
        }
    }

    #[test]
    fn a_header_survives_its_bytes() {
        let mut bytes = [0; 12];
        notification().emit(&mut bytes).unwrap();
        let expected = [0x81, 0x60, 0xff, 0xff, 0x40, 0x12, 0x34, 0x56, 0x80, 0xab, 0xcd, 0xef];
        assert_eq!(bytes, expected);
        assert_eq!(Roce::parse(&bytes).unwrap(), (notification(), &[][..]));
        assert!(notification().is_congestion_notification());
        assert!(!Roce { opcode: 0x04, ..notification() }.is_congestion_notification());
    }

    #[test]
    fn reserved_bits_are_ignored_and_other_versions_refused() {
        let mut bytes = [0; 12];
        notification().emit(&mut bytes).unwrap();
        bytes[4] |= 0x3f;
        bytes[8] |= 0x7f;
        assert_eq!(Roce::parse(&bytes).unwrap().0, notification());
        bytes[1] |= 1;
        assert_eq!(Roce::parse(&bytes), Err(Malformed::Version(Header::Roce)));
        assert_eq!(Roce::parse(&bytes[..11]), Err(Malformed::Short(Header::Roce)));
    }
}
