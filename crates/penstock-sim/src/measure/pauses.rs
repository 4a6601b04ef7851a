//! Counts of the pauses that switches send, by what a pause stops.
use std::collections::BTreeMap;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::Signal;
use penstock_packet::epochs::epoch_of;

/// Counts of the pauses that left switches, under any policy.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
pub struct SentPauses {
    /// Pauses of classes.
    pub classes: u64,
    /// Pauses of queues, sent in frames of their own or in a bitmap.
    pub queues: u64,
    /// Pauses of flows.
    pub flows: u64,
    /// Pauses for a given time.
    pub timed: u64,
    /// By link: the queues that the far end was told to pause and not yet to resume. Empty before the first
    /// signal about queues.
    told: Vec<u128>,
    /// The same by link and epoch, of epochs above 0.
    told_epochs: BTreeMap<(u32, u8), u128>,
    /// Number of links.
    links: u32,
}

impl SentPauses {
    /// No pauses sent yet on `links` links.
    pub fn new(links: usize) -> Self {
        SentPauses { links: links as u32, ..SentPauses::default() }
    }

    /// Adds the counts of `other`.
    pub fn add(&mut self, other: &SentPauses) {
        self.classes += other.classes;
        self.queues += other.queues;
        self.flows += other.flows;
        self.timed += other.timed;
    }

    /// A switch sends `signal` by `link`. A bitmap repeats, so only its queues that were not paused
    /// before count.
    pub fn on_send(&mut self, link: u32, signal: Signal) {
        match signal {
            Signal::PauseClass(_) | Signal::PauseClassFor { .. } => self.classes += 1,
            Signal::PauseFlow(_) => self.flows += 1,
            Signal::PauseTime(_) => self.timed += 1,
            Signal::PauseQueue(label) => {
                self.queues += 1;
                *self.told(link, epoch_of(label)) |= 1 << (label & 127);
            }
            Signal::ResumeQueue(label) => {
                *self.told(link, epoch_of(label)) &= !(1 << (label & 127));
            }
            Signal::QueueBitmap { epoch, queues } => {
                let before = std::mem::replace(self.told(link, epoch), queues);
                self.queues += u64::from((queues & !before).count_ones());
            }
            Signal::ResumeClass(_) | Signal::ResumeFlow(_) | Signal::Credit { .. } => {}
        }
    }

    /// The queues of `epoch` that the far end of `link` was told to pause and not yet to resume.
    fn told(&mut self, link: u32, epoch: u8) -> &mut u128 {
        if epoch > 0 {
            return self.told_epochs.entry((link, epoch)).or_default();
        }
        if self.told.is_empty() {
            self.told = vec![0; self.links as usize];
        }
        &mut self.told[link as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use penstock_packet::epochs::label;

    /// (classes, queues, flows, timed) after `signals` were sent by link 1 of two links.
    fn counts(signals: &[Signal]) -> [u64; 4] {
        let mut sent = SentPauses::new(2);
        signals.iter().for_each(|&signal| sent.on_send(1, signal));
        [sent.classes, sent.queues, sent.flows, sent.timed]
    }

    #[test]
    fn each_kind_of_pause_is_counted_and_nothing_else() {
        use Signal::*;
        assert_eq!(counts(&[PauseClass(3), PauseClass(3), ResumeClass(3)]), [2, 0, 0, 0]);
        assert_eq!(counts(&[PauseQueue(5), ResumeQueue(5), PauseQueue(5)]), [0, 2, 0, 0]);
        assert_eq!(counts(&[PauseFlow(7), ResumeFlow(7)]), [0, 0, 1, 0]);
        assert_eq!(counts(&[PauseTime(9)]), [0, 0, 0, 1]);
        assert_eq!(counts(&[Credit { account: 1, granted: 2 }]), [0; 4]);
    }

    #[test]
    fn a_bitmap_counts_where_it_is_news() {
        use Signal::*;
        let bitmap = |queues| QueueBitmap { epoch: 0, queues };
        assert_eq!(counts(&[PauseQueue(1), bitmap(0b10), bitmap(0b10)]), [0, 1, 0, 0]);
        // A policy that sends only bitmaps: queues 1 and 2, then 2 and 3, then none, then 127.
        let told = [0b110, 0b1100, 0, 1 << 127].map(bitmap);
        assert_eq!(counts(&told), [0, 4, 0, 0]);
        let mut two_links = SentPauses::new(2);
        (0..2).for_each(|link| two_links.on_send(link, bitmap(0b10)));
        assert_eq!(two_links.queues, 2);
        // Epochs of a queue are paused by themselves.
        let later = QueueBitmap { epoch: 1, queues: 0b10 };
        let told = [PauseQueue(1), PauseQueue(label(1, 1)), later, bitmap(0b10), bitmap(0), later];
        assert_eq!(counts(&told), [0, 2, 0, 0]);
    }
}
