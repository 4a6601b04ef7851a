//! All-reduce on a binary tree: the parent of rank r is rank (r - 1) / 2.
//!
//! Each rank sends a chunk up when it has it from its children, and down when it has it from its parent. A
//! rank sends the next chunk to the same rank when the last one is acknowledged, so that the chunks follow
//! each other through the tree (our choice: NCCL also sends the chunks of a link in order).
//!
//! A flow of an iteration has the number ((0 up, 1 down) * (ranks - 1) + rank - 1) * chunks + chunk, where
//! the rank is the lower end of the edge.

use super::{Algorithm, Event, Group};

/// The tree.
#[derive(Clone, Debug)]
pub(super) struct Tree;

/// The children of `rank` among `ranks` ranks.
fn children(rank: u64, ranks: u64) -> impl Iterator<Item = u64> {
    [2 * rank + 1, 2 * rank + 2].into_iter().filter(move |&child| child < ranks)
}

/// Where the message goes on the edge between a rank and its parent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Up,
    Down,
}

fn split(group: &Group, flow: u64) -> (Way, u64, u64) {
    let (edge, edges) = (flow / group.chunks, group.ranks() - 1);
    let way = if edge < edges { Way::Up } else { Way::Down };
    (way, edge % edges + 1, flow % group.chunks)
}

fn join(group: &Group, way: Way, rank: u64, chunk: u64) -> u64 {
    let first = if way == Way::Up { 0 } else { group.ranks() - 1 };
    (first + rank - 1) * group.chunks + chunk
}

impl Algorithm for Tree {
    fn flows(&self, group: &Group) -> u64 {
        2 * (group.ranks() - 1) * group.chunks
    }

    fn message(&self, group: &Group, flow: u64) -> (u64, u64, u64, u32) {
        let (way, rank, chunk) = split(group, flow);
        let (parent, bytes) = ((rank - 1) / 2, group.chunk(group.bytes, chunk));
        match way {
            Way::Up => (rank, parent, bytes, 0),
            Way::Down => (parent, rank, bytes, 1),
        }
    }

    fn first(&self, group: &Group, each: &mut dyn FnMut(u64)) {
        let leaves = (1..group.ranks()).filter(|&rank| 2 * rank + 1 >= group.ranks());
        leaves.for_each(|rank| each(join(group, Way::Up, rank, 0)));
    }

    fn group(&self, _: &Group, _: u64) -> u64 {
        1
    }

    fn waits(&self, group: &Group, flow: u64) -> (u64, u64) {
        let ranks = group.ranks();
        let (way, rank, chunk) = split(group, flow);
        let (parent, order) = ((rank - 1) / 2, u64::from(chunk > 0));
        let count = |rank| children(rank, ranks).count() as u64;
        match way {
            Way::Up => (count(rank) + order, u64::from(chunk == 0)),
            Way::Down if parent > 0 => (1 + order, 0),
            // Rank 0 begins an iteration with its answer, and has the result of the one before when all its
            // children have sent theirs.
            Way::Down => (count(0) + order, if chunk == 0 { count(0) } else { 0 }),
        }
    }

    fn dependents(&self, group: &Group, flow: u64, event: Event, each: &mut dyn FnMut(u64, bool)) {
        let ranks = group.ranks();
        let (way, rank, chunk) = split(group, flow);
        let is_last = chunk + 1 == group.chunks;
        if event == Event::Acknowledged && !is_last {
            each(join(group, way, rank, chunk + 1), false);
        }
        if event != Event::Received {
            return;
        }
        let parent = (rank - 1) / 2;
        match way {
            Way::Up if parent > 0 => each(join(group, Way::Up, parent, chunk), false),
            Way::Up => {
                for child in children(0, ranks) {
                    each(join(group, Way::Down, child, chunk), false);
                    if is_last {
                        each(join(group, Way::Down, child, 0), true);
                    }
                }
            }
            Way::Down => {
                for child in children(rank, ranks) {
                    each(join(group, Way::Down, child, chunk), false);
                }
                if is_last {
                    each(join(group, Way::Up, rank, 0), true);
                }
            }
        }
    }
}
