//! The rows of one kernel, packed into a few bytes each.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use warpmem_trace::WARP_SIZE;

use super::{Action, Code, Row};
use crate::error::Expected;
use crate::packed::{Expander, write_addresses, write_unsigned};
use crate::reach;

/// The rows of one kernel, by CTA and warp.
#[derive(Debug)]
pub struct Rows {
    /// Compute instructions before each memory instruction, [`super::Assumptions::gap`].
    gap: u32,
    codes: Vec<Code>,
    ids: FxHashMap<Code, u64>,
    ctas: Vec<CtaRows>,
    places: FxHashMap<[u32; 3], usize>,
    bytes: u64,
}

/// One CTA; its warps by number.
#[derive(Debug)]
pub struct CtaRows {
    pub block: [u32; 3],
    pub warps: BTreeMap<u32, Vec<u8>>,
    /// Memory needed to write it, bytes.
    expanded: u64,
}

/// Maximum bytes of gathered rows, and of a CTA during its write.
pub const MAX_BYTES: u64 = if cfg!(any(test, fuzzing)) { 1 << 20 } else { 4 << 30 };
/// Maximum distinct instructions of a kernel.
const MAX_CODES: usize = if cfg!(any(test, fuzzing)) { 1 << 10 } else { 1 << 20 };

impl Rows {
    pub fn new(gap: u32) -> Rows {
        Rows {
            gap,
            codes: Vec::new(),
            ids: FxHashMap::default(),
            ctas: Vec::new(),
            places: FxHashMap::default(),
            bytes: 0,
        }
    }

    /// Adds the next instruction of its warp.
    pub fn push(&mut self, row: Row<'_>) -> Result<(), Expected> {
        let Row { cta, warp, code, mask, addresses } = row;
        debug_assert_eq!(addresses.len(), code.addresses(mask), "{code:?}");
        check_reach(&code, mask, addresses)?;
        let size = expanded_size(&code, addresses.len(), self.gap);
        let id = self.intern(code)?;
        let next = self.ctas.len();
        let place = *self.places.entry(cta).or_insert(next);
        if place == next {
            self.ctas.push(CtaRows { block: cta, warps: BTreeMap::new(), expanded: 0 });
            self.bytes += 2 * size_of::<CtaRows>() as u64;
        }
        let cta = &mut self.ctas[place];
        cta.expanded += size;
        if cta.expanded > MAX_BYTES {
            return Err("a CTA that takes at most 4 GiB in memory".into());
        }
        let steps = cta.warps.entry(warp).or_default();
        if steps.is_empty() {
            self.bytes += 2 * size_of::<(u32, Vec<u8>)>() as u64;
        }
        let start = steps.len();
        write_unsigned(steps, id);
        write_unsigned(steps, mask.into());
        write_addresses(steps, addresses);
        self.bytes += (steps.len() - start) as u64;
        Ok(())
    }

    /// Returns the memory of the rows in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn is_empty(&self) -> bool {
        self.ctas.is_empty()
    }

    /// Returns the CTAs by z, y, x, the launch order of a grid, and their codes.
    pub fn into_ctas(mut self) -> (Vec<CtaRows>, Vec<Code>) {
        self.ctas.sort_unstable_by_key(|cta| [cta.block[2], cta.block[1], cta.block[0]]);
        (self.ctas, self.codes)
    }

    fn intern(&mut self, code: Code) -> Result<u64, Expected> {
        if let Some(&id) = self.ids.get(&code) {
            return Ok(id);
        }
        if self.codes.len() == MAX_CODES {
            return Err(format!("at most {MAX_CODES} distinct instructions in a kernel").into());
        }
        let id = self.codes.len() as u64;
        self.bytes += 2 * (size_of::<Code>() + code.opcode.len()) as u64;
        self.codes.push(code.clone());
        self.ids.insert(code, id);
        Ok(id)
    }
}

/// Refuses lanes whose bytes would wrap to address 0.
fn check_reach(code: &Code, mask: u32, addresses: &[u64]) -> Result<(), Expected> {
    let Action::Memory(op) = code.action else { return Ok(()) };
    let lanes = (0..WARP_SIZE).filter(|lane| mask >> lane & 1 == 1);
    match lanes.zip(addresses).find(|&(_, &address)| !reach::fits(address, op.width)) {
        Some((lane, address)) => {
            Err(reach::expected(lane, op.width, format_args!("{address:#x}")).into())
        }
        None => Ok(()),
    }
}

/// Returns the memory needed to write an instruction of a CTA, in bytes.
fn expanded_size(code: &Code, lanes: usize, gap: u32) -> u64 {
    const RECORD: u64 = 256;
    const LANE: u64 = 16;
    const COMPUTE: u64 = 32;
    match code.action {
        Action::Compute { count, .. } => COMPUTE * u64::from(count),
        _ => RECORD + LANE * lanes as u64 + COMPUTE * u64::from(gap),
    }
}

/// Reads the instructions of a warp.
pub struct Steps<'a>(Expander<'a>);

impl<'a> Steps<'a> {
    pub fn new(bytes: &'a [u8]) -> Steps<'a> {
        Steps(Expander::new(bytes))
    }

    /// Returns the next instruction: the index of its code, its mask and the addresses of its
    /// active lanes.
    pub fn next<'b>(
        &mut self,
        codes: &[Code],
        lanes: &'b mut [u64; WARP_SIZE],
    ) -> Option<(usize, u32, &'b [u64])> {
        if self.0.is_empty() {
            return None;
        }
        let code = self.0.unsigned() as usize;
        let mask = self.0.unsigned() as u32;
        let with_addresses = if codes[code].addresses(mask) > 0 { mask } else { 0 };
        let (_, addresses) = self.0.next(with_addresses, lanes);
        Some((code, mask, addresses))
    }
}

#[cfg(test)]
mod tests {
    use warpmem_trace::OpClass;

    use super::*;

    fn compute(pc: u64, count: u32) -> Code {
        let action = Action::Compute { class: OpClass::Integer, count };
        Code { opcode: "integer".into(), pc: Some(pc), action, registers: None, l2_policy: None }
    }

    fn refusal(mut next: impl FnMut(u32) -> ([u32; 3], Code)) -> String {
        let mut rows = Rows::new(0);
        let mut push = |n| {
            let (cta, code) = next(n);
            rows.push(Row { cta, warp: 0, code, mask: 1, addresses: &[] })
        };
        (0u32..1 << 20).find_map(|n| push(n).err()).unwrap().0.into_owned()
    }

    #[test]
    fn a_cta_and_the_instructions_of_a_kernel_are_bounded() {
        let large = refusal(|_| ([0; 3], compute(0, 1000)));
        assert!(large.contains("a CTA that takes at most 4 GiB"), "{large}");
        let many = refusal(|n| ([n, 0, 0], compute(n.into(), 1)));
        assert!(many.contains("distinct instructions in a kernel"), "{many}");
    }

    #[test]
    fn row_memory_counts_all_content() {
        let mut rows = Rows::new(0);
        let mut last = 0;
        let codes = [compute(0, 1), compute(0, 1), compute(16, 1)];
        for (n, code) in codes.into_iter().enumerate() {
            rows.push(Row { cta: [n as u32 / 2, 0, 0], warp: 0, code, mask: 1, addresses: &[] })
                .unwrap();
            assert!(rows.bytes() > last);
            last = rows.bytes();
        }
    }
}
