//! Our frames between neighbours: pauses, bitmaps, pause times and credits, a [`Signal`] each. The header
//! stands where the EtherType of a frame stands, and begins with it (`docs/wire.md`).

use penstock_packet::{PacketKind, Signal};

use crate::kind::{VERSION, kind_of, number_of};
use crate::mac_control::PRIORITIES;
use crate::view::view;
use crate::{EtherType, Header, Malformed, NoRoom};

view! {
    /// The bytes of the header. Which fields count depends on the kind; the others are zero.
    RawLinkLocal, Header::LinkLocal, LinkLocal::LENGTH;
    /// [`EtherType::PENSTOCK`].
    ether_type, set_ether_type: u16, 0;
    /// [`VERSION`].
    version, set_version: u8, 2;
    /// The kind of the frame ([`crate::kind`]).
    kind, set_kind: u8, 3;
    /// The class, the label of a queue, the epoch of a bitmap, or the account of a credit.
    subject, set_subject: u16, 4;
    /// Size of the frame on the wire of the scenario (B).
    wire_bytes, set_wire_bytes: u16, 6;
    /// A time (ns, `u32`), the hash of a flow (`u32`), bytes granted (`u64`), or the bits of 128 queues;
    /// queue 0 is the lowest bit.
    value, set_value: u128, 8;
}

/// Our header of a frame between neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkLocal {
    /// What the frame says. Classes are below 8.
    pub signal: Signal,
    /// Size of the frame on the wire of the scenario (bytes), above 0.
    pub wire_bytes: u16,
}

impl LinkLocal {
    /// Length of the header with its EtherType (bytes).
    pub const LENGTH: usize = 24;

    /// Whether the header can be written, and read again: a class is below 8, a timed pause of a class does
    /// not last 0 ns, and the frame is not empty.
    #[inline]
    pub fn is_valid(&self) -> bool {
        let is_class = |class: u8| usize::from(class) < PRIORITIES;
        let is_sound = match self.signal {
            Signal::PauseClass(class) | Signal::ResumeClass(class) => is_class(class),
            Signal::PauseClassFor { class, nanoseconds } => is_class(class) && nanoseconds > 0,
            _ => true,
        };
        is_sound && self.wire_bytes > 0
    }

    /// Reads the header at the start of `bytes`, which begin with the EtherType; returns what follows, too.
    ///
    /// # Errors
    /// When `bytes` end within the header, or the header is of another version or kind, or has a value
    /// that is not allowed.
    pub fn parse(bytes: &[u8]) -> Result<(LinkLocal, &[u8]), Malformed> {
        let (raw, rest) = RawLinkLocal::new(bytes)?;
        if raw.ether_type() != EtherType::PENSTOCK.0 {
            return Err(Malformed::EtherType(raw.ether_type()));
        }
        if raw.version() != VERSION {
            return Err(Malformed::Version(Header::LinkLocal));
        }
        let signal = kind_of(raw.kind()).and_then(|kind| signal(kind, raw.subject(), raw.value()));
        let wrong = Malformed::Value(Header::LinkLocal);
        let header = LinkLocal { signal: signal.ok_or(wrong)?, wire_bytes: raw.wire_bytes() };
        if header.is_valid() { Ok((header, rest)) } else { Err(wrong) }
    }

    /// Writes the header to the start of `bytes`; returns what follows. A header that is not
    /// [valid](LinkLocal::is_valid) is not read again.
    ///
    /// # Errors
    /// When `bytes` are too short.
    pub fn emit<'a>(&self, bytes: &'a mut [u8]) -> Result<&'a mut [u8], NoRoom> {
        let (mut raw, rest) = RawLinkLocal::new_mut(bytes)?;
        let (kind, subject, value) = fields(self.signal);
        raw.set_ether_type(EtherType::PENSTOCK.0);
        raw.set_version(VERSION);
        raw.set_kind(number_of(kind));
        raw.set_subject(subject);
        raw.set_wire_bytes(self.wire_bytes);
        raw.set_value(value);
        Ok(rest)
    }
}

/// What `signal` is called, what it is about, and its value. A value of 32 or 64 bits stands in the first
/// 4 or 8 of the 16 bytes.
fn fields(signal: Signal) -> (PacketKind, u16, u128) {
    let narrow = |value: u32| u128::from(value) << 96;
    match signal {
        Signal::PauseClass(class) => (PacketKind::PauseClass, class.into(), 0),
        Signal::PauseClassFor { class, nanoseconds } => {
            (PacketKind::PauseClass, class.into(), narrow(nanoseconds))
        }
        Signal::ResumeClass(class) => (PacketKind::ResumeClass, class.into(), 0),
        Signal::PauseQueue(label) => (PacketKind::PauseQueue, label, 0),
        Signal::ResumeQueue(label) => (PacketKind::ResumeQueue, label, 0),
        Signal::PauseFlow(hash) => (PacketKind::PauseFlow, 0, narrow(hash)),
        Signal::ResumeFlow(hash) => (PacketKind::ResumeFlow, 0, narrow(hash)),
        Signal::QueueBitmap { epoch, queues } => (PacketKind::QueueBitmap, epoch.into(), queues),
        Signal::PauseTime(nanoseconds) => (PacketKind::PauseTime, 0, narrow(nanoseconds)),
        Signal::Credit { account, granted } => {
            (PacketKind::HopCredit, account, u128::from(granted) << 64)
        }
    }
}

/// The signal that was written as `kind`, `subject` and `value`; none where a field that does not count is
/// not zero.
fn signal(kind: PacketKind, subject: u16, value: u128) -> Option<Signal> {
    let narrow = (value >> 96) as u32;
    let small = u8::try_from(subject);
    let signal = match kind {
        PacketKind::PauseClass if narrow == 0 => Signal::PauseClass(small.ok()?),
        PacketKind::PauseClass => Signal::PauseClassFor { class: small.ok()?, nanoseconds: narrow },
        PacketKind::ResumeClass => Signal::ResumeClass(small.ok()?),
        PacketKind::PauseQueue => Signal::PauseQueue(subject),
        PacketKind::ResumeQueue => Signal::ResumeQueue(subject),
        PacketKind::PauseFlow => Signal::PauseFlow(narrow),
        PacketKind::ResumeFlow => Signal::ResumeFlow(narrow),
        PacketKind::QueueBitmap => Signal::QueueBitmap { epoch: small.ok()?, queues: value },
        PacketKind::PauseTime => Signal::PauseTime(narrow),
        PacketKind::HopCredit => Signal::Credit { account: subject, granted: (value >> 64) as u64 },
        _ => return None,
    };
    (fields(signal) == (kind, subject, value)).then_some(signal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(signal: Signal) -> [u8; LinkLocal::LENGTH] {
        let mut bytes = [0xff; LinkLocal::LENGTH];
        LinkLocal { signal, wire_bytes: 64 }.emit(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn the_value_begins_with_its_first_byte() {
        let pause = bytes(Signal::PauseClassFor { class: 3, nanoseconds: 0x0102_0304 });
        assert_eq!(pause[..8], [0x88, 0xb5, 1, 0x80, 0, 3, 0, 64]);
        assert_eq!(pause[8..], [1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        let credit = bytes(Signal::Credit { account: 0x0506, granted: 7 });
        assert_eq!(
            credit[3..],
            [0x88, 5, 6, 0, 64, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0]
        );
        let bitmap = bytes(Signal::QueueBitmap { epoch: 9, queues: 0x81 });
        assert_eq!((bitmap[3], bitmap[5], bitmap[23]), (0x86, 9, 0x81));
    }

    #[test]
    fn a_timed_pause_of_no_time_is_not_valid() {
        let valid = |nanoseconds| {
            let signal = Signal::PauseClassFor { class: 1, nanoseconds };
            LinkLocal { signal, wire_bytes: 64 }.is_valid()
        };
        assert!(valid(1) && !valid(0), "0 ns would be read as a pause without an end");
    }

    #[test]
    fn values_that_no_signal_has_are_refused() {
        let wrong = Err(Malformed::Value(Header::LinkLocal));
        let with = |signal: Signal, place: usize, value: u8| {
            let mut bytes = bytes(signal);
            bytes[place] = value;
            LinkLocal::parse(&bytes).map(|(header, _)| header.signal)
        };
        assert_eq!(with(Signal::PauseClass(1), 5, 7), Ok(Signal::PauseClass(7)));
        assert_eq!(with(Signal::PauseClass(1), 5, 8), wrong);
        assert_eq!(with(Signal::PauseClass(1), 4, 1), wrong);
        assert_eq!(with(Signal::PauseClass(1), 7, 0), wrong, "an empty frame");
        assert_eq!(with(Signal::PauseClass(1), 12, 1), wrong, "a field that does not count");
        assert_eq!(with(Signal::PauseQueue(1), 3, 0x00), wrong);
        assert_eq!(with(Signal::PauseQueue(1), 3, 0x89), wrong);
        assert_eq!(with(Signal::PauseQueue(1), 2, 0), Err(Malformed::Version(Header::LinkLocal)));
        assert_eq!(with(Signal::PauseQueue(1), 0, 0), Err(Malformed::EtherType(0x00b5)));
        let short = LinkLocal::parse(&[0; 23]).unwrap_err();
        assert_eq!(short, Malformed::Short(Header::LinkLocal));
    }
}
