//! [`axis!`]: a list of policies, from which the configuration and the state of an axis are made.

/// Declares an axis from the list of its policies, one line each.
///
/// ```text
/// axis! { $
///     /// The backpressure axis of a scenario.
///     config BackpressureConfig;
///     /// The backpressure policy of a switch.
///     state Backpressure, built in Place, each by dispatch;
///     /// Priority flow control.
///     pfc: Pfc(PfcConfig => Pfc),
///     /// Fast and accurate flow control.
///     fafc: Fafc(FafcConfig => Box Fafc),
/// }
/// ```
///
/// The line `pfc: Pfc(PfcConfig => Pfc)` means: the file `pfc.rs` has the parameters `PfcConfig` and the
/// state `Pfc`; a scenario names the policy by `kind`, which is the variant `Pfc` in kebab case. `Box` in
/// front of the state keeps a large state out of the enum. From the list come
///
/// - `pub mod pfc;` for each policy;
/// - the enum of configurations, which serde reads and writes with the tag `kind`;
/// - the enum of states, stored by value;
/// - `new(config, place)`, which calls `new(&PfcConfig, &Place)` of the state;
/// - `check(problems)` of the enum of configurations, which calls `check` of the parameters: their bounds;
/// - the macro `dispatch!(self, policy => policy.hook(…))`, which calls a hook of the state by a `match`,
///   so that no call goes through a pointer.
///
/// The lone `$` at the beginning is needed to write a macro inside a macro.
#[macro_export]
macro_rules! axis {
    (
        $dollar:tt
        $(#[$config_doc:meta])*
        config $Config:ident;
        $(#[$state_doc:meta])*
        state $State:ident, built in $Place:ty, each by $dispatch:ident;
        $(
            $(#[$doc:meta])*
            $module:ident: $Variant:ident($Parameters:ident => $($Policy:ident)+),
        )+
    ) => {
        $( pub mod $module; )+

        $(#[$config_doc])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(tag = "kind", rename_all = "kebab-case")]
        pub enum $Config {
            $( $(#[$doc])* $Variant($module::$Parameters), )+
        }

        impl $Config {
            /// Checks every field against its bounds.
            pub fn check(&self, problems: &mut penstock_units::Problems) {
                match self {
                    $( $Config::$Variant(parameters) => parameters.check(problems), )+
                }
            }
        }

        $(#[$state_doc])*
        #[derive(Debug)]
        pub(crate) enum $State {
            $( $(#[$doc])* $Variant($crate::axis!(@type $module $($Policy)+)), )+
        }

        impl $State {
            /// The policy that `config` describes, at `place`.
            pub(crate) fn new(config: &$Config, place: &$Place) -> Self {
                match config {
                    $(
                        $Config::$Variant(parameters) => {
                            $State::$Variant($crate::axis!(@new $module $($Policy)+)(parameters, place).into())
                        }
                    )+
                }
            }
        }

        macro_rules! $dispatch {
            ($dollar state:expr, $dollar policy:pat => $dollar call:expr) => {
                match $dollar state {
                    $( $State::$Variant($dollar policy) => $dollar call, )+
                }
            };
        }
        pub(crate) use $dispatch;
    };
    (@type $module:ident Box $Policy:ident) => { alloc::boxed::Box<$module::$Policy> };
    (@type $module:ident $Policy:ident) => { $module::$Policy };
    (@new $module:ident Box $Policy:ident) => { $module::$Policy::new };
    (@new $module:ident $Policy:ident) => { $module::$Policy::new };
}
