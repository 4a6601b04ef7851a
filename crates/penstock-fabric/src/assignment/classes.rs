//! How priority classes divide the data queues of a port.

use alloc::vec::Vec;

use penstock_units::Problems;

/// The classes of the `queues - 1` data queues beside the control queue, in equal parts; queues
/// that do not divide go to the lowest class, whose ports are the most crowded (BFC App. A.3).
pub(crate) fn partition(queues: u32, classes: u32) -> Vec<u8> {
    let data = queues - 1;
    let each = data / classes;
    (0..data).map(|queue| (queue / each).min(classes - 1) as u8).collect()
}

/// The data queues of a class: numbers `from..to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClassRange {
    pub from: u16,
    pub to: u16,
}

/// The data queues of each class, of `queues` queues with the control queue.
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

/// Checks the field `classes`.
pub(crate) fn check_classes(classes: u32, problems: &mut Problems) {
    problems.unless((1..=8).contains(&classes), "classes", classes, "write 1 to 8");
}

/// Checks the field `queues`: the control queue and `needed` data queues at least.
pub(crate) fn check_queues(queues: u32, needed: u32, problems: &mut Problems) {
    let remedy =
        "write at most 4096, and enough for the control queue and a data queue for each class";
    problems.unless(queues > needed && queues <= 4_096, "queues", queues, remedy);
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
