//! Which congestion controls of the kernel the flows of a host use.

use std::collections::{BTreeSet, HashMap};

use penstock_sim::live::LiveFlow;

use crate::config::{EmulationConfig, SenderConfig};

/// By host: the congestion controls of the flows that it sends. The kernel lets a program choose some only;
/// any other can be that of a whole host.
#[derive(Clone, Debug, Default)]
pub(crate) struct Controls(HashMap<u32, BTreeSet<Option<String>>>);

impl Controls {
    /// Of hosts that send `flows`.
    pub fn of(flows: &[LiveFlow], config: &EmulationConfig) -> Self {
        let mut controls = Controls::default();
        for LiveFlow { arrival, .. } in flows {
            if let SenderConfig::Tcp { congestion } = &config.senders[usize::from(arrival.label)] {
                controls.0.entry(arrival.source).or_default().insert(congestion.clone());
            }
        }
        controls
    }

    /// The congestion control of all TCP flows of `host`, where they have one and the same.
    pub fn only(&self, host: u32) -> Option<&str> {
        let controls = self.0.get(&host).filter(|controls| controls.len() == 1)?;
        controls.first()?.as_deref()
    }

    /// What the programs of `host` choose for each of their connections.
    pub fn chosen(&self, host: u32) -> Vec<String> {
        let all = self.0.get(&host).filter(|controls| controls.len() > 1);
        all.into_iter().flatten().flatten().cloned().collect()
    }
}
