//! The telemetry behind our header: an entry for each hop, nearest to the source first.

use penstock_packet::pool::TELEMETRY_HOPS;
use penstock_units::{BitRate, HopTelemetry, Time};

use crate::view::view;
use crate::{Header, Malformed, NoRoom};

/// Length of an entry (bytes). HPCC packs an entry into 8 B (SIGCOMM 2019, sec. 4.1); ours loses nothing, so
/// that a controller decides as in the simulator.
pub const ENTRY: usize = 32;

view! {
    /// The bytes of an entry.
    RawHop, Header::Telemetry, ENTRY;
    /// When the packet was dequeued (ps).
    time, set_time: u64, 0;
    /// Bytes that the port had sent before (B).
    sent, set_sent: u64, 8;
    /// Bytes left in the port's queues (B).
    queued, set_queued: u64, 16;
    /// Rate of the port (bit/s).
    rate, set_rate: u64, 24;
}

/// The entries of a frame, read when they are asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Telemetry<'a>(&'a [[u8; ENTRY]]);

impl<'a> Telemetry<'a> {
    /// The first `hops` entries of `bytes`; returns what follows, too.
    ///
    /// # Errors
    /// When `bytes` end within the entries, or there are more than [`TELEMETRY_HOPS`].
    #[inline]
    pub fn parse(bytes: &'a [u8], hops: u8) -> Result<(Telemetry<'a>, &'a [u8]), Malformed> {
        if usize::from(hops) > TELEMETRY_HOPS {
            return Err(Malformed::Value(Header::Telemetry));
        }
        let split = bytes.split_at_checked(ENTRY * usize::from(hops));
        let (entries, rest) = split.ok_or(Malformed::Short(Header::Telemetry))?;
        Ok((Telemetry(entries.as_chunks().0), rest))
    }

    /// Number of entries, at most [`TELEMETRY_HOPS`].
    #[inline]
    pub fn hops(&self) -> usize {
        self.0.len()
    }

    /// The entries, nearest to the source first.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = HopTelemetry> + use<'a> {
        self.0.iter().map(|entry| {
            let raw = RawHop(entry);
            HopTelemetry {
                time: Time::from_ps(raw.time()),
                sent_bytes: raw.sent(),
                queue_bytes: raw.queued(),
                rate: BitRate::from_bps(raw.rate()),
            }
        })
    }
}

/// Writes `hops` to the start of `bytes`; returns what follows.
///
/// # Errors
/// When `bytes` are too short.
#[inline]
pub fn emit<'a>(hops: &[HopTelemetry], bytes: &'a mut [u8]) -> Result<&'a mut [u8], NoRoom> {
    let mut rest = bytes;
    for hop in hops {
        let (mut raw, after) = RawHop::new_mut(rest)?;
        raw.set_time(hop.time.as_ps());
        raw.set_sent(hop.sent_bytes);
        raw.set_queued(hop.queue_bytes);
        raw.set_rate(hop.rate.as_bps());
        rest = after;
    }
    Ok(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_survive_their_bytes() {
        let hop = |number: u64| HopTelemetry {
            time: Time::from_ps(number),
            sent_bytes: u64::MAX - number,
            queue_bytes: number << 40,
            rate: BitRate::from_gbps(number),
        };
        let hops = [hop(1), hop(2), hop(3)];
        let mut bytes = [0; 97];
        assert_eq!(emit(&hops, &mut bytes).unwrap().len(), 1);
        let (telemetry, rest) = Telemetry::parse(&bytes, 3).unwrap();
        assert_eq!((telemetry.hops(), rest.len()), (3, 1));
        assert!(telemetry.iter().eq(hops));
        let short = Telemetry::parse(&bytes, 4).unwrap_err();
        assert_eq!(short, Malformed::Short(Header::Telemetry));
        let many = Telemetry::parse(&bytes, 9).unwrap_err();
        assert_eq!(many, Malformed::Value(Header::Telemetry));
    }
}
