//! The terms of a priority: what it may know of a request.

use warpmem_params::{Shape, bits, choice};

choice! {
    /// A property of a request, at the moment of the choice.
    #[derive(PartialEq, Eq, Debug)]
    pub enum Term {
        /// 1 if its row is open, else 0.
        Hit = "hit",
        /// Periods since its arrival, at most 255.
        Age = "age",
        /// Number of older requests of the bank.
        Position = "position",
        /// Number of waiting requests to its row, itself included.
        RowRequests = "row_requests",
        /// Number of waiting requests of its bank.
        BankRequests = "bank_requests",
        /// Number of waiting requests of the channel.
        QueueRequests = "queue_requests",
        /// Number of waiting requests of its warp in the channel.
        WarpRequests = "warp_requests",
        /// Number of waiting requests of its SM in the channel.
        SmRequests = "sm_requests",
        /// Number of waiting requests of its load in the channel.
        LoadRequests = "load_requests",
        /// Number of requests served from the row that the bank opened last, at most 255.
        Streak = "streak",
        /// 1 if the channel's last service was of the same warp, else 0.
        SameWarp = "same_warp",
        /// 1 if the channel's last service was of the same SM, else 0.
        SameSm = "same_sm",
        /// Number of L2 requests that wait for its data as last reported, itself included, at most 255.
        Merges = "merges",
        /// 1 for a load of a page walk, else 0.
        Walk = "walk",
        /// 1 for a write, else 0.
        Write = "write",
    }
}

/// Largest value of a saturating counter, 8 bits.
pub const LARGEST_COUNT: u64 = 255;

/// Bits of such a counter.
const COUNTER_BITS: u64 = 8;

impl Term {
    /// Returns the largest value on a machine.
    pub fn largest(self, shape: &Shape) -> u64 {
        match self {
            Term::Hit | Term::SameWarp | Term::SameSm | Term::Walk | Term::Write => 1,
            Term::Age | Term::Streak | Term::Merges => LARGEST_COUNT,
            Term::Position => shape.queue.saturating_sub(1),
            Term::RowRequests
            | Term::BankRequests
            | Term::QueueRequests
            | Term::WarpRequests
            | Term::SmRequests
            | Term::LoadRequests => shape.queue,
        }
    }

    /// Returns the bits that a controller stores for the term beyond the waiting requests.
    pub fn stored(self, shape: &Shape) -> u64 {
        let warp_bits = bits(shape.sms * shape.warps);
        match self {
            // Rows are in the queue, and so is the order of the requests.
            Term::Hit | Term::Position | Term::Write => 0,
            Term::Age | Term::Merges => shape.queue * COUNTER_BITS,
            Term::Walk => shape.queue,
            Term::RowRequests | Term::LoadRequests => shape.queue * shape.queue_bits(),
            Term::BankRequests => shape.banks * shape.queue_bits(),
            Term::QueueRequests => shape.queue_bits(),
            Term::WarpRequests => shape.sms * shape.warps * shape.queue_bits(),
            Term::SmRequests => shape.sms * shape.queue_bits(),
            Term::Streak => shape.banks * COUNTER_BITS,
            Term::SameWarp => warp_bits,
            Term::SameSm => shape.sm_bits(),
        }
    }

    /// Returns the bits compared in a cycle to find the term for the whole queue.
    pub fn compared(self, shape: &Shape) -> u64 {
        match self {
            Term::SameWarp => shape.queue * bits(shape.sms * shape.warps),
            Term::SameSm => shape.queue * shape.sm_bits(),
            // The priority itself is compared; the search for row hits counts once.
            _ => 0,
        }
    }
}
