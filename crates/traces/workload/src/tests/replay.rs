//! Replays a trace on an image of memory and compares it with device memory.
//!
//! The journal of a run contains every word that lanes read and wrote. The replay reads the trace
//! back from the file and walks it in execution order over an image of the uploaded data: a load
//! must find, at the traced addresses, the word that the lane read; a store writes the word that
//! the lane wrote; and the final image must equal device memory byte for byte.

use std::collections::BTreeMap;

use warpmem_trace::{KernelInfo, Kind, Record, Space, Trace, WARP_SIZE};

use super::registry::{Given, distinct_variants};
use crate::input::Random;
use crate::kernels::testing;
use crate::parameters::Arguments;
use crate::warp::journal::{Event, LaneAccess};
use crate::warp::lanes_of;
use crate::{Generator, find, generators};

/// Contents of each array by its first address.
pub(super) type Image = BTreeMap<u64, Vec<u8>>;

/// A run of a generator.
pub(super) struct Run {
    pub trace: Vec<TracedKernel>,
    pub infos: Vec<KernelInfo>,
    pub events: Vec<Event>,
    /// Final device memory.
    pub memory: Image,
}

/// A kernel as traced.
#[derive(Clone)]
pub(super) struct TracedKernel {
    shared_bytes: u32,
    pub ctas: Vec<Vec<Warp>>,
}

pub(super) type Warp = Vec<Traced>;

/// A memory record or a barrier.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Traced {
    pub kind: Kind,
    pub space: Space,
    pub width: usize,
    pub mask: u32,
    pub addresses: Vec<u64>,
}

/// Runs a generator with its journal enabled.
pub(super) fn run(generator: &Generator, given: &Given) -> Run {
    let arguments = Arguments::resolve(generator.name, generator.parameters, given).unwrap();
    let run = testing::run(|gpu| {
        gpu.memory().journal.start();
        (generator.run)(gpu, &arguments, &mut Random::new(1))?;
        let events = gpu.memory().journal.take();
        let memory = gpu.memory().contents();
        Ok((events, memory))
    });
    let infos = run.trace().kernels().iter().map(|kernel| kernel.info.clone()).collect();
    let trace = kernels(run.trace());
    let (events, memory) = run.result;
    Run { trace, infos, events, memory }
}

pub(super) fn kernels(trace: &Trace) -> Vec<TracedKernel> {
    (0..trace.kernels().len()).map(|kernel| traced_kernel(trace, kernel)).collect()
}

fn traced_kernel(trace: &Trace, index: usize) -> TracedKernel {
    let kernel = &trace.kernels()[index];
    let instructions = trace.instructions(index).unwrap();
    let mut ctas = Vec::new();
    for chunk in 0..kernel.chunks.len() {
        let chunk = trace.chunk(index, chunk).unwrap();
        for (cta, entry) in chunk.ctas().iter().enumerate() {
            let warp = |warp| {
                let (mut cursor, mut record) = (chunk.warp(cta, warp), Record::new());
                let mut records = Vec::new();
                while cursor.next(&mut record).unwrap() {
                    let instruction = &instructions[record.instruction.0 as usize];
                    if instruction.kind.is_memory() || instruction.kind == Kind::Barrier {
                        records.push(Traced {
                            kind: instruction.kind,
                            space: instruction.space,
                            width: instruction.width as usize,
                            mask: record.mask,
                            addresses: record.active_addresses().to_vec(),
                        });
                    }
                }
                records
            };
            ctas.push((0..entry.warps.len()).map(warp).collect());
        }
    }
    TracedKernel { shared_bytes: kernel.info.shared_bytes, ctas }
}

/// The position in trace and journal.
struct Replay<'a> {
    events: std::slice::Iter<'a, Event>,
    global: Image,
    shared: Image,
}

impl<'a> Replay<'a> {
    /// # Errors
    /// If the trace differs from the journal.
    fn check(run: &'a Run) -> Result<(), String> {
        let zeros = run.memory.iter().map(|(&base, bytes)| (base, vec![0; bytes.len()])).collect();
        let mut replay = Replay { events: run.events.iter(), global: zeros, shared: Image::new() };
        replay.uploads()?;
        for kernel in &run.trace {
            replay.shared = Image::from([(0, vec![0; kernel.shared_bytes as usize])]);
            for cta in &kernel.ctas {
                replay.cta(cta)?;
            }
            replay.uploads()?;
        }
        match replay.events.next() {
            Some(event) => Err(format!("{event:?} is not in the trace")),
            None if replay.global != run.memory => Err("memory differs at the end".to_owned()),
            None => Ok(()),
        }
    }

    /// Applies the uploads between two kernels.
    fn uploads(&mut self) -> Result<(), String> {
        while let [Event::Upload(address, bytes), ..] = self.events.as_slice() {
            word(&mut self.global, *address, bytes.len())?.copy_from_slice(bytes);
            self.events.next();
        }
        Ok(())
    }

    /// Replays a CTA: the warps run one after the other up to each barrier.
    fn cta(&mut self, warps: &[Warp]) -> Result<(), String> {
        let mut rest: Vec<&[Traced]> = warps.iter().map(Vec::as_slice).collect();
        while rest.iter().any(|records| !records.is_empty()) {
            for records in &mut rest {
                let barrier = records.iter().position(|record| record.kind == Kind::Barrier);
                let (turn, after) = records.split_at(barrier.map_or(records.len(), |at| at + 1));
                *records = after;
                for record in turn.iter().filter(|record| record.kind != Kind::Barrier) {
                    self.record(record)?;
                }
            }
        }
        Ok(())
    }

    fn record(&mut self, record: &Traced) -> Result<(), String> {
        for (lane, &address) in lanes_of(record.mask).zip(&record.addresses) {
            let Some(Event::Access(access)) = self.events.next() else {
                return Err(format!("{record:?} has no access in the journal"));
            };
            self.lane(record, lane, address, access)
                .map_err(|error| format!("{record:?}, {access:?}: {error}"))?;
        }
        match record.kind {
            Kind::AsyncCopy => self.copied(record),
            _ => Ok(()),
        }
    }

    /// Applies a copy's writes to shared memory, whose addresses are not in the trace.
    fn copied(&mut self, record: &Traced) -> Result<(), String> {
        for lane in lanes_of(record.mask) {
            let Some(Event::Access(access)) = self.events.next() else {
                return Err(format!("{record:?} has no write in the journal"));
            };
            let (Space::Shared, Some(written)) = (access.space, access.written) else {
                return Err(format!("{record:?} {lane}: {access:?} is not a shared write"));
            };
            let bytes = word(&mut self.shared, access.address, record.width)?;
            bytes.copy_from_slice(&written.to_le_bytes()[..record.width]);
        }
        Ok(())
    }

    fn lane(
        &mut self,
        record: &Traced,
        lane: usize,
        address: u64,
        access: &LaneAccess,
    ) -> Result<(), String> {
        if (record.space, lane, address, record.width)
            != (access.space, access.lane, access.address, access.width)
        {
            return Err("lane, address or width differs".to_owned());
        }
        let (reads, writes) = match record.kind {
            Kind::Load | Kind::AsyncCopy => (true, false),
            Kind::Store => (false, true),
            Kind::Atomic | Kind::Reduction => (true, true),
            _ => return Err("unexpected kind".to_owned()),
        };
        if (reads, writes) != (access.read.is_some(), access.written.is_some()) {
            return Err("kind of access differs".to_owned());
        }
        let image = match record.space {
            Space::Shared => &mut self.shared,
            _ => &mut self.global,
        };
        let bytes = word(image, address, record.width)?;
        let mut found = [0; 16];
        found[..bytes.len()].copy_from_slice(bytes);
        if access.read.is_some_and(|read| read != u128::from_le_bytes(found)) {
            return Err(format!("memory holds {bytes:?}"));
        }
        if let Some(written) = access.written {
            bytes.copy_from_slice(&written.to_le_bytes()[..record.width]);
        }
        Ok(())
    }
}

fn word(image: &mut Image, address: u64, width: usize) -> Result<&mut [u8], String> {
    let array = image.range_mut(..=address).next_back();
    let word = array.and_then(|(base, bytes)| {
        let at = usize::try_from(address - base).ok()?;
        bytes.get_mut(at..at.checked_add(width)?)
    });
    word.ok_or_else(|| format!("{width} bytes at {address:#x} are in no array"))
}

#[test]
fn every_trace_replays_to_the_final_memory() {
    for generator in generators() {
        for given in distinct_variants(generator) {
            let run = run(generator, &given);
            assert!(run.events.iter().any(|event| matches!(event, Event::Access(_))));
            if let Err(error) = Replay::check(&run) {
                panic!("{} {given:?}: {error}", generator.name);
            }
        }
    }
}

/// Changes one record of a trace; returns whether it could.
pub(super) type Tamper = fn(&mut Warp, usize) -> bool;

pub(super) const TAMPERS: [(&str, Tamper); 7] = [
    ("another address", |warp, at| match warp[at].addresses.last_mut() {
        Some(address) => {
            *address += 4;
            true
        }
        None => false,
    }),
    ("another lane", |warp, at| {
        let Traced { mask, kind, .. } = &mut warp[at];
        let free = (0..WARP_SIZE).find(|lane| *mask >> lane & 1 == 0);
        match free {
            Some(free) if *kind != Kind::Barrier => {
                *mask = *mask & (*mask - 1) | 1 << free;
                true
            }
            _ => false,
        }
    }),
    ("a lane less", |warp, at| {
        let Traced { mask, addresses, .. } = &mut warp[at];
        *mask &= *mask - 1;
        !addresses.is_empty() && addresses.remove(0) > 0
    }),
    ("none", |warp, at| warp.remove(at).kind != Kind::Barrier),
    ("twice", |warp, at| {
        warp.insert(at, warp[at].clone());
        warp[at].kind != Kind::Barrier
    }),
    ("later", |warp, at| {
        let is_memory = |record: &Traced| record.kind != Kind::Barrier;
        let is_moved = at + 1 < warp.len()
            && warp[at..at + 2].iter().all(is_memory)
            && warp[at].addresses != warp[at + 1].addresses;
        if is_moved {
            warp.swap(at, at + 1);
        }
        is_moved
    }),
    ("another kind", |warp, at| {
        warp[at].kind = match warp[at].kind {
            Kind::Load => Kind::Store,
            Kind::Barrier => return false,
            _ => Kind::Load,
        };
        true
    }),
];

/// Applies every change to every record of two short runs.
#[test]
fn a_tampered_trace_does_not_replay() {
    let runs = [
        ("reduction", [("n", "128"), ("block", "64")]),
        ("bfs", [("nodes", "32"), ("degree", "2")]),
    ];
    for (name, given) in runs {
        let given = given.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
        let mut run = run(find(name).unwrap(), &given);
        let original = run.trace.clone();
        Replay::check(&run).unwrap();
        let mut changes = 0;
        for (place, at) in places(&original) {
            for (what, tamper) in TAMPERS {
                run.trace.clone_from(&original);
                let [kernel, cta, warp] = place;
                if tamper(&mut run.trace[kernel].ctas[cta][warp], at) {
                    assert!(Replay::check(&run).is_err(), "{name} {place:?} {at}: {what}");
                    changes += 1;
                }
            }
        }
        assert!(changes > 100, "{name}: {changes}");
    }
}

/// Returns kernel, CTA and warp of every record, and its index in the warp.
fn places(trace: &[TracedKernel]) -> Vec<([usize; 3], usize)> {
    let mut places = Vec::new();
    for (kernel, TracedKernel { ctas, .. }) in trace.iter().enumerate() {
        for (cta, warps) in ctas.iter().enumerate() {
            for (warp, records) in warps.iter().enumerate() {
                places.extend((0..records.len()).map(|at| ([kernel, cta, warp], at)));
            }
        }
    }
    places
}

/// Without its first barrier a warp runs ahead of the others.
#[test]
fn a_missing_barrier_is_detected() {
    let given = [("n", "128"), ("block", "64")];
    let given = given.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
    let mut run = run(find("reduction").unwrap(), &given);
    let warp = &mut run.trace[0].ctas[0][0];
    let barrier = warp.iter().position(|record| record.kind == Kind::Barrier);
    warp.remove(barrier.unwrap());
    assert!(Replay::check(&run).is_err());
}

/// Values read are compared with the image, not only their addresses.
#[test]
fn a_wrong_input_word_is_detected() {
    let given = Given::from([("n".to_owned(), "64".to_owned())]);
    let mut run = run(find("vecadd").unwrap(), &given);
    Replay::check(&run).unwrap();
    let upload = run.events.iter_mut().find_map(|event| match event {
        Event::Upload(_, bytes) => Some(bytes),
        Event::Access(_) => None,
    });
    upload.unwrap()[5] ^= 1;
    let error = Replay::check(&run).unwrap_err();
    assert!(error.contains("memory holds"), "{error}");
}
