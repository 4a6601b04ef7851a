//! The VLAN tag with the priority of a frame (IEEE 802.1Q, clause 9). The tag follows its EtherType,
//! [`EtherType::VLAN`].

use crate::view::view;
use crate::{EtherType, Header, Malformed, NoRoom};

/// The largest VLAN identifier; 4,095 is reserved (IEEE 802.1Q, table 9-2).
pub const LARGEST_IDENTIFIER: u16 = 4_094;

view! {
    /// The bytes of a VLAN tag, without the EtherType before them.
    RawVlan, Header::Vlan, Vlan::LENGTH;
    /// Priority (3 bits), drop eligibility (1 bit), identifier (12 bits).
    control, set_control: u16, 0;
    /// What follows the tag.
    ether_type, set_ether_type: u16, 2;
}

/// A VLAN tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vlan {
    /// Priority code point (PCP), 0 to 7; 7 is the highest.
    pub priority: u8,
    /// Drop eligible indicator (DEI).
    pub is_drop_eligible: bool,
    /// VLAN identifier (VID), at most [`LARGEST_IDENTIFIER`]; 0 for a tag that only gives the priority.
    pub identifier: u16,
    /// What follows the tag; at least [`EtherType::LEAST`].
    pub ether_type: EtherType,
}

impl Vlan {
    /// Length of the tag without the EtherType before it (bytes).
    pub const LENGTH: usize = 4;

    /// Reads the tag at the start of `bytes`; returns what follows, too.
    ///
    /// # Errors
    /// When `bytes` end within the tag, or name a reserved VLAN, or bear a length in the place of the type.
    #[inline]
    pub fn parse(bytes: &[u8]) -> Result<(Vlan, &[u8]), Malformed> {
        let (raw, rest) = RawVlan::new(bytes)?;
        let control = raw.control();
        let tag = Vlan {
            priority: (control >> 13) as u8,
            is_drop_eligible: control & 0x1000 != 0,
            identifier: control & 0x0fff,
            ether_type: EtherType(raw.ether_type()),
        };
        if tag.identifier > LARGEST_IDENTIFIER || tag.ether_type.is_length() {
            return Err(Malformed::Value(Header::Vlan));
        }
        Ok((tag, rest))
    }

    /// Writes the tag to the start of `bytes`; returns what follows. Of the priority and the identifier the
    /// lowest 3 and 12 bits are written.
    ///
    /// # Errors
    /// When `bytes` are too short.
    #[inline]
    pub fn emit<'a>(&self, bytes: &'a mut [u8]) -> Result<&'a mut [u8], NoRoom> {
        let (mut raw, rest) = RawVlan::new_mut(bytes)?;
        let eligible = u16::from(self.is_drop_eligible);
        let priority = u16::from(self.priority & 7);
        raw.set_control(priority << 13 | eligible << 12 | (self.identifier & 0x0fff));
        raw.set_ether_type(self.ether_type.0);
        Ok(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_has_priority_eligibility_and_identifier() {
        let tag = Vlan {
            priority: 5,
            is_drop_eligible: true,
            identifier: 0x123,
            ether_type: EtherType::IPV4,
        };
        let mut bytes = [0; 4];
        tag.emit(&mut bytes).unwrap();
        assert_eq!(bytes, [0xb1, 0x23, 0x08, 0x00]);
        assert_eq!(Vlan::parse(&bytes).unwrap(), (tag, &[][..]));
    }

    #[test]
    fn the_reserved_identifier_is_refused() {
        assert_eq!(Vlan::parse(&[0x0f, 0xff, 8, 0]), Err(Malformed::Value(Header::Vlan)));
        assert!(Vlan::parse(&[0x0f, 0xfe, 8, 0]).is_ok());
        assert_eq!(Vlan::parse(&[0, 0, 0, 4]), Err(Malformed::Value(Header::Vlan)));
    }
}
