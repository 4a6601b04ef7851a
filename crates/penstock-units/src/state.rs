//! State that is saved in the middle of a run and put back into a run that was built anew.
//!
//! Most state derives borsh's `BorshSerialize` and `BorshDeserialize`, and is replaced as a whole. A few
//! structs also hold what follows from the scenario, often shared by all: they implement [`State`] with
//! [`state!`], and are filled in where they are. Borsh's code is small: with serde in its place the release
//! build of the extension took 141 s in place of 81 s.
//!
//! What it is not: a file format. Invariant: a field is saved or named as kept, or the program does not
//! compile.
//!
//! [`state!`]: macro@crate::state

use alloc::format;
use alloc::vec::Vec;

use borsh::io::{Error, ErrorKind, Read, Result, Write};
use borsh::{BorshDeserialize, BorshSerialize};

/// What is saved: one value after the other.
pub type Saved = Vec<u8>;

/// A value of which a part is saved. The rest is built anew, before the part is put back.
pub trait State {
    /// Appends what is saved to `to`.
    ///
    /// # Errors
    /// When a number is NaN, which borsh refuses.
    fn save(&self, to: &mut Saved) -> Result<()>;

    /// Takes what was saved from the front of `from`, and puts it back.
    ///
    /// # Errors
    /// When `from` ends too early or does not fit. Some parts may have been put back then.
    fn restore(&mut self, from: &mut &[u8]) -> Result<()>;
}

/// A list keeps its length.
impl<T: State> State for Vec<T> {
    fn save(&self, to: &mut Saved) -> Result<()> {
        self.len().serialize(to)?;
        self.iter().try_for_each(|one| one.save(to))
    }

    fn restore(&mut self, from: &mut &[u8]) -> Result<()> {
        let saved = usize::deserialize(from)?;
        if saved != self.len() {
            return Err(unfit(&format!("a list of {saved} parts in place of {}", self.len())));
        }
        self.iter_mut().try_for_each(|one| one.restore(from))
    }
}

/// What is saved does not fit what was built; `why`.
fn unfit(why: &str) -> Error {
    Error::new(ErrorKind::InvalidData, why)
}

/// For borsh's `serialize_with`: the pairs of a map, or the members of a set, of hashbrown.
///
/// # Errors
/// Those of `to`.
pub fn save_members<'a, C, T, W: Write>(members: &'a C, to: &mut W) -> Result<()>
where
    &'a C: IntoIterator<Item = T>,
    T: BorshSerialize,
{
    members.into_iter().collect::<Vec<_>>().serialize(to)
}

/// For borsh's `deserialize_with`: what [`save_members`] has saved.
///
/// # Errors
/// Those of `from`, and when it does not fit.
pub fn read_members<C: FromIterator<T>, T: BorshDeserialize, R: Read>(from: &mut R) -> Result<C> {
    Ok(Vec::<T>::deserialize_reader(from)?.into_iter().collect())
}

/// Implements [`State`](crate::state::State) for a struct. Every field stands in one of three lists:
///
/// ```text
/// state! { Host {
///     saved: nic, control, draws;       // replaced by what was saved
///     within: ;                         // filled in where it is: a `State` itself
///     kept: config, hop_delay;          // follows from the scenario
/// } }
/// ```
///
/// Type parameters come first, in brackets: `state! { [O: Observer] Partition<O> { … } }`.
#[macro_export]
macro_rules! state {
    (
        $([$($bounds:tt)*])? $Type:ident $(<$($parameter:ident),+>)? {
            saved: $($saved:ident),*;
            within: $($within:ident),*;
            kept: $($kept:ident),*;
        }
    ) => {
        impl$(<$($bounds)*>)? $crate::state::State for $Type$(<$($parameter),+>)? {
            fn save(&self, to: &mut $crate::state::Saved) -> borsh::io::Result<()> {
                let $Type { $($saved,)* $($within,)* $($kept: _,)* } = self;
                $( borsh::BorshSerialize::serialize($saved, to)?; )*
                $( $crate::state::State::save($within, to)?; )*
                Ok(())
            }

            fn restore(&mut self, from: &mut &[u8]) -> borsh::io::Result<()> {
                let $Type { $($saved,)* $($within,)* $($kept: _,)* } = self;
                $( *$saved = borsh::BorshDeserialize::deserialize(from)?; )*
                $( $crate::state::State::restore($within, from)?; )*
                Ok(())
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use alloc::string::{String, ToString};
    use alloc::vec;

    use super::*;

    #[derive(Debug, PartialEq)]
    struct Leaf {
        count: u32,
        limit: u32,
    }

    state! { Leaf { saved: count; within: ; kept: limit; } }

    #[derive(Debug, PartialEq)]
    struct Tree<T> {
        name: T,
        leaves: Vec<Leaf>,
    }

    state! { [T: BorshSerialize + BorshDeserialize] Tree<T> {
        saved: name;
        within: leaves;
        kept: ;
    } }

    fn tree(name: &str, counts: &[u32], limit: u32) -> Tree<String> {
        let leaves = counts.iter().map(|&count| Leaf { count, limit });
        Tree { name: name.to_string(), leaves: leaves.collect() }
    }

    fn saved(tree: &Tree<String>) -> Saved {
        let mut bytes = vec![];
        tree.save(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn what_is_kept_is_neither_saved_nor_touched() {
        let bytes = saved(&tree("old", &[3, 4], 7));
        let mut built = tree("new", &[0, 0], 9);
        let mut from = &bytes[..];
        built.restore(&mut from).unwrap();
        assert_eq!(built, tree("old", &[3, 4], 9));
        assert!(from.is_empty());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let bytes = saved(&tree("old", &[3, 4], 7));
        let cut = &bytes[..bytes.len() - 1];
        for (mut bytes, counts) in [(&bytes[..], 1), (&bytes, 3), (cut, 2), (&[], 2)] {
            let mut built = tree("new", &vec![0; counts], 9);
            assert!(built.restore(&mut bytes).is_err(), "{counts} {bytes:?}");
        }
    }

    #[test]
    fn members_are_read_as_they_were_saved() {
        let map: alloc::collections::BTreeMap<u8, u16> = [(1, 2), (3, 4)].into();
        let mut bytes = vec![];
        save_members(&map, &mut bytes).unwrap();
        assert_eq!(
            read_members::<Vec<(u8, u16)>, _, _>(&mut &bytes[..]).unwrap(),
            [(1, 2), (3, 4)]
        );
    }
}
