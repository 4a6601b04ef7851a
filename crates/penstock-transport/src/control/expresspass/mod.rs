//! ExpressPass: the receiver sends credits, and each credit lets the sender send one data packet.
//!
//! I. Cho, K. Jang and D. Han, "Credit-Scheduled Delay-Bounded Congestion Control for Datacenters",
//! SIGCOMM 2017; the released code, kaist-ina/ns2-xpass; and its use in P. Goyal et al., "Backpressure
//! Flow Control", NSDI 2022 (BFC), sec. 6.2.1. The paper was not at hand: its feedback loop is as others
//! describe it, and all else follows the released code.
//!
//! Implemented: credit request, credit, credit stop, the sender's early stop (`source`); the receiver's
//! pacing with jitter and random credit sizes (`destination`); the feedback loops of the paper and of
//! the released code (`feedback`). Switches and NICs shape credits
//! (`penstock_fabric::scheduling::credit_shaping`). Data must take the path of their credits back (the
//! routing `symmetric-ecmp`). [`crate::recovery::go_back_n`] repairs losses of data.
//!
//! Left out:
//! - TCP's handshake, in which the paper sends the request.
//! - The 2 ms for which the released receiver keeps its state after a stop. A new request starts the
//!   state anew: there the rate and its weight, here the round-trip time and the counts as well.
//! - The moment of the released feedback loop, just before a credit is sent. Here it runs when data arrive,
//!   so that a new rate counts from the credit after the next one on.
//! - The limit of 1,000 data packets in a host. A host's queue here holds the packets of two or three
//!   credits.
//!
//! Where the sources are silent, our choices:
//! - A credit acknowledges the bytes that the receiver has, as any header in its direction can. A
//!   packet of its own acknowledges the last byte of a flow, so that a completion time is measured at
//!   the sender, as for every scheme. In the released code nothing repairs the loss of a flow's last
//!   packet; here the timer of Go-Back-N does, and asks for credits again.
//! - Requests and stops travel in the control queue, as all such packets do here. So a stop may
//!   overtake data that wait.
//! - Credits are numbered modulo 2^16. So the receiver misreads a loss of more than 32,767 credits in a
//!   row, which take 4 ms at 100 Gb/s.
//! - After a stop that came too early, a sender asks again when two round trips have brought too few
//!   credits. The sender's round trip is the longest of the network.

mod config;
mod destination;
mod feedback;
mod source;

pub use config::{CreditFeedback, ExpressPassConfig};
pub(crate) use destination::Destination;
pub(crate) use source::Source;
