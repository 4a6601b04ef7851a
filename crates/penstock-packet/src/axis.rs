//! `axis!`: the macro that makes the configuration and the state of an axis from a list of
//! policies.

/// Declares an axis from the list of its policies, one line each.
///
/// ```text
/// axis! { $
///     /// The backpressure axis of a scenario.
///     config BackpressureConfig, each by configured;
///     /// The backpressure policy of a switch.
///     state Backpressure, built in Place<'_>, each by dispatch;
///     /// Priority flow control.
///     pfc: Pfc(PfcConfig => Pfc),
///     /// Fast and accurate flow control.
///     fafc: Fafc(FafcConfig => Box Fafc),
/// }
/// ```
///
/// The line `pfc: Pfc(PfcConfig => Pfc)` means: the file `pfc.rs` has the parameters `PfcConfig`
/// and the state `Pfc`; a scenario names the policy by `kind`, which is the variant `Pfc` in kebab
/// case. `Box` in front of the state keeps a large state out of the enum; borsh then asks for `Clone`.
/// The macro makes from the list:
///
/// - `pub mod pfc;` for each policy;
/// - the enum of configurations, which serde reads and writes with the tag `kind`;
/// - the enum of states, stored by value, which borsh saves and restores in the middle of a run;
/// - `new(config, place)`, which calls `new(&PfcConfig, &Place)` of the state;
/// - `check(problems)` of the enum of configurations, which checks each field against the bounds
///   that it declares ([`penstock_units::declared`]) and then calls `check` of the parameters;
/// - `kind()`, the name by which a scenario chooses the policy;
/// - the macro `dispatch!(state, policy => policy.hook(…))`, which calls a hook of the state by a
///   `match`, so that no call goes through a pointer;
/// - the macro `configured!(config, parameters => parameters.question())`, which does the same for
///   the configurations.
///
/// A trait of the axis says what the hooks are, and what a hook does where a policy leaves it out.
/// That trait and the two enums have to be in scope where a hook is called. The lone `$` at the
/// beginning is needed to write a macro inside a macro.
#[macro_export]
macro_rules! axis {
    (
        $dollar:tt
        $(#[$config_doc:meta])*
        config $Config:ident, each by $configured:ident;
        $(#[$state_doc:meta])*
        state $State:ident, built in $Place:ty, each by $dispatch:ident;
        $(
            $(#[$doc:meta])*
            $module:ident: $Variant:ident($Parameters:ident => $($Policy:ident)+),
        )+
    ) => {
        $( pub mod $module; )+

        $(#[$config_doc])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
        pub enum $Config {
            $( $(#[$doc])* $Variant($module::$Parameters), )+
        }

        /// Asks the parameters of a configuration a question.
        macro_rules! $configured {
            ($dollar config:expr, $dollar parameters:pat => $dollar call:expr) => {
                match $dollar config {
                    $( $Config::$Variant($dollar parameters) => $dollar call, )+
                }
            };
        }

        impl $Config {
            /// Checks every field against its declared bounds, then the fields with each other.
            pub fn check(&self, problems: &mut penstock_units::Problems) {
                $configured!(self, parameters => {
                    penstock_units::declared::check(parameters, problems);
                    parameters.check(problems);
                });
            }

            /// The name of the policy, as scenarios write it.
            pub fn kind(&self) -> alloc::string::String {
                penstock_units::declared::kind(self)
            }
        }

        $(#[$state_doc])*
        #[derive(Debug, borsh::BorshSerialize, borsh::BorshDeserialize)]
        #[repr(u8)] // a tag of its own is read with four instructions, one in a niche of a policy with ten
        pub(crate) enum $State {
            $( $(#[$doc])* $Variant($crate::axis!(@stored $module $($Policy)+)), )+
        }

        impl $State {
            /// The policy that `config` describes, at `place`.
            pub(crate) fn new(config: &$Config, place: &$Place) -> Self {
                match config {
                    $( $Config::$Variant(parameters) => $State::$Variant(
                        $crate::axis!(@new (parameters, place) $module $($Policy)+)
                    ), )+
                }
            }
        }

        /// Calls a hook of a state.
        macro_rules! $dispatch {
            ($dollar state:expr, $dollar policy:pat => $dollar call:expr) => {
                match $dollar state {
                    $( $State::$Variant($dollar policy) => $dollar call, )+
                }
            };
        }
        #[allow(unused_imports)] // an axis may call its hooks from within only
        pub(crate) use $dispatch;
    };
    (@stored $module:ident Box $Policy:ident) => { alloc::boxed::Box<$module::$Policy> };
    (@stored $module:ident $Policy:ident) => { $module::$Policy };
    (@new ($($of:tt)*) $module:ident Box $Policy:ident) => {
        alloc::boxed::Box::new($module::$Policy::new($($of)*))
    };
    (@new ($($of:tt)*) $module:ident $Policy:ident) => { $module::$Policy::new($($of)*) };
}
