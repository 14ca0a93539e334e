//! Constant memory: `__constant__` arrays, read through their own cache.

use warpmem_trace::{OpClass, WARP_SIZE};

use super::warp::lanes::{Lanes, Operand};
use super::warp::lanes_of;
use super::warp::word::Word;

/// A `__constant__` array. A load (`LDC`) almost always hits the constant cache, so it counts as an
/// integer instruction without an address, as in imported traces.
#[derive(Clone, Debug)]
pub struct Constants<T>(Vec<T>);

impl<T: Word> Constants<T> {
    pub fn new(words: &[T]) -> Constants<T> {
        Constants(words.to_vec())
    }

    /// `array[index]`
    ///
    /// # Panics
    /// If the index of an active lane is out of bounds, a bug of the kernel.
    pub fn load<'w>(&self, index: Lanes<'w, u32>) -> Lanes<'w, T> {
        let warp = index.warp();
        let register = warp.compute(OpClass::Integer, &[index.register()]);
        let mut values = [T::ZERO; WARP_SIZE];
        for lane in lanes_of(warp.active()) {
            values[lane] = self.0[index.lane(lane) as usize];
        }
        Lanes::new(warp, values, Some(register))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::prelude::grid_of;
    use crate::kernels::testing::{Kind, run};
    use crate::warp::memory::Array;

    #[test]
    fn a_constant_load_is_one_instruction_without_a_record() {
        let run = run(|gpu| {
            let constants = Constants::new(&[3u32, 1, 4, 1]);
            let out: Array<u32> = gpu.zeros(4);
            gpu.launch(&grid_of("test", 1, 32, 8), async |w| {
                let x = w.thread_x();
                w.exit_unless(x.lt(4));
                out.store(x, constants.load(x));
            })?;
            Ok(gpu.download(out))
        });
        assert_eq!(run.result, [3, 1, 4, 1]);
        let executed = run.warp(0);
        let store = &executed[1].0;
        assert_eq!(store.kind, Kind::Store);
        assert_eq!(store.compute.len(), 2, "the load, and the address of the store");
        assert_eq!(store.compute[0].class, OpClass::Integer);
    }
}
