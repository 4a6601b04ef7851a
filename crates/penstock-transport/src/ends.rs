//! `ends!`: an axis whose policies have a state at both ends of a flow.

use borsh::{BorshDeserialize, BorshSerialize};

/// Declares an axis of hosts from the list of its policies, one line each.
///
/// ```text
/// ends! { $
///     /// The recovery of a scheme.
///     config RecoveryConfig, each by of_config;
///     /// The sending half.
///     source Sending, each by at_source;
///     /// The receiving half.
///     destination Receiving, each by at_destination;
///     /// The receiver asks for what has not arrived.
///     resend: Resend(ResendConfig => Box Sending, Box Receiving),
/// }
/// ```
///
/// The macro [`penstock_packet::axis!`] makes the configuration and the state at the source. The state
/// at the destination is made in the same way, from the type behind the comma. A policy without that
/// type has the state [`Silent`]. `ends!` also makes the parameters of every policy nameable in the
/// axis's module, and writes one more macro, which calls the hooks of the state at the destination by a
/// `match`.
macro_rules! ends {
    (
        $dollar:tt
        $(#[$config_doc:meta])*
        config $Config:ident, each by $of_config:ident;
        $(#[$source_doc:meta])*
        source $Source:ident, each by $at_source:ident;
        $(#[$destination_doc:meta])*
        destination $Destination:ident, each by $at_destination:ident;
        $(
            $(#[$doc:meta])*
            $module:ident: $Variant:ident(
                $Parameters:ident => $($Sender:ident)+ $(, $($Receiver:ident)+)?
            ),
        )+
    ) => {
        penstock_packet::axis! { $dollar
            $(#[$config_doc])*
            config $Config, each by $of_config;
            $(#[$source_doc])*
            state $Source, built in crate::flow::FlowFacts<'_>, each by $at_source;
            $(
                $(#[$doc])*
                $module: $Variant($Parameters => $($Sender)+),
            )+
        }

        $( pub use $module::$Parameters; )+

        $(#[$destination_doc])*
        #[derive(Clone, Debug, borsh::BorshSerialize, borsh::BorshDeserialize)]
        #[repr(u8)] // as in `axis!`
        pub(crate) enum $Destination {
            $( $(#[$doc])* $Variant(ends!(@type $module $($($Receiver)+)?)), )+
        }

        impl $Destination {
            /// The policy that `config` describes, at the receiver of `flow`.
            pub(crate) fn new(config: &$Config, flow: &crate::flow::FlowFacts) -> Self {
                match config {
                    $(
                        $Config::$Variant(parameters) => $Destination::$Variant(
                            ends!(@new $module $($($Receiver)+)?)(parameters, flow).into(),
                        ),
                    )+
                }
            }
        }

        macro_rules! $at_destination {
            ($dollar state:expr, $dollar policy:pat => $dollar call:expr) => {
                match $dollar state {
                    $( $Destination::$Variant($dollar policy) => $dollar call, )+
                }
            };
        }
    };
    (@type $module:ident) => { crate::ends::Silent };
    (@type $module:ident Box $Policy:ident) => { alloc::boxed::Box<$module::$Policy> };
    (@type $module:ident $Policy:ident) => { $module::$Policy };
    (@new $module:ident) => { crate::ends::Silent::new };
    (@new $module:ident Box $Policy:ident) => { $module::$Policy::new };
    (@new $module:ident $Policy:ident) => { $module::$Policy::new };
}

/// The half of a policy that does nothing.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Silent;

impl Silent {
    /// `Silent` needs neither parameters nor a flow.
    pub(crate) fn new<Parameters, Flow>(_parameters: &Parameters, _flow: &Flow) -> Self {
        Silent
    }
}
