//! Macros that declare structs of parameters.

/// Declares the parameters of a policy: a struct with descriptions and defaults of its fields.
///
/// A field has a summary (its comment, in lower case and without a full stop), a type, a default
/// and, depending on its type, a range, a meaning of 0, and a unit. A struct of parameters shared
/// with other policies may follow the fields.
///
/// ```
/// use warpmem_params::{choice, params};
///
/// choice! {
///     enum Order { Oldest = "oldest", Youngest = "youngest" }
/// }
///
/// params! {
///     struct Shared {
///         /// request served first
///         order: Order = Order::Oldest;
///     }
/// }
///
/// params! {
///     struct Own {
///         /// row hits before another row is opened
///         cap: u32 = 4, in 0.., zero "no limit", unit "requests";
///         /// fraction of row hits that keeps a row open
///         share: f64 = 0.5, in 0.0..=1.0;
///         ..shared: Shared;
///     }
/// }
///
/// let ranges: Vec<String> = Own::params().iter().map(|param| param.range()).collect();
/// assert_eq!(ranges, ["0 = no limit, or from 1", "0 to 1", "oldest | youngest"]);
/// assert_eq!(Own::default().cap, 4);
/// ```
#[macro_export]
macro_rules! params {
    (
        $(#[$meta:meta])*
        $vis:vis struct $options:ident {
            $(
                $(#[doc = $summary:literal])+
                $field_vis:vis $name:ident: $ty:ty = $default:expr
                $(, in $within:expr)? $(, zero $zero:literal)? $(, unit $unit:literal)?;
            )*
            $( ..$shared_vis:vis $shared:ident: $shared_ty:ty; )?
        }
    ) => {
        $(#[$meta])*
        $vis struct $options {
            $( $(#[doc = $summary])+ $field_vis $name: $ty, )*
            $( $shared_vis $shared: $shared_ty, )?
        }

        impl $options {
            /// Returns the descriptions of its fields.
            $vis fn params() -> Vec<$crate::Param> {
                let own = [ $(
                    $crate::describe::<$ty>(
                        (stringify!($name), $default),
                        &$crate::within!($ty $(, $within)?),
                        $crate::given!($($zero)?),
                        $crate::given!($($unit)?).unwrap_or("-"),
                        concat!($($summary),+),
                    ),
                )* ];
                let params = own.into_iter();
                $( let params = params.chain(<$shared_ty>::params()); )?
                params.collect()
            }
        }

        impl $crate::ParamSet for $options {
            fn read(given: &$crate::Given) -> Self {
                $options {
                    $( $name: given.value(stringify!($name)).unwrap_or($default), )*
                    $( $shared: <$shared_ty as $crate::ParamSet>::read(given), )?
                }
            }
        }

        impl ::std::default::Default for $options {
            fn default() -> Self {
                <Self as $crate::ParamSet>::read(&$crate::Given::default())
            }
        }
    };
}

/// Declares a section of a machine's configuration: a struct that serde reads, with the descriptions
/// of its keys.
///
/// A field has a summary (its comment), a type and, depending on its type, a neutral default, a
/// range and a unit. A key without a default is required. The type of a field may be another
/// section; a comment without a full stop is then a label that precedes the meanings of that
/// section's keys. Fields that are not keys follow `beside` and start with the default of their
/// type.
///
/// ```
/// use warpmem_params::{Declared, Field, section};
///
/// section! {
///     pub struct Unit {
///         /// Latency from operands to result.
///         latency: u32, in 1..=100, unit "core cycles";
///         /// Initiation interval.
///         interval: u32 = 1, in 1..=100, unit "core cycles";
///     }
/// }
///
/// section! {
///     pub struct Units {
///         /// Additions
///         add: Unit;
///     }
/// }
///
/// let keys = Units::keys("", Declared::ROOT, &());
/// assert_eq!(keys[0].path, "add.latency");
/// assert_eq!(keys[0].param.range(), "1 to 100");
/// assert_eq!(keys[0].meaning(), "Additions: latency from operands to result.");
/// assert_eq!(keys[1].param.default(), "1");
/// ```
#[macro_export]
macro_rules! section {
    (
        $(#[$meta:meta])*
        $vis:vis struct $section:ident {
            $(
                $(#[doc = $summary:literal])+
                $name:ident: $ty:ty $(= $default:expr)?
                $(, in $within:expr)? $(, unit $unit:literal)?;
            )*
        }
        $( beside { $( $(#[$beside_meta:meta])* $beside:ident: $beside_ty:ty; )* } )?
    ) => {
        $(#[$meta])*
        $vis struct $section {
            $( $(#[doc = $summary])+ pub $name: $ty, )*
            $( $( $(#[$beside_meta])* pub $beside: $beside_ty, )* )?
        }

        impl $crate::Field for $section {
            type Within = ();

            fn keys(section: &str, declared: $crate::Declared, (): &()) -> Vec<$crate::Key> {
                let section = declared.path(section);
                let keys = [ $(
                    <$ty as $crate::Field>::keys(
                        &section,
                        $crate::Declared {
                            name: stringify!($name),
                            default: $crate::stated!($ty $(, $default)?),
                            unit: $crate::given!($($unit)?).unwrap_or("-"),
                            summary: concat!($($summary),+),
                        },
                        &$crate::within!(@field $ty $(, $within)?),
                    ),
                )* ];
                declared.section(keys.into_iter().flatten())
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $section {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::std::result::Result<$section, D::Error> {
                #[derive($crate::serde::Deserialize)]
                #[serde(crate = "warpmem_params::serde", deny_unknown_fields)]
                struct Given {
                    $( $name: ::std::option::Option<$ty>, )*
                }

                let given = <Given as $crate::serde::Deserialize>::deserialize(deserializer)?;
                ::std::result::Result::Ok($section {
                    $( $name: match given.$name {
                        ::std::option::Option::Some(value) => value,
                        ::std::option::Option::None => {
                            $crate::left_out!($ty, D, stringify!($name) $(, $default)?)
                        }
                    }, )*
                    $( $( $beside: ::std::default::Default::default(), )* )?
                })
            }
        }
    };
}

/// The declared default.
#[doc(hidden)]
#[macro_export]
macro_rules! stated {
    ($ty:ty) => {
        $crate::DefaultValue::None
    };
    ($ty:ty, $default:expr) => {
        $crate::DefaultValue::Value(<$ty as $crate::Typed>::stated($default))
    };
}

/// The value of an omitted field: its default, a section of defaults, or an error.
#[doc(hidden)]
#[macro_export]
macro_rules! left_out {
    ($ty:ty, $deserializer:ident, $name:expr) => {
        $crate::empty_section::<$ty, $deserializer::Error>($name)?
    };
    ($ty:ty, $deserializer:ident, $name:expr, $default:expr) => {
        <$ty as $crate::Typed>::read(<$ty as $crate::Typed>::stated($default))
            .expect("a default is a value of its type")
    };
}

/// The declared range, if any.
#[doc(hidden)]
#[macro_export]
macro_rules! within {
    (@field $ty:ty) => {
        ()
    };
    (@field $ty:ty, $within:expr) => {
        <<$ty as $crate::Field>::Within as ::std::convert::From<_>>::from($within)
    };
    ($ty:ty) => {
        ()
    };
    ($ty:ty, $within:expr) => {
        <<$ty as $crate::Typed>::Within as ::std::convert::From<_>>::from($within)
    };
}

/// An optional part of a declaration.
#[doc(hidden)]
#[macro_export]
macro_rules! given {
    () => {
        ::std::option::Option::None::<&'static str>
    };
    ($part:literal) => {
        ::std::option::Option::Some($part)
    };
}

#[cfg(test)]
mod tests {
    use crate::{Adaptive, Param, PolicyInfo, Registry};

    crate::choice! {
        #[derive(Debug, PartialEq)]
        pub enum Order {
            Oldest = "oldest",
            HitsFirst = "hits-first",
        }
    }

    crate::serde_choice!(Order);

    params! {
        #[derive(Debug, PartialEq)]
        struct Shared {
            /// which goes
            /// first
            order: Order = Order::HitsFirst;
        }
    }

    params! {
        #[derive(Debug, PartialEq)]
        struct All {
            /// a cap
            cap: u32 = 4, in 0.., zero "off", unit "requests";
            /// a time
            time: u64 = 100_000, in 1.., unit "cycles";
            /// a width
            width: usize = 8, in 2..=16;
            /// a share
            share: f64 = 0.25, in 0.0..=1.0;
            /// a ratio
            ratio: f64 = 1.5, in crate::Real::Above(0.0);
            /// on or off
            flag: bool = true;
            /// a bound
            bound: Adaptive = Adaptive::Adaptive, in 0..;
            /// picks
            picks: Option<u32> = None, in ("dram.picks", 0..);
            /// a page
            page: Option<String> = None, in ("dram.page", "a page policy");
            ..shared: Shared;
        }
    }

    const INFO: PolicyInfo =
        PolicyInfo { name: "all", summary: "", source: "", params: All::params };

    static REGISTRY: Registry<All, ()> = Registry::new(
        "slot",
        &[crate::Entry { info: INFO, build: |(), params| Ok(Box::new(params.read())) }],
    );

    fn build(text: &str) -> Result<All, String> {
        REGISTRY.build(text, &()).map(|all| *all).map_err(|error| error.to_string())
    }

    #[test]
    fn a_struct_describes_its_fields() {
        let shown = |param: &Param| {
            [param.name, param.unit, param.summary].map(str::to_owned).join("; ")
                + &format!("; {}; {}", param.default(), param.range())
        };
        let shown: Vec<String> = All::params().iter().map(shown).collect();
        let expected = [
            "cap; requests; a cap; 4; 0 = off, or from 1",
            "time; cycles; a time; 100000; from 1",
            "width; -; a width; 8; 2 to 16",
            "share; -; a share; 0.25; 0 to 1",
            "ratio; -; a ratio; 1.5; above 0",
            "flag; -; on or off; true; true | false",
            "bound; -; a bound; adaptive; adaptive, or from 0",
            "picks; -; picks; the machine's dram.picks; from 0",
            "page; -; a page; the machine's dram.page; a page policy",
            "order; -; which goes first; hits-first; oldest | hits-first",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn omitted_parameters_have_their_defaults() {
        let all = build("all").unwrap();
        assert_eq!(all, All::default());
        assert_eq!((all.cap, all.time, all.share, all.picks), (4, 100_000, 0.25, None));
        assert_eq!(all.shared.order, Order::HitsFirst);
    }

    #[test]
    fn every_kind_of_value_is_parsed() {
        let text = "all(cap=0, time=2^14, width=1_6, share=1, ratio=1e3, flag=false, bound=7, \
                    picks=0, page=open, order=oldest)";
        let expected = All {
            cap: 0,
            time: 1 << 14,
            width: 16,
            share: 1.0,
            ratio: 1000.0,
            flag: false,
            bound: Adaptive::Fixed(7),
            picks: Some(0),
            page: Some("open".to_owned()),
            shared: Shared { order: Order::Oldest },
        };
        assert_eq!(build(text).unwrap(), expected);
        assert_eq!(build("all(bound=adaptive)").unwrap().bound, Adaptive::Adaptive);
    }

    #[test]
    fn invalid_values_are_refused_with_the_valid_ones() {
        let cases = [
            ("cap=-1", "`cap` = -1", "a whole number from 0 to 4294967295"),
            ("cap=4294967296", "`cap` = 4294967296", "a whole number from 0 to 4294967295"),
            ("cap=1.5", "`cap` = 1.5", "a whole number from 0 to 4294967295"),
            ("time=0", "`time` = 0", "a whole number from 1 to 1099511627776"),
            ("time=2^41", "`time` = 2^41", "a whole number from 1 to 1099511627776"),
            ("width=17", "`width` = 17", "a whole number from 2 to 16"),
            ("share=1.1", "`share` = 1.1", "a number from 0 to 1"),
            ("share=nan", "`share` = nan", "a number from 0 to 1"),
            ("ratio=0", "`ratio` = 0", "a number above 0"),
            ("ratio=inf", "`ratio` = inf", "a number above 0"),
            ("flag=1", "`flag` = 1", "true or false"),
            ("bound=x", "`bound` = x", "`adaptive`, or a whole number from 0 to 4294967295"),
            ("picks=-1", "`picks` = -1", "a whole number from 0 to 4294967295"),
            ("page=", "`page` = ", "a string"),
            ("order=hits", "`order` = hits", "`oldest` or `hits-first`"),
        ];
        for (text, given, valid) in cases {
            let expected =
                format!("parameters of slot `all`: {given} is not valid: expected {valid}");
            assert_eq!(build(&format!("all({text})")).unwrap_err(), expected);
        }
        assert_eq!(build("all(time=2^40)").unwrap().time, 1 << 40);
    }

    #[test]
    fn unknown_parameters_are_refused_with_a_suggestion() {
        let error = build("all(widht=3)").unwrap_err();
        assert!(
            error.contains("unknown key `widht` (did you mean `width`?); valid: cap "),
            "{error}"
        );
    }

    section! {
        #[derive(Debug, PartialEq)]
        pub struct Inner {
            /// An inner
            /// length.
            length: u32, in 1..=8, unit "bytes";
        }
    }

    section! {
        #[derive(Debug, PartialEq)]
        pub struct Optional {
            /// A depth.
            depth: u32 = 4, in 1..=8, unit "entries";
            /// An order.
            order: Order = Order::Oldest;
            /// A policy.
            policy: String = "fifo", in "policy";
            /// Some sizes.
            sizes: Vec<u32> = &[];
        }
    }

    section! {
        #[derive(Debug, PartialEq)]
        pub struct Outer {
            /// A section.
            inner: Inner;
            /// A name.
            name: String, in "text";
            /// A section that may be left out.
            optional: Optional;
        } beside {
            folder: String;
        }
    }

    fn read(text: &str) -> Result<Outer, String> {
        toml::from_str(text).map_err(|error| error.message().to_owned())
    }

    #[test]
    fn omitted_keys_have_their_defaults() {
        let outer = read("name = \"n\"\ninner = { length = 2 }\noptional = { depth = 8 }").unwrap();
        let optional = Optional {
            depth: 8,
            order: Order::Oldest,
            policy: "fifo".to_owned(),
            sizes: Vec::new(),
        };
        let (inner, name) = (Inner { length: 2 }, "n".to_owned());
        assert_eq!(outer, Outer { inner, name, optional, folder: String::new() });
        let neutral = read("name = \"n\"\ninner = { length = 2 }").unwrap();
        assert_eq!((neutral.optional.depth, neutral.optional.order), (4, Order::Oldest));
    }

    #[test]
    fn keys_without_a_default_are_required() {
        assert_eq!(read("inner = { length = 2 }").unwrap_err(), "missing field `name`");
        assert_eq!(read("name = \"n\"").unwrap_err(), "missing field `inner`");
        assert_eq!(read("name = \"n\"\ninner = {}").unwrap_err(), "missing field `length`");
        let unknown = read("name = \"n\"\ninner = { length = 2 }\ndepth = 8").unwrap_err();
        assert!(unknown.starts_with("unknown field `depth`"), "{unknown}");
    }

    #[test]
    fn a_section_describes_its_keys_and_its_sections() {
        use crate::{Declared, Field, Key};
        let declared = Declared { name: "outer", ..Declared::ROOT };
        let shown = |key: &Key| {
            let (range, unit, default) = (key.param.range(), key.param.unit, key.param.default());
            format!("{}: {range}, {unit}, {default}, {}", key.path, key.meaning())
        };
        let keys: Vec<String> = Outer::keys("", declared, &()).iter().map(shown).collect();
        assert_eq!(
            keys,
            [
                "outer.inner.length: 1 to 8, bytes, -, An inner length.",
                "outer.name: text, -, -, A name.",
                "outer.optional.depth: 1 to 8, entries, 4, A depth.",
                "outer.optional.order: oldest | hits-first, -, oldest, An order.",
                "outer.optional.policy: policy, -, fifo, A policy.",
                "outer.optional.sizes: list, -, [], Some sizes.",
            ]
        );
    }
}
