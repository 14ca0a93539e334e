//! `printf` of kernels (CUDA C++ Programming Guide, "Formatted Output").

use sprintf::vsprintf;

/// Argument type of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArgumentType {
    /// 32 bits.
    Int,
    /// 64 bits.
    Long,
    /// A double.
    Double,
    /// A string, by its address.
    Text,
}

impl ArgumentType {
    /// Returns the size in bytes among the arguments, which is also its alignment.
    pub fn bytes(self) -> u64 {
        if self == ArgumentType::Int { 4 } else { 8 }
    }
}

/// An argument.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Bits(u64),
    Text(String),
}

/// A conversion of a format, as `%-8ld`.
struct Conversion<'f> {
    /// Flags, width and precision.
    how: &'f str,
    is_long: bool,
    letter: char,
}

/// Parses the conversion after a `%`; returns it and the rest of the format.
fn conversion(format: &str) -> Option<(Conversion<'_>, &str)> {
    let is_how = |c: char| c.is_ascii_digit() || "-+ #.*".contains(c);
    let end = format.find(|c: char| !is_how(c))?;
    let (how, rest) = format.split_at(end);
    let letter_at = rest.find(|c: char| !"hljztL".contains(c))?;
    let (lengths, rest) = rest.split_at(letter_at);
    let letter = rest.chars().next()?;
    let is_long = lengths.contains(['l', 'j', 'z', 't']);
    Some((Conversion { how, is_long, letter }, &rest[letter.len_utf8()..]))
}

impl Conversion<'_> {
    /// Returns the argument type; `None` if it takes no argument or is invalid.
    fn argument_type(&self) -> Option<ArgumentType> {
        match self.letter {
            'd' | 'i' | 'u' | 'x' | 'X' | 'o' | 'c' if self.is_long => Some(ArgumentType::Long),
            'd' | 'i' | 'u' | 'x' | 'X' | 'o' | 'c' => Some(ArgumentType::Int),
            'p' => Some(ArgumentType::Long),
            'e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'a' | 'A' => Some(ArgumentType::Double),
            's' => Some(ArgumentType::Text),
            _ => None,
        }
    }

    /// Formats the argument as C does; `None` if it cannot be formatted.
    fn written(&self, widths: &[i32], value: &Value) -> Option<String> {
        let mut how = self.how.to_owned();
        for width in widths {
            how = how.replacen('*', &width.to_string(), 1);
        }
        // Rust has no such conversion letter.
        let letter = match self.letter {
            'a' => 'e',
            'A' => 'E',
            'p' => 'x',
            letter => letter,
        };
        let specifier = format!("%{how}{letter}");
        let written = match (value, self.letter) {
            (Value::Text(text), _) => vsprintf(&specifier, &[text]),
            (Value::Bits(bits), 'd' | 'i') if self.is_long => {
                vsprintf(&specifier, &[&(*bits as i64)])
            }
            (Value::Bits(bits), 'd' | 'i') => vsprintf(&specifier, &[&(*bits as i32)]),
            (Value::Bits(bits), 'c') => vsprintf(&specifier, &[&(*bits as u8 as char)]),
            (Value::Bits(bits), 'p') => return Some(format!("{bits:#x}")),
            (Value::Bits(bits), 'u' | 'x' | 'X' | 'o') if !self.is_long => {
                vsprintf(&specifier, &[&(*bits as u32)])
            }
            (Value::Bits(bits), 'u' | 'x' | 'X' | 'o') => vsprintf(&specifier, &[bits]),
            (Value::Bits(bits), _) => vsprintf(&specifier, &[&f64::from_bits(*bits)]),
        };
        written.ok()
    }
}

/// Formats text with arguments that `next` reads one by one; returns the text and the number of arguments.
/// Copies invalid conversions verbatim.
pub(crate) fn formatted<E>(
    format: &str,
    mut next: impl FnMut(ArgumentType) -> Result<Value, E>,
) -> Result<(String, u64), E> {
    let (mut text, mut count) = (String::new(), 0);
    let mut rest = format;
    while let Some((before, after)) = rest.split_once('%') {
        text.push_str(before);
        let Some((conversion, behind)) = conversion(after) else {
            text.push('%');
            rest = after;
            continue;
        };
        rest = behind;
        let Some(argument_type) = conversion.argument_type() else {
            if conversion.letter != '%' {
                text.push('%');
                text.push_str(&after[..after.len() - behind.len()]);
            } else {
                text.push('%');
            }
            continue;
        };
        let mut widths = Vec::new();
        for _ in conversion.how.matches('*') {
            count += 1;
            match next(ArgumentType::Int)? {
                Value::Bits(bits) => widths.push(bits as i32),
                Value::Text(_) => {}
            }
        }
        count += 1;
        let value = next(argument_type)?;
        match conversion.written(&widths, &value) {
            Some(written) => text.push_str(&written),
            None => text.push_str(&after[..after.len() - behind.len()]),
        }
    }
    text.push_str(rest);
    Ok((text, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(format: &str, values: &[Value]) -> (String, u64) {
        let mut values = values.iter().cloned();
        formatted(format, |_| values.next().ok_or(())).unwrap()
    }

    #[test]
    fn conversions_follow_c() {
        let double = |value: f64| Value::Bits(value.to_bits());
        let cases: [(&str, Value, &str); 12] = [
            ("%d", Value::Bits(u64::from(u32::MAX)), "-1"),
            ("%u", Value::Bits(u64::from(u32::MAX)), "4294967295"),
            ("%ld", Value::Bits(u64::MAX), "-1"),
            ("%llu", Value::Bits(u64::MAX), "18446744073709551615"),
            ("%5d|", Value::Bits(42), "   42|"),
            ("%-5d|", Value::Bits(42), "42   |"),
            ("%04x", Value::Bits(255), "00ff"),
            ("%.3f", double(1.5), "1.500"),
            ("%g", double(0.25), "0.25"),
            ("%c", Value::Bits(65), "A"),
            ("%s!", Value::Text("warp".into()), "warp!"),
            ("%p", Value::Bits(0x2000), "0x2000"),
        ];
        for (format, value, expected) in cases {
            assert_eq!(print(format, &[value]).0, expected, "{format}");
        }
    }

    #[test]
    fn invalid_conversions_are_copied_verbatim() {
        assert_eq!(print("100%% of %d", &[Value::Bits(3)]), ("100% of 3".into(), 1));
        assert_eq!(print("%y %", &[]), ("%y %".into(), 0));
        assert_eq!(print("%*d", &[Value::Bits(4), Value::Bits(7)]), ("   7".into(), 2));
    }
}
