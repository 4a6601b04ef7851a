use serde_json::json;

use crate::fixture::refusal::{BFC, DRR, DYNAMIC, refused};

#[test]
fn queues_that_are_labelled_are_for_no_ordinary_data() {
    let refused = |queues, classes_share| {
        let fields = [
            ("/assignment/queues", json!(queues)),
            ("/assignment/classes", json!(3)),
            ("/assignment/incast_queue", json!(true)),
            ("/assignment/classes_share", json!(classes_share)),
        ];
        refused(&[DYNAMIC, DRR], &fields)
    };
    assert!(refused(7, false).is_empty());
    let expected = "assignment.classes is 3; of 6 queues 2 are for ordinary data, fewer than the classes; \
                    use fewer classes, or more queues";
    assert_eq!(refused(6, false), [expected]);
    let expected = "assignment.classes_share is true; incast_queue knows classes with queues of their own \
                    only; leave one of them out";
    assert_eq!(refused(7, true), [expected]);
}

#[test]
fn what_lies_outside_its_bounds_is_refused() {
    let fields = [
        ("/assignment/table_factor", json!(10_001)),
        ("/assignment/sticky_hop_rtts", json!(-1.0)),
        ("/assignment/sampling", json!(0.0)),
        ("/assignment/grace_hop_rtts", json!(2e6)),
        ("/assignment/epoch_bits", json!(9)),
    ];
    let expected = [
        "assignment.table_factor is 10001; write 1 to 10000",
        "assignment.sticky_hop_rtts is -1.0; write 0 to 1000000.0",
        "assignment.sampling is 0.0; write above 0, at most 1",
        "assignment.grace_hop_rtts is 2000000.0; write 0 to 1000000.0",
        "assignment.epoch_bits is 9; write 0 to 8",
    ];
    assert_eq!(refused(&[DYNAMIC, DRR], &fields), expected);
}

#[test]
fn epochs_need_a_backpressure_that_tells_them() {
    let two = [("/assignment/epoch_bits", json!(2))];
    assert!(refused(&[DYNAMIC, DRR, BFC], &two).is_empty());
    let expected =
        "assignment.epoch_bits is 2; backpressure none pauses no epochs; use \"bfc\", or 0";
    assert_eq!(refused(&[DYNAMIC, DRR], &two), [expected]);
}
