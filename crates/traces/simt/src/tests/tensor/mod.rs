//! Tensor maps, and copies through them.

pub(super) mod clusters;
pub(super) mod copies;
mod faults;
pub(super) mod made;
mod maps;
mod random;
mod records;
pub(super) mod reductions;
mod swizzles;

use super::{Machine, kernel_with};
use crate::{Fill, Swizzle, TensorAxis, TensorElement, TensorMap};

/// Words of the arrays: the first holds the tensor, the second its map.
const WORDS: usize = 4096;
/// Contents of shared memory before a load.
const BEFORE: u8 = 0xee;

/// A tensor at the start of an array, and its box.
#[derive(Clone, Debug)]
struct Tensor {
    element: TensorElement,
    axes: Vec<TensorAxis>,
    swizzle: Swizzle,
    fill: Fill,
}

impl Tensor {
    /// Creates a tensor without padding and its box, by dimension.
    fn new<const N: usize>(
        element: impl Into<TensorElement>,
        sizes: [u64; N],
        extents: [u32; N],
    ) -> Tensor {
        let element = element.into();
        let mut stride = u64::from(element.ty().bytes());
        let mut axes = Vec::new();
        for (size, extent) in sizes.into_iter().zip(extents) {
            axes.push(TensorAxis { size, stride, extent, step: 1 });
            stride *= size;
        }
        Tensor { element, axes, swizzle: Swizzle::None, fill: Fill::Zero }
    }

    fn with_steps(mut self, steps: &[u32]) -> Tensor {
        for (axis, &step) in self.axes.iter_mut().zip(steps) {
            axis.step = step;
        }
        self
    }

    fn map_at(&self, address: u64) -> TensorMap {
        TensorMap::new(self.element, address, &self.axes, self.swizzle, self.fill).unwrap()
    }

    /// Returns the bytes of the box: every step-th element of its extents.
    fn box_bytes(&self) -> u64 {
        let counts = self.axes[1..].iter().map(|axis| u64::from(axis.extent.div_ceil(axis.step)));
        let row = u64::from(self.axes[0].extent) * u64::from(self.element.ty().bytes());
        row * counts.product::<u64>()
    }
}

/// Returns the bytes of some values.
fn bytes_of<const N: usize>(values: impl IntoIterator<Item = [u8; N]>) -> Vec<u8> {
    values.into_iter().flatten().collect()
}

fn words_of(bytes: &[u8]) -> Vec<u64> {
    let mut bytes = bytes.to_vec();
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word)).collect()
}

/// Creates a machine with a tensor in the first array and its map in the second.
fn machine(tensor: &Tensor, values: &[u8]) -> Machine {
    let mut machine = Machine::new(WORDS);
    machine.set(0, &words_of(values));
    put_map(&mut machine, 0, tensor, 0);
    machine
}

/// Writes a map of a tensor in an array into the second array, which holds several maps.
fn put_map(machine: &mut Machine, number: usize, tensor: &Tensor, array: usize) {
    let map = tensor.map_at(machine.arrays[array]);
    let address = machine.arrays[1] + 128 * number as u64;
    machine.memory.bytes_mut(address, 128).unwrap().copy_from_slice(&map.to_bytes());
}

fn bytes(machine: &Machine, array: usize) -> Vec<u8> {
    machine.get(array).iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Formats `{1, 2}`.
fn vector(coordinates: &[i32]) -> String {
    let texts: Vec<String> = coordinates.iter().map(ToString::to_string).collect();
    format!("{{{}}}", texts.join(", "))
}

/// Runs code for each word of the box, with its address in `%r4` and its position in the third array in
/// `%rd4`.
fn each_word(label: &str, words: u64, code: &str) -> String {
    format!(
        "mov.u32 %r1, %r0;\nmov.u64 %rd4, %rd3;\n\
         {label}: setp.ge.u32 %p2, %r1, {words};\n@%p2 bra {label}_END;\n\
         shl.b32 %r2, %r1, 3;\nmov.u32 %r3, boxed;\nadd.u32 %r4, %r2, %r3;\n{code}\n\
         add.u32 %r1, %r1, 32;\nadd.u64 %rd4, %rd4, 256;\nbra {label};\n{label}_END: bar.sync 0;\n"
    )
}

/// Loads the box by one lane, and makes all lanes wait.
fn load(tensor: &Tensor, coordinates: &[i32], at: u64) -> String {
    let (rank, bytes) = (coordinates.len(), tensor.box_bytes());
    format!(
        "setp.eq.u32 %p1, %r0, 0;\n@!%p1 bra LOADED;\nmbarrier.init.shared.b64 [bar], 1;\n\
         mbarrier.arrive.expect_tx.shared.b64 %rd9, [bar], {bytes};\n\
         cp.async.bulk.tensor.{rank}d.shared::cluster.global.mbarrier::complete_tx::bytes \
         [boxed+{at}], [%rd2, {}], [bar];\nLOADED: bar.sync 0;\n\
         WAIT: mbarrier.try_wait.parity.shared.b64 %p3, [bar], 0;\n@!%p3 bra WAIT;\n",
        vector(coordinates)
    )
}

/// Wraps code into a kernel with space for a box in shared memory.
fn boxed_kernel(code: &str) -> String {
    let declarations =
        ".shared .align 1024 .b8 boxed[24576];\n.shared .align 8 .b64 bar;".to_owned();
    kernel_with(&declarations, code)
}

/// Loads the box `at` bytes past an aligned address in shared memory; returns its bytes.
fn loaded_at(tensor: &Tensor, values: &[u8], coordinates: &[i32], at: u64) -> Vec<u8> {
    let words = (tensor.box_bytes() + at) / 8;
    let before = u64::from_le_bytes([BEFORE; 8]);
    let code = [
        each_word("FILL", words, &format!("st.shared.u64 [%r4], {before};")),
        load(tensor, coordinates, at),
        each_word("DUMP", words, "ld.shared.u64 %rd5, [%r4];\nst.global.u64 [%rd4], %rd5;"),
    ];
    let mut machine = machine(tensor, values);
    machine.run(&boxed_kernel(&code.concat()), 1, 32).unwrap_or_else(|error| panic!("{error}"));
    bytes(&machine, 2)[at as usize..8 * words as usize].to_vec()
}

fn loaded(tensor: &Tensor, values: &[u8], coordinates: &[i32]) -> Vec<u8> {
    loaded_at(tensor, values, coordinates, 0)
}
