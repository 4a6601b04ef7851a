//! A congestion notification: a packet by which the receiver of a flow tells the source of congestion.

/// What a congestion notification tells the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notification {
    /// Whether the flow is congested (the ECN bit of PCN's packet). A flow that is not may send faster.
    pub is_congested: bool,
    /// The rate at which a congested flow arrives, headers included (Mb/s); 0 where the receiver
    /// does not say (RecRate in PCN).
    pub receiving_rate: u32,
}
