//! Pages that missed in the second-level TLB, and the requests that wait for them.

use warpmem_sim::RequestId;

/// Pages in flight, in no particular order.
pub(crate) struct Misses {
    most: usize,
    pages: Vec<u64>,
    /// By position in `pages`.
    requests: Vec<Vec<RequestId>>,
    /// Empty lists, for new pages.
    spare: Vec<Vec<RequestId>>,
}

impl Misses {
    /// `most`: pages that may be in flight.
    pub fn new(most: u32) -> Misses {
        let most = most as usize;
        Misses { most, pages: Vec::new(), requests: Vec::new(), spare: Vec::new() }
    }

    pub fn len(&self) -> usize {
        self.pages.len()
    }

    /// Adds a request to its page. Returns whether the page is in flight.
    pub fn join(&mut self, page: u64, request: RequestId) -> bool {
        let Some(at) = self.pages.iter().position(|&other| other == page) else { return false };
        self.requests[at].push(request);
        true
    }

    /// Adds a page with its first request. Returns whether there was room.
    pub fn open(&mut self, page: u64, request: RequestId) -> bool {
        if self.pages.len() == self.most {
            return false;
        }
        let mut requests = self.spare.pop().unwrap_or_default();
        requests.push(request);
        self.pages.push(page);
        self.requests.push(requests);
        true
    }

    /// Removes a page, and returns its requests in the order of their arrival.
    pub fn take(&mut self, page: u64) -> Vec<RequestId> {
        let at = self.pages.iter().position(|&other| other == page).expect("the page is in flight");
        self.pages.swap_remove(at);
        self.requests.swap_remove(at)
    }

    /// Takes an empty list back.
    pub fn give_back(&mut self, requests: Vec<RequestId>) {
        self.spare.push(requests);
    }
}
