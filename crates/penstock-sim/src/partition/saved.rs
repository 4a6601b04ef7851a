//! What of a partition is saved in a checkpoint.

use std::sync::Arc;

use borsh::{BorshDeserialize, BorshSerialize};

use super::Partition;

penstock_units::state! { [O: BorshSerialize + BorshDeserialize] Partition<O> {
    saved: wires, slots, flows, pool, wheel, measured, order, observer, starts,
        dependents, inner, next_change, outbox, inbox, clock_watch, control_losses, corruption, opened,
        is_at_end;
    within: hosts, switches, router;
    kept: number, setting, uplinks, first_port, egress, requests, told, sources, ns3,
        foresees, failure, paths;
} }

impl<O> Partition<O> {
    /// Takes the routes of the last change that has happened: they are not saved.
    ///
    /// # Errors
    /// When there is no such change.
    pub(crate) fn take_routes(&mut self) -> Result<(), String> {
        let Some(last) = self.next_change.checked_sub(1) else { return Ok(()) };
        let setting = Arc::clone(&self.setting);
        let change = setting.route_changes.get(last);
        let change = change.ok_or("the routes have not changed so often")?;
        self.router.change(&change.routing);
        Ok(())
    }
}
