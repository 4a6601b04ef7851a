//! UDP (RFC 768).

use crate::view::view;
use crate::{Header, Malformed, NoRoom};

/// Protocol number of UDP (IANA, protocol numbers).
pub const PROTOCOL: u8 = 17;

view! {
    /// The bytes of a UDP header.
    RawUdp, Header::Udp, Udp::LENGTH;
    /// Port of the sender.
    source_port, set_source_port: u16, 0;
    /// Port of the receiver.
    destination_port, set_destination_port: u16, 2;
    /// Length of header and payload (bytes).
    length, set_length: u16, 4;
    /// Checksum of header, payload and addresses; 0 for none.
    checksum, set_checksum: u16, 6;
}

/// A UDP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Udp {
    /// Port of the sender.
    pub source_port: u16,
    /// Port of the receiver.
    pub destination_port: u16,
    /// Length of the payload (bytes), at most 65,527.
    pub payload: u16,
    /// Checksum, kept and not checked: the kernel leaves it to a device that may never send the packet. 0
    /// for none.
    pub checksum: u16,
}

impl Udp {
    /// Length of the header (bytes).
    pub const LENGTH: usize = 8;

    /// Reads the header at the start of `bytes`; returns its payload, too.
    ///
    /// # Errors
    /// When `bytes` end within the header or the payload.
    #[inline]
    pub fn parse(bytes: &[u8]) -> Result<(Udp, &[u8]), Malformed> {
        let (raw, rest) = RawUdp::new(bytes)?;
        let wrong = Malformed::Length(Header::Udp);
        let payload = raw.length().checked_sub(Udp::LENGTH as u16).ok_or(wrong)?;
        let content = rest.get(..usize::from(payload)).ok_or(wrong)?;
        let header = Udp {
            source_port: raw.source_port(),
            destination_port: raw.destination_port(),
            payload,
            checksum: raw.checksum(),
        };
        Ok((header, content))
    }

    /// Writes the header to the start of `bytes`; returns what follows.
    ///
    /// # Errors
    /// When `bytes` are too short.
    #[inline]
    pub fn emit<'a>(&self, bytes: &'a mut [u8]) -> Result<&'a mut [u8], NoRoom> {
        let (mut raw, rest) = RawUdp::new_mut(bytes)?;
        raw.set_source_port(self.source_port);
        raw.set_destination_port(self.destination_port);
        raw.set_length(self.payload.saturating_add(Udp::LENGTH as u16));
        raw.set_checksum(self.checksum);
        Ok(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_survives_its_bytes() {
        let header =
            Udp { source_port: 258, destination_port: 4_791, payload: 3, checksum: 0xabcd };
        let mut bytes = [0; 12];
        header.emit(&mut bytes).unwrap();
        assert_eq!(bytes, [1, 2, 0x12, 0xb7, 0, 11, 0xab, 0xcd, 0, 0, 0, 0]);
        assert_eq!(Udp::parse(&bytes).unwrap(), (header, &[0; 3][..]));
    }

    #[test]
    fn lengths_that_contradict_the_bytes_are_refused() {
        for length in [0, 7, 9] {
            let bytes = [0, 1, 0, 2, 0, length, 0, 0];
            assert_eq!(Udp::parse(&bytes), Err(Malformed::Length(Header::Udp)), "{length}");
        }
        assert_eq!(Udp::parse(&[0; 7]), Err(Malformed::Short(Header::Udp)));
    }
}
