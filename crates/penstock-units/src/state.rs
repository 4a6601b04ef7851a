//! State that is saved in the middle of a run and put back into a run that was built anew.
//!
//! Most state derives serde's `Serialize` and `Deserialize`, and is replaced as a whole. A few structs also
//! hold what follows from the scenario, often shared by all: they implement [`State`] with [`state!`], and
//! are filled in where they are.
//!
//! What it is not: a file format. Invariant: a field is saved or named as kept, or the program does not
//! compile.
//!
//! [`state!`]: macro@crate::state

use alloc::vec::Vec;
use core::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeTuple, Serializer};

/// A value of which a part is saved. The rest is built anew, before the part is put back.
pub trait State {
    /// How many parts are saved one after the other.
    fn parts(&self) -> usize;

    /// Saves all parts.
    ///
    /// # Errors
    /// Those of `to`.
    fn save<S: SerializeTuple>(&self, to: &mut S) -> Result<(), S::Error>;

    /// Puts back all parts, in the same order.
    ///
    /// # Errors
    /// Those of `from`, and when a part is missing or does not fit. Some parts may have been put back
    /// then.
    fn restore<'de, A: SeqAccess<'de>>(&mut self, from: &mut A) -> Result<(), A::Error>;
}

/// What of a value is saved.
#[derive(Debug)]
pub struct Saved<'a, T>(pub &'a T);

impl<T: State> Serialize for Saved<'_, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut parts = to.serialize_tuple(self.0.parts())?;
        self.0.save(&mut parts)?;
        parts.end()
    }
}

/// A value into which its saved part is put back.
#[derive(Debug)]
pub struct Restored<'a, T>(pub &'a mut T);

impl<'de, T: State> DeserializeSeed<'de> for Restored<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        let parts = self.0.parts();
        from.deserialize_tuple(parts, self)
    }
}

impl<'de, T: State> Visitor<'de> for Restored<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} parts of a state", self.0.parts())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<(), A::Error> {
        self.0.restore(&mut from)?;
        match from.next_element::<IgnoredAny>()? {
            None => Ok(()),
            Some(_) => Err(A::Error::invalid_length(self.0.parts() + 1, &self)),
        }
    }
}

/// A list keeps its length.
impl<T: State> State for Vec<T> {
    fn parts(&self) -> usize {
        self.len()
    }

    fn save<S: SerializeTuple>(&self, to: &mut S) -> Result<(), S::Error> {
        self.iter().try_for_each(|one| to.serialize_element(&Saved(one)))
    }

    fn restore<'de, A: SeqAccess<'de>>(&mut self, from: &mut A) -> Result<(), A::Error> {
        self.iter_mut().try_for_each(|one| restore(one, from))
    }
}

/// Puts the next part back into `part`.
///
/// # Errors
/// When there is no next part, or it does not fit.
pub fn restore<'de, A: SeqAccess<'de>>(
    part: &mut impl State,
    from: &mut A,
) -> Result<(), A::Error> {
    from.next_element_seed(Restored(part))?.ok_or_else(missing)
}

/// The next part.
///
/// # Errors
/// When there is none, or it is of another type.
pub fn next<'de, T: serde::Deserialize<'de>, A: SeqAccess<'de>>(
    from: &mut A,
) -> Result<T, A::Error> {
    from.next_element()?.ok_or_else(missing)
}

fn missing<E: Error>() -> E {
    E::custom("a part of a state is missing")
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
            fn parts(&self) -> usize {
                [$(stringify!($saved),)* $(stringify!($within),)*].len()
            }

            fn save<S: serde::ser::SerializeTuple>(&self, to: &mut S) -> Result<(), S::Error> {
                let $Type { $($saved,)* $($within,)* $($kept: _,)* } = self;
                $( to.serialize_element($saved)?; )*
                $( to.serialize_element(&$crate::state::Saved($within))?; )*
                Ok(())
            }

            fn restore<'de, A: serde::de::SeqAccess<'de>>(
                &mut self,
                from: &mut A,
            ) -> Result<(), A::Error> {
                let $Type { $($saved,)* $($within,)* $($kept: _,)* } = self;
                $( *$saved = $crate::state::next(from)?; )*
                $( $crate::state::restore($within, from)?; )*
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

    state! { [T: Serialize + serde::de::DeserializeOwned] Tree<T> {
        saved: name;
        within: leaves;
        kept: ;
    } }

    fn tree(name: &str, counts: [u32; 2], limit: u32) -> Tree<String> {
        let leaves = counts.map(|count| Leaf { count, limit });
        Tree { name: name.to_string(), leaves: vec![].into_iter().chain(leaves).collect() }
    }

    /// Puts `text` back into a tree.
    fn restored(text: &str) -> Result<Tree<String>, String> {
        let mut built = tree("new", [0, 0], 9);
        let mut from = serde_json::Deserializer::from_str(text);
        match Restored(&mut built).deserialize(&mut from) {
            Ok(()) => Ok(built),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn what_is_kept_is_neither_saved_nor_touched() {
        let text = serde_json::to_string(&Saved(&tree("old", [3, 4], 7))).unwrap();
        assert_eq!(text, r#"["old",[[3],[4]]]"#);
        assert_eq!(restored(&text), Ok(tree("old", [3, 4], 9)));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (text, problem) in [
            (r#"["old",[[3]]]"#, "missing"),
            (r#"["old",[[3],[4],[5]]]"#, "invalid length 3, expected 2 parts of a state"),
            (r#"["old"]"#, "missing"),
            (r#"["old",[[3],["4"]]]"#, "invalid type"),
        ] {
            let error = restored(text).unwrap_err();
            assert!(error.contains(problem), "{text}: {error}");
        }
    }
}
