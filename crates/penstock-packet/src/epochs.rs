//! Epochs of the queues of a port, so that a pause holds the flow that it is for (our extension of BFC).
//!
//! In BFC a pause names a queue (P. Goyal et al., "Backpressure Flow Control", NSDI 2022, sec. 3.3.2). A
//! flow may have left the queue when the pause comes, and the pause holds the next flow that gets the
//! queue. With epochs a queue that is empty and gets a new flow begins a new epoch. A packet carries the
//! epoch of its upstream queue beside the queue's number, and the downstream counts and pauses that
//! epoch. A pause of another epoch does not hold the queue.
//!
//! There are few epochs, so a number comes again. A queue skips the epochs that are paused. When all
//! others are paused, the queue stays in its epoch, and a pause of that epoch holds the new flow too, as in
//! BFC.
//!
//! Epoch and queue travel as one number, the *label*, with the epoch in the high byte. Without epochs the
//! label of a queue is its number.

use alloc::boxed::Box;
use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};

/// The most bits of an epoch's number; our choice: one byte of a header.
pub const MOST_EPOCH_BITS: u32 = 8;

/// The label of `queue` (below 256) in `epoch`.
#[inline]
pub fn label(queue: u16, epoch: u8) -> u16 {
    u16::from(epoch) << 8 | queue
}

/// The queue that a label names, where there are epochs.
#[inline]
pub fn queue_of(label: u16) -> u16 {
    label & 0xff
}

/// The epoch that a label names, where there are epochs.
#[inline]
pub fn epoch_of(label: u16) -> u8 {
    (label >> 8) as u8
}

/// The epoch of a queue, and which epochs of the queue the downstream has paused.
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
struct QueueEpochs {
    present: u8,
    /// Bit e: whether epoch e is paused.
    paused: [u64; 4],
}

impl QueueEpochs {
    fn is_paused(&self, epoch: u8) -> bool {
        self.paused[usize::from(epoch) / 64] & (1 << (epoch % 64)) != 0
    }
}

/// The epochs of the queues of a port.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct Epochs {
    /// Number of epochs, less one.
    mask: u8,
    /// By queue. A queue that is not here is in epoch 0, of which nothing is paused.
    queues: Vec<QueueEpochs>,
}

impl Epochs {
    /// Queues with 2^`bits` epochs each, all in epoch 0; none for 0 bits.
    ///
    /// # Panics
    /// When `bits` exceeds [`MOST_EPOCH_BITS`].
    pub fn new(bits: u32) -> Option<Box<Self>> {
        assert!(bits <= MOST_EPOCH_BITS, "the number of an epoch has at most 8 bits");
        let mask = ((1u32 << bits) - 1) as u8;
        (bits > 0).then(|| Box::new(Epochs { mask, queues: Vec::new() }))
    }

    /// The label of `queue` now.
    pub fn label(&self, queue: u16) -> u16 {
        let present = self.queues.get(usize::from(queue)).map_or(0, |queue| queue.present);
        label(queue, present)
    }

    /// The downstream has paused the epoch that `label` names, or has resumed it. Answers whether the
    /// queue is in that epoch, so that the pause holds the queue.
    pub fn note(&mut self, label: u16, is_paused: bool) -> bool {
        let epoch = epoch_of(label) & self.mask;
        let queue = self.queue(queue_of(label));
        let (word, bit) = (usize::from(epoch) / 64, 1 << (epoch % 64));
        if is_paused {
            queue.paused[word] |= bit;
        } else {
            queue.paused[word] &= !bit;
        }
        queue.present == epoch
    }

    /// `queue` is empty and gets a new flow. Answers whether the downstream has paused the queue's epoch.
    pub fn advance(&mut self, queue: u16) -> bool {
        let mask = self.mask;
        let queue = self.queue(queue);
        let later = (1..=mask).map(|step| queue.present.wrapping_add(step) & mask);
        if let Some(epoch) = later.into_iter().find(|&epoch| !queue.is_paused(epoch)) {
            queue.present = epoch;
        }
        queue.is_paused(queue.present)
    }

    /// Nothing is paused any more, because the link has failed.
    pub fn forget_pauses(&mut self) {
        self.queues.iter_mut().for_each(|queue| queue.paused = [0; 4]);
    }

    fn queue(&mut self, queue: u16) -> &mut QueueEpochs {
        let place = usize::from(queue);
        if self.queues.len() <= place {
            self.queues.resize(place + 1, QueueEpochs::default());
        }
        &mut self.queues[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_begins_with_each_new_flow_and_skips_those_that_are_paused() {
        let mut epochs = Epochs::new(2).unwrap();
        assert_eq!(epochs.label(5), 5);
        assert!(!epochs.advance(5));
        assert_eq!(epochs.label(5), label(5, 1));
        assert_eq!(epochs.label(4), 4, "each queue has epochs of its own");
        assert!(
            !epochs.note(label(5, 2), true),
            "a pause of another epoch does not hold the queue"
        );
        assert!(!epochs.advance(5));
        assert_eq!(epochs.label(5), label(5, 3));
        assert!(epochs.note(label(5, 3), true));
        assert!(!epochs.advance(5) && epoch_of(epochs.label(5)) == 0);
    }

    #[test]
    fn with_all_other_epochs_paused_a_pause_holds_the_new_flow_too() {
        for bits in 1..=MOST_EPOCH_BITS {
            let mut epochs = Epochs::new(bits).unwrap();
            for epoch in 0..1 << bits {
                epochs.note(label(1, epoch as u8), true);
            }
            assert!(epochs.advance(1), "{bits} bits");
            assert_eq!(epochs.label(1), 1);
            let last = ((1u32 << bits) - 1) as u8;
            epochs.note(label(1, last), false);
            assert!(!epochs.advance(1));
            assert_eq!((queue_of(epochs.label(1)), epoch_of(epochs.label(1))), (1, last));
            epochs.note(label(1, last), true);
            epochs.forget_pauses();
            assert!(!epochs.advance(1));
        }
    }

    #[test]
    fn without_bits_there_are_no_epochs() {
        assert!(Epochs::new(0).is_none());
    }
}
