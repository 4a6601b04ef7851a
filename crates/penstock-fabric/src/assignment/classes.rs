//! How priority classes divide the data queues of a port.

use alloc::format;
use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::CLASSES;
use penstock_units::Problems;

/// The most priority classes.
pub(crate) const LARGEST_CLASSES: u32 = CLASSES as u32;

/// The most queues of a port: all that a Tofino2 has (BFC sec. 3.3.1).
pub(crate) const LARGEST_QUEUES: u32 = 4_096;

/// The class of each of the `queues - 1` data queues besides the control queue, in equal parts. Queues
/// that do not divide go to the lowest class, whose ports are the most crowded (BFC App. A.3).
pub(crate) fn partition(queues: u32, classes: u32) -> Vec<u8> {
    let data = queues - 1;
    let each = data / classes;
    (0..data).map(|queue| (queue / each).min(classes - 1) as u8).collect()
}

/// The data queues of a class: numbers `from..to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub(crate) struct ClassRange {
    pub from: u16,
    pub to: u16,
}

/// The data queues of each class. `queues` counts the control queue too.
pub(crate) fn class_ranges(queues: u32, classes: u32) -> Vec<ClassRange> {
    let of_queue = partition(queues, classes);
    (0..classes as u8)
        .map(|class| {
            let before = of_queue.iter().filter(|&&other| other < class).count() as u16;
            let size = of_queue.iter().filter(|&&other| other == class).count() as u16;
            ClassRange { from: 1 + before, to: 1 + before + size }
        })
        .collect()
}

/// Checks that each of the `classes` has a data queue. Of the `queues`, one is the control queue and
/// `others` have other uses.
pub(crate) fn check_classes(queues: u32, others: u32, classes: u32, problems: &mut Problems) {
    if problems.has_sound("queues") && problems.has_sound("classes") {
        let data = queues.saturating_sub(1 + others);
        let remedy = format!(
            "of {queues} queues {data} are for ordinary data, fewer than the classes; use fewer classes, or \
             more queues"
        );
        problems.unless(classes <= data, "classes", classes, remedy);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_share_the_data_queues_evenly() {
        assert_eq!(class_ranges(32, 1), [ClassRange { from: 1, to: 32 }]);
        let ranges = class_ranges(33, 4);
        assert_eq!(ranges[0], ClassRange { from: 1, to: 9 });
        assert_eq!(ranges[3], ClassRange { from: 25, to: 33 });
        assert_eq!(class_ranges(32, 4)[3], ClassRange { from: 22, to: 32 });
    }
}
