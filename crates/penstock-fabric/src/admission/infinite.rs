//! Infinite: there is always room.

use borsh::{BorshDeserialize, BorshSerialize};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::accounts::{Accounts, Request};
use super::policy::{Parameters, Place, Policy};

/// Parameters of the infinite admission: none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InfiniteConfig {}

impl Parameters for InfiniteConfig {}

/// A memory without limit.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Infinite;

impl Infinite {
    pub(crate) fn new(_: &InfiniteConfig, _: &Place<'_>) -> Self {
        Infinite
    }
}

impl Policy for Infinite {
    #[inline]
    fn admit(&self, accounts: &mut Accounts, request: Request) -> bool {
        let index = accounts.index(request.ingress, request.class);
        accounts.ingress[index].used += request.bytes;
        true
    }
}
