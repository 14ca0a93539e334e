//! Enums with named values.

use std::mem::discriminant;

/// An enum with named values, declared by [`choice!`](crate::choice).
pub trait Choice: Copy + 'static {
    /// Values with their names.
    const NAMES: &'static [(&'static str, Self)];

    /// Returns the name of the value.
    fn name(self) -> &'static str {
        let is_it = |value: &Self| discriminant(value) == discriminant(&self);
        let named = Self::NAMES.iter().find(|(_, value)| is_it(value));
        named.expect("every value has a name").0
    }

    /// Returns all names.
    fn names() -> Vec<&'static str> {
        Self::NAMES.iter().map(|&(name, _)| name).collect()
    }

    /// Returns the value called `name`.
    fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|&&(known, _)| known == name).map(|&(_, value)| value)
    }
}

/// Declares an enum with named values.
///
/// ```
/// use warpmem_params::Choice;
///
/// warpmem_params::choice! {
///     /// The event that closes a row.
///     #[derive(Debug, PartialEq)]
///     pub enum Closing {
///         /// A request to another row.
///         Conflict = "conflict",
///         Timeout = "timeout",
///     }
/// }
/// assert_eq!(Closing::named("timeout"), Some(Closing::Timeout));
/// assert_eq!(Closing::Conflict.name(), "conflict");
/// ```
#[macro_export]
macro_rules! choice {
    (
        $(#[$meta:meta])*
        $vis:vis enum $choice:ident {
            $( $(#[$variant_meta:meta])* $variant:ident = $name:literal ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy)]
        $vis enum $choice {
            $( $(#[$variant_meta])* $variant, )*
        }

        impl $crate::Choice for $choice {
            const NAMES: &'static [(&'static str, $choice)] =
                &[$( ($name, $choice::$variant) ),*];
        }
    };
}

/// Implements serde for a [`choice!`](crate::choice), by name.
#[macro_export]
macro_rules! serde_choice {
    ($choice:ty) => {
        impl $crate::serde::Serialize for $choice {
            fn serialize<S: $crate::serde::Serializer>(
                &self,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                serializer.serialize_str($crate::Choice::name(*self))
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $choice {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> Result<$choice, D::Error> {
                let name = <String as $crate::serde::Deserialize>::deserialize(deserializer)?;
                <$choice as $crate::Choice>::named(&name).ok_or_else(|| {
                    $crate::serde::de::Error::custom(format!("unknown name `{name}`"))
                })
            }
        }
    };
}
