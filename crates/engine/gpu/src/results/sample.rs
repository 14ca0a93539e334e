//! The sample of requests that is recorded.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;
use warpmem_support::random::mixed;

/// A sample of the requests of a run: all, or one in N at random. The selection depends only on the
/// number of a request, so that equal runs give equal samples. Numbers are mixed first, because
/// every N-th request would often be from the same lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RequestSample {
    one_in: NonZeroU64,
}

impl RequestSample {
    pub const ALL: RequestSample = RequestSample { one_in: NonZeroU64::MIN };

    pub fn one_in(number: NonZeroU64) -> RequestSample {
        RequestSample { one_in: number }
    }

    /// Returns whether the request of this number, counted from 1, is in the sample.
    #[inline]
    pub fn has(self, number: u64) -> bool {
        // Multiply-shift: a number below `one_in`.
        (u128::from(mixed(number)) * u128::from(self.one_in.get())) >> 64 == 0
    }
}

/// A text that is not a valid sample.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no sample of requests: give `all`, or `1/N` for one in N")]
pub struct ParseSampleError {
    text: String,
}

impl FromStr for RequestSample {
    type Err = ParseSampleError;

    fn from_str(text: &str) -> Result<RequestSample, ParseSampleError> {
        let one_in = match text {
            "all" => Some(NonZeroU64::MIN),
            _ => text.strip_prefix("1/").and_then(|number| number.parse().ok()),
        };
        let error = || ParseSampleError { text: text.to_owned() };
        one_in.map(RequestSample::one_in).ok_or_else(error)
    }
}

impl TryFrom<String> for RequestSample {
    type Error = ParseSampleError;

    fn try_from(text: String) -> Result<RequestSample, ParseSampleError> {
        text.parse()
    }
}

impl From<RequestSample> for String {
    fn from(sample: RequestSample) -> String {
        sample.to_string()
    }
}

impl fmt::Display for RequestSample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.one_in.get() {
            1 => f.write_str("all"),
            number => write!(f, "1/{number}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(text: &str) -> RequestSample {
        text.parse().unwrap()
    }

    #[test]
    fn samples_round_trip_as_text() {
        for text in ["all", "1/64", "1/3"] {
            assert_eq!(sample(text).to_string(), text);
        }
        assert_eq!(sample("1/1"), RequestSample::ALL);
        for text in ["", "64", "1/0", "2/3", "1/-4", "1/", "ALL", "1/1.5"] {
            let error = text.parse::<RequestSample>().unwrap_err().to_string();
            assert_eq!(
                error,
                format!("`{text}` is no sample of requests: give `all`, or `1/N` for one in N")
            );
        }
    }

    #[test]
    fn all_selects_every_request() {
        assert!((1..1000).all(|number| RequestSample::ALL.has(number)));
    }

    #[test]
    fn a_sample_has_its_share_at_any_stride() {
        let sixteenth = sample("1/16");
        for stride in [1, 16, 32, 64] {
            let chosen = (1..=16_000).filter(|n| sixteenth.has(n * stride)).count();
            // Binomial: 1000 and 31 of standard deviation.
            assert!((850..1150).contains(&chosen), "{chosen} of 16000 with stride {stride}");
        }
    }
}
