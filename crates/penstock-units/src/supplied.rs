//! Code that the program adds to a scenario: a policy that this workspace does not have.
//!
//! A scenario names such code by a text. The program that runs the scenario looks the text up and fills
//! in a [`Supplied`], which the scenario then carries to the place where the policy is made. What it is
//! not: a part of the scenario. The code is neither written nor read with it.

use alloc::sync::Arc;

/// Code for the place of a scenario that names it. Two are equal whatever they hold, because the
/// scenario's own fields say which code is meant.
#[derive(Debug)]
pub struct Supplied<Code: ?Sized>(Option<Arc<Code>>);

impl<Code: ?Sized> Supplied<Code> {
    /// The place is filled in with `code`.
    pub fn with(code: Arc<Code>) -> Self {
        Supplied(Some(code))
    }

    /// The code; none when nobody has filled the place in.
    pub fn get(&self) -> Option<&Arc<Code>> {
        self.0.as_ref()
    }
}

impl<Code: ?Sized> Default for Supplied<Code> {
    fn default() -> Self {
        Supplied(None)
    }
}

impl<Code: ?Sized> Clone for Supplied<Code> {
    fn clone(&self) -> Self {
        Supplied(self.0.clone())
    }
}

impl<Code: ?Sized> PartialEq for Supplied<Code> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_holds_the_same_code_and_an_empty_place_none() {
        let code: Arc<str> = Arc::from("code");
        let place = Supplied::with(Arc::clone(&code));
        assert!(place.clone().get().is_some_and(|found| Arc::ptr_eq(found, &code)));
        assert!(Supplied::<str>::default().get().is_none());
    }
}
