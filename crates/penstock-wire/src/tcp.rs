//! TCP (RFC 9293), with the flags for congestion (RFC 3168, sec. 6.1).

use crate::view::view;
use crate::{Header, Malformed, NoRoom};

/// Protocol number of TCP (IANA, protocol numbers).
pub const PROTOCOL: u8 = 6;

/// Single bits of a TCP header (RFC 9293, sec. 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpFlags(pub u8);

impl TcpFlags {
    /// The sender has no more data.
    pub const FINISH: TcpFlags = TcpFlags(0x01);
    /// The connection opens.
    pub const SYNCHRONIZE: TcpFlags = TcpFlags(0x02);
    /// The connection is reset.
    pub const RESET: TcpFlags = TcpFlags(0x04);
    /// The receiver should hand the data on.
    pub const PUSH: TcpFlags = TcpFlags(0x08);
    /// The acknowledgement number is valid.
    pub const ACKNOWLEDGE: TcpFlags = TcpFlags(0x10);
    /// The urgent pointer is valid.
    pub const URGENT: TcpFlags = TcpFlags(0x20);
    /// The receiver saw congestion (ECE).
    pub const CONGESTION_ECHO: TcpFlags = TcpFlags(0x40);
    /// The sender has reduced its window (CWR).
    pub const WINDOW_REDUCED: TcpFlags = TcpFlags(0x80);

    /// Whether all bits of `flag` are set.
    #[inline]
    pub fn contains(self, flag: TcpFlags) -> bool {
        self.0 & flag.0 == flag.0
    }
}

view! {
    /// The first 20 bytes of a TCP header; options may follow.
    RawTcp, Header::Tcp, Tcp::LENGTH;
    /// Port of the sender.
    source_port, set_source_port: u16, 0;
    /// Port of the receiver.
    destination_port, set_destination_port: u16, 2;
    /// Number of the first byte.
    sequence, set_sequence: u32, 4;
    /// Number of the next byte that is expected.
    acknowledgement, set_acknowledgement: u32, 8;
    /// Length of the header in units of 4 B (4 bits), and 4 reserved bits.
    data_offset, set_data_offset: u8, 12;
    /// Flags.
    flags, set_flags: u8, 13;
    /// Receive window, in units that the options of the connection scale.
    window, set_window: u16, 14;
    /// Checksum of header, payload and addresses.
    checksum, set_checksum: u16, 16;
    /// The end of urgent data.
    urgent, set_urgent: u16, 18;
}

/// A TCP header. The content of its options is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tcp {
    /// Port of the sender.
    pub source_port: u16,
    /// Port of the receiver.
    pub destination_port: u16,
    /// Number of the first byte.
    pub sequence: u32,
    /// Number of the next byte that is expected.
    pub acknowledgement: u32,
    /// Length of the options (bytes): a multiple of 4, at most 40. Other lengths are written as the next
    /// smaller multiple.
    pub options: u8,
    /// Flags.
    pub flags: TcpFlags,
    /// Receive window, in units that the options of the connection scale.
    pub window: u16,
    /// Checksum, kept and not checked: the kernel leaves it to a device that may never send the packet.
    pub checksum: u16,
    /// The end of urgent data.
    pub urgent: u16,
}

impl Tcp {
    /// Length of a header without options (bytes).
    pub const LENGTH: usize = 20;

    /// Reads the header at the start of `bytes`; returns its payload, too, which is the rest of `bytes`.
    ///
    /// # Errors
    /// When `bytes` end within the header or its options, or the header is shorter than 20 B.
    #[inline]
    pub fn parse(bytes: &[u8]) -> Result<(Tcp, &[u8]), Malformed> {
        let (raw, rest) = RawTcp::new(bytes)?;
        let length = 4 * usize::from(raw.data_offset() >> 4);
        let options = length.checked_sub(Tcp::LENGTH).ok_or(Malformed::Length(Header::Tcp))?;
        let payload = rest.get(options..).ok_or(Malformed::Short(Header::Tcp))?;
        let header = Tcp {
            source_port: raw.source_port(),
            destination_port: raw.destination_port(),
            sequence: raw.sequence(),
            acknowledgement: raw.acknowledgement(),
            options: options as u8,
            flags: TcpFlags(raw.flags()),
            window: raw.window(),
            checksum: raw.checksum(),
            urgent: raw.urgent(),
        };
        Ok((header, payload))
    }

    /// Writes the header to the start of `bytes`; returns what follows. Options are written as zeros, which
    /// end a list of options.
    ///
    /// # Errors
    /// When `bytes` are too short.
    pub fn emit<'a>(&self, bytes: &'a mut [u8]) -> Result<&'a mut [u8], NoRoom> {
        let (needed, given) = (Tcp::LENGTH + usize::from(self.options.min(40) & 0x3c), bytes.len());
        let split = bytes.split_at_mut_checked(needed);
        let (header, rest) = split.ok_or(NoRoom { needed, given })?;
        let (mut raw, options) = RawTcp::new_mut(header)?;
        options.fill(0);
        raw.set_source_port(self.source_port);
        raw.set_destination_port(self.destination_port);
        raw.set_sequence(self.sequence);
        raw.set_acknowledgement(self.acknowledgement);
        raw.set_data_offset(((needed / 4) as u8) << 4);
        raw.set_flags(self.flags.0);
        raw.set_window(self.window);
        raw.set_checksum(self.checksum);
        raw.set_urgent(self.urgent);
        Ok(rest)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_header_survives_its_bytes(
            (source_port, destination_port, sequence, acknowledgement) in any::<(u16, u16, u32, u32)>(),
            (flags, window, checksum, urgent) in any::<(u8, u16, u16, u16)>(),
            options in 0..=10u8,
        ) {
            let header = Tcp {
                source_port,
                destination_port,
                sequence,
                acknowledgement,
                options: 4 * options,
                flags: TcpFlags(flags),
                window,
                checksum,
                urgent,
            };
            let mut bytes = [0xff; 70];
            let rest = header.emit(&mut bytes).unwrap().len();
            prop_assert_eq!(rest, 50 - usize::from(header.options));
            let (read, payload) = Tcp::parse(&bytes).unwrap();
            prop_assert_eq!((read, payload.len()), (header, rest));
        }
    }

    #[test]
    fn options_are_written_in_whole_words() {
        let mut bytes = [0; 60];
        bytes[12] = 5 << 4;
        let header = Tcp::parse(&bytes).unwrap().0;
        for (options, written) in [(7, 4), (44, 40)] {
            let rest = Tcp { options, ..header }.emit(&mut bytes).unwrap().len();
            assert_eq!(rest, 60 - 20 - usize::from(written));
            assert_eq!(Tcp::parse(&bytes).unwrap().0.options, written);
        }
    }

    #[test]
    fn a_header_shorter_than_its_fields_or_cut_off_is_refused() {
        let mut bytes = [0; 23];
        bytes[12] = 4 << 4;
        assert_eq!(Tcp::parse(&bytes), Err(Malformed::Length(Header::Tcp)));
        bytes[12] = 6 << 4;
        assert_eq!(Tcp::parse(&bytes), Err(Malformed::Short(Header::Tcp)));
        assert_eq!(Tcp::parse(&bytes[..19]), Err(Malformed::Short(Header::Tcp)));
    }

    #[test]
    fn the_flags_of_congestion_are_the_two_highest() {
        let flags = TcpFlags(0xd0);
        assert!(
            flags.contains(TcpFlags::CONGESTION_ECHO) && flags.contains(TcpFlags::WINDOW_REDUCED)
        );
        assert!(flags.contains(TcpFlags::ACKNOWLEDGE) && !flags.contains(TcpFlags::PUSH));
    }
}
