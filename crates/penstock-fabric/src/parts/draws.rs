//! The random numbers of a switch: from a generator of its own, or from ns-3's streams, which all
//! switches share.

use alloc::sync::Arc;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::Shared;
use penstock_units::random::Pcg32;
use rand_core::RngCore;

/// The random numbers of a switch.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct Draws {
    own: Pcg32,
    /// Draws marks in place of `own`, under the fidelity of the ns-3 HPCC simulator.
    #[borsh(skip)] // such a run is not saved
    shared: Option<Arc<dyn Shared>>,
}

impl Draws {
    /// Draws from `own`.
    pub fn new(own: Pcg32) -> Self {
        Draws { own, shared: None }
    }

    /// Draws marks from `shared`, if there is such a thing, and everything else as before.
    pub fn sharing(self, shared: Option<Arc<dyn Shared>>) -> Self {
        Draws { shared, ..self }
    }

    /// The generator of this switch alone.
    #[inline]
    pub(crate) fn own(&mut self) -> &mut Pcg32 {
        &mut self.own
    }

    /// Draws whether an event of `probability` in [0, 1] happens.
    #[inline]
    pub(crate) fn happens(&mut self, probability: f64) -> bool {
        match &self.shared {
            None => f64::from(self.own.next_u32()) < probability * 4_294_967_296.0,
            Some(shared) => shared.draw() < probability,
        }
    }

    /// Skips the identification that ns-3 draws for a pause or resume frame.
    #[inline]
    pub(crate) fn on_frame(&mut self) {
        if let Some(shared) = &self.shared {
            shared.skip();
        }
    }
}
