//! Values that have names.

use std::mem::discriminant;

/// Values that have names, each declared once: see [`choice!`](crate::choice).
pub trait Choice: Copy + 'static {
    /// Every value and its name.
    const NAMES: &'static [(&'static str, Self)];

    /// Its name.
    fn name(self) -> &'static str {
        let is_it = |value: &Self| discriminant(value) == discriminant(&self);
        let named = Self::NAMES.iter().find(|(_, value)| is_it(value));
        named.expect("every value has a name").0
    }

    /// The names alone.
    fn names() -> Vec<&'static str> {
        Self::NAMES.iter().map(|&(name, _)| name).collect()
    }

    /// The value of this name.
    fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|&&(known, _)| known == name).map(|&(_, value)| value)
    }
}

/// Declares an enum whose values have names, and reads and writes it by them.
///
/// ```
/// use warpmem_params::Choice;
///
/// warpmem_params::choice! {
///     /// What closes a row.
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

/// Lets serde read and write a [`choice!`](crate::choice) by its names.
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
