//! Turns of control and data packets at the ports of a switch that trims (NDP).

use alloc::vec;
use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};

/// Whose turn it is at each port: a data packet that waits leaves after every `weight` control packets.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct ControlTurns {
    weight: u32,
    /// By port: control packets that have left since its last data packet.
    sent: Vec<u32>,
}

impl ControlTurns {
    /// The turns of so many `ports`, of which nothing has left.
    pub(crate) fn new(weight: u32, ports: usize) -> Self {
        ControlTurns { weight, sent: vec![0; ports] }
    }

    /// Whether it is the turn of data that wait at `port`.
    pub(crate) fn is_of_data(&self, port: u16) -> bool {
        self.sent[usize::from(port)] >= self.weight
    }

    /// A packet leaves `port`, of control or of data.
    pub(crate) fn leave(&mut self, port: u16, is_control: bool) {
        let sent = &mut self.sent[usize::from(port)];
        *sent = if is_control { sent.saturating_add(1) } else { 0 };
    }
}
