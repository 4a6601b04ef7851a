//! ExpressPass: the receiver sends credits, and each lets the sender send one data packet.
//!
//! I. Cho, K. Jang and D. Han, "Credit-Scheduled Delay-Bounded Congestion Control for Datacenters",
//! SIGCOMM 2017; the released code, kaist-ina/ns2-xpass; and its use in P. Goyal et al., "Backpressure
//! Flow Control", NSDI 2022 (BFC), sec. 6.2.1. The paper was not at hand: what stands here of its
//! algorithm is quoted from memory, the rest follows the released code.
//!
//! Implemented: credit request, credit, credit stop, the sender's early stop (`source`); the
//! receiver's pacing with jitter and random credit sizes (`destination`); the feedback loop of both
//! (`feedback`). Switches and NICs shape credits (`penstock_fabric::scheduling::credit_shaping`),
//! and data must take the way of their credits back (the routing `symmetric-ecmp`). Losses of data are
//! repaired by [`crate::recovery::go_back_n`].
//!
//! Left out: the handshake of TCP, on which the paper lets the request ride; the 2 ms for which the
//! released receiver keeps its state after a stop (a new request starts it anew with or without); the
//! limit of 1,000 data packets in a host, whose queue holds the packets of two or three credits.
//!
//! Where the sources are silent, our choices:
//! - A credit acknowledges the bytes that the receiver has, as any header in its direction can. The last
//!   byte of a flow is acknowledged by a packet of its own, so that a completion time is measured where
//!   that of every scheme is, at the sender. In the released code nothing repairs the loss of a flow's
//!   last packet; here the timer of Go-Back-N does, and asks for credits again.
//! - Requests and stops travel in the control queue, as all such packets do here; so a stop may
//!   overtake data that wait.
//! - Credits are numbered modulo 2^16. So a loss of more than 32,767 in a row, which are 4 ms of them at
//!   100 Gb/s, is taken for something else.
//! - After a stop that came too early a sender asks again when two round trips have brought too few
//!   credits. The sender's round trip is the longest of the network.

mod config;
mod destination;
mod feedback;
mod source;

pub use config::{CreditFeedback, ExpressPassConfig};
pub(crate) use destination::Destination;
pub(crate) use source::Source;
