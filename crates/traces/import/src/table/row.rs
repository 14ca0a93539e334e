//! Interprets the cells of a row as a warp instruction.

use warpmem_trace::{
    Barrier, CacheOp, Eviction, Kind, L2Policy, MemoryOp, OpClass, Reg, Space, WARP_SIZE,
};

use super::column::{Cell, Cells, Column, Wrong};
use crate::gather::{Action, Code, CodeRegisters, Launch};
use crate::reach;
use crate::sass::opcode;

/// A warp instruction.
#[derive(Debug)]
pub struct Instruction {
    pub cta: [u32; 3],
    pub warp: u32,
    pub code: Code,
    pub mask: u32,
    /// Addresses of the active lanes, lowest lane first.
    pub addresses: Vec<u64>,
    /// Whether the row is a single lane's, and rows of further lanes may follow.
    pub is_lane: bool,
}

impl Instruction {
    /// Returns whether it is a memory instruction without a SASS opcode.
    pub fn is_plain_access(&self) -> bool {
        matches!(self.code.action, Action::Memory(_)) && !is_sass(&self.code.opcode)
    }

    /// Returns whether the next row is a higher lane of the same execution.
    pub fn is_continued_by(&self, next: &Instruction) -> bool {
        self.is_lane
            && next.is_lane
            && next.mask > self.mask
            && (next.cta, next.warp) == (self.cta, self.warp)
            && next.code == self.code
    }
}

/// Returns the parameters of the launch, as given by its first row.
pub fn launch(label: &str, cells: &Cells<'_>) -> Result<Launch, Wrong> {
    let cell = |column: Column| &cells[column as usize];
    let name = cell(Column::Name).label(Column::Name)?;
    let unnamed = || match label.parse::<u64>() {
        Ok(_) => format!("kernel {label}"),
        Err(_) => label.to_owned(),
    };
    let block = triple(cells, Column::Block, 1)?;
    if let Some(block) = block
        && !(1..=MOST_THREADS).contains(&block.iter().map(|&n| u64::from(n)).product())
    {
        let expected = "the threads of a block by x, y, z, 1 to 1024 in all";
        return Err(cell(Column::Block).wrong(Column::Block, expected));
    }
    Ok(Launch {
        name: name.map_or_else(unnamed, |name| name.into_owned()),
        stream: 0,
        grid: triple(cells, Column::Grid, 1)?,
        block,
        registers: narrow(cells, Column::Registers)?.unwrap_or(0),
        shared_bytes: narrow(cells, Column::SharedBytes)?.unwrap_or(0),
    })
}

const MOST_THREADS: u64 = 1024;

pub fn instruction(cells: &Cells<'_>) -> Result<Instruction, Wrong> {
    let (opcode, action) = action(cells)?;
    let (mask, addresses) = match action {
        Action::Memory(op) => lanes(cells, op)?,
        _ => (without_addresses(cells)?, Vec::new()),
    };
    let code = Code {
        opcode: opcode.into(),
        pc: cells[Column::Pc as usize].number(Column::Pc, u64::MAX, NUMBER)?,
        action,
        registers: registers(cells)?,
        l2_policy: l2_policy(cells, action)?,
    };
    Ok(Instruction {
        cta: triple(cells, Column::Cta, 0)?.unwrap_or_default(),
        warp: narrow(cells, Column::Warp)?.unwrap_or(0),
        code,
        mask,
        addresses,
        is_lane: !cells[Column::Lane as usize].is_empty(),
    })
}

const NUMBER: &str = "a number, decimal or hexadecimal with 0x";

fn narrow(cells: &Cells<'_>, column: Column) -> Result<Option<u32>, Wrong> {
    const EXPECTED: &str = "a number of at most 32 bits";
    let number = cells[column as usize].number(column, u32::MAX.into(), EXPECTED)?;
    Ok(number.map(|number| number as u32))
}

/// Parses up to three numbers, x first; missing ones are `rest`.
fn triple(cells: &Cells<'_>, column: Column, rest: u32) -> Result<Option<[u32; 3]>, Wrong> {
    const EXPECTED: &str = "one to three numbers, as in 7 or `7 0 0`";
    let cell = &cells[column as usize];
    let Some(numbers) = cell.numbers(column, u32::MAX.into(), EXPECTED)? else { return Ok(None) };
    if !(1..=3).contains(&numbers.len()) {
        return Err(cell.wrong(column, EXPECTED));
    }
    let mut triple = [rest; 3];
    triple.iter_mut().zip(numbers).for_each(|(place, number)| *place = number as u32);
    Ok(Some(triple))
}

/// Returns the operation's name and action.
fn action(cells: &Cells<'_>) -> Result<(String, Action), Wrong> {
    let cell = &cells[Column::Op as usize];
    let name = cell.label(Column::Op)?.unwrap_or("load".into()).into_owned();
    let action = if is_sass(&name) { of_sass(&name) } else { of_name(&name) };
    let action = action.ok_or_else(|| unknown(cell, &name))?;
    let count = narrow(cells, Column::Count)?;
    let action = match action {
        Action::Memory(op) => Action::Memory(memory(cells, op)?),
        Action::Compute { class, .. } => Action::Compute { class, count: repeats(cells, count)? },
        Action::Barrier(_) => Action::Barrier(barrier(cells)?),
        Action::BarrierArrive(_) => Action::BarrierArrive(arrival(cells)?),
        other => other,
    };
    if count.is_some_and(|count| count != 1) && !matches!(action, Action::Compute { .. }) {
        let expected = format!("1 or nothing for {name}, which is not a compute instruction");
        return Err(cells[Column::Count as usize].wrong(Column::Count, expected));
    }
    Ok((name, action))
}

fn is_sass(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_uppercase())
}

fn of_sass(name: &str) -> Option<Action> {
    const UNKNOWN_SM: u32 = 0;
    let decoded = opcode::decode(name.as_bytes(), UNKNOWN_SM);
    decoded.known.then(|| Action::of(&decoded))
}

fn of_name(name: &str) -> Option<Action> {
    if let Some((_, kind)) = Kind::MEMORY.into_iter().find(|(known, _)| *known == name) {
        let (space, cache_op) = (Space::Global, CacheOp::Default);
        return Some(Action::Memory(MemoryOp { kind, space, width: 4, cache_op }));
    }
    let class = OpClass::ALL.into_iter().find(|class| class.name() == name);
    match name {
        "barrier" => Some(Action::Barrier(Barrier::of_cta(0))),
        "barrier-arrive" => Some(Action::BarrierArrive(Barrier::of_cta(0))),
        "fence" => Some(Action::Fence),
        "exit" => Some(Action::Exit),
        _ => class.map(|class| Action::Compute { class, count: 1 }),
    }
}

fn unknown(cell: &Cell<'_>, name: &str) -> Wrong {
    let classes = OpClass::ALL.map(OpClass::name);
    let kinds = Kind::MEMORY.map(|(name, _)| name);
    let all =
        kinds.into_iter().chain(["barrier", "barrier-arrive", "fence", "exit"]).chain(classes);
    let all: Vec<&str> = all.collect();
    let nearest = warpmem_params::nearest(name, all.iter().copied());
    let meant = warpmem_params::did_you_mean(nearest);
    cell.wrong(Column::Op, format!("one of {}, or a SASS opcode{meant}", all.join(", ")))
}

/// Applies the row's columns to the operation.
fn memory(cells: &Cells<'_>, op: MemoryOp) -> Result<MemoryOp, Wrong> {
    const WIDTHS: &str = "1, 2, 4, 8, 16 or 32 bytes for each lane";
    let cell = &cells[Column::Bytes as usize];
    let width = cell.number(Column::Bytes, 32, WIDTHS)?;
    if width.is_some_and(|width| !width.is_power_of_two()) {
        return Err(cell.wrong(Column::Bytes, WIDTHS));
    }
    Ok(MemoryOp {
        space: choice(cells, Column::Space, &Space::MEMORY)?.unwrap_or(op.space),
        width: width.map_or(op.width, |width| width as u32),
        cache_op: choice(cells, Column::Cache, &CACHE_OPS)?.unwrap_or(op.cache_op),
        ..op
    })
}

fn l2_policy(cells: &Cells<'_>, action: Action) -> Result<Option<L2Policy>, Wrong> {
    let is_global = matches!(action, Action::Memory(MemoryOp { space: Space::Global, .. }));
    match choice(cells, Column::L2, &Eviction::ALL)? {
        Some(_) if !is_global => {
            let expected = "nothing except for accesses to global memory";
            Err(cells[Column::L2 as usize].wrong(Column::L2, expected))
        }
        eviction => Ok(eviction.map(L2Policy::of_all)),
    }
}

const CACHE_OPS: [(&str, CacheOp); 8] = [
    ("default", CacheOp::Default),
    ("all", CacheOp::All),
    ("global", CacheOp::Global),
    ("streaming", CacheOp::Streaming),
    ("last-use", CacheOp::LastUse),
    ("volatile", CacheOp::Volatile),
    ("read-only", CacheOp::ReadOnly),
    ("strong-gpu", CacheOp::StrongGpu),
];

fn choice<T: Copy>(
    cells: &Cells<'_>,
    column: Column,
    choices: &[(&str, T)],
) -> Result<Option<T>, Wrong> {
    let cell = &cells[column as usize];
    let Some(name) = cell.label(column)? else { return Ok(None) };
    match choices.iter().find(|(known, _)| *known == name) {
        Some(&(_, choice)) => Ok(Some(choice)),
        None => {
            let names: Vec<&str> = choices.iter().map(|&(name, _)| name).collect();
            Err(cell.wrong(column, format!("one of {}", names.join(", "))))
        }
    }
}

fn repeats(cells: &Cells<'_>, count: Option<u32>) -> Result<u32, Wrong> {
    const MOST: u32 = 1 << 16;
    match count {
        Some(count) if !(1..=MOST).contains(&count) => {
            let cell = &cells[Column::Count as usize];
            Err(cell.wrong(Column::Count, "1 to 65536 instructions"))
        }
        count => Ok(count.unwrap_or(1)),
    }
}

const BARRIER_WARPS: &str = "a number of warps from 1 to 255";

fn barrier(cells: &Cells<'_>) -> Result<Barrier, Wrong> {
    let cell = &cells[Column::Barrier as usize];
    let id = cell.number(Column::Barrier, 15, "a barrier from 0 to 15")?;
    let cell = &cells[Column::BarrierWarps as usize];
    let warps = cell.number(Column::BarrierWarps, u8::MAX.into(), BARRIER_WARPS)?;
    if warps == Some(0) {
        return Err(cell.wrong(Column::BarrierWarps, BARRIER_WARPS));
    }
    Ok(Barrier { id: id.unwrap_or(0) as u8, warps: warps.map(|warps| warps as u8) })
}

/// Parses an arrival. Since the arriving warp does not wait, the expected number of warps must be
/// given.
fn arrival(cells: &Cells<'_>) -> Result<Barrier, Wrong> {
    let barrier = barrier(cells)?;
    let missing =
        || cells[Column::BarrierWarps as usize].wrong(Column::BarrierWarps, BARRIER_WARPS);
    barrier.warps.map(|_| barrier).ok_or_else(missing)
}

/// Returns the registers written and read, if the row has any.
fn registers(cells: &Cells<'_>) -> Result<Option<CodeRegisters>, Wrong> {
    let of = |column: Column| -> Result<Option<Box<[Reg]>>, Wrong> {
        const EXPECTED: &str = "numbers of registers, 0 to 65535";
        let numbers = cells[column as usize].numbers(column, u16::MAX.into(), EXPECTED)?;
        Ok(numbers.map(|numbers| numbers.into_iter().map(|number| Reg(number as u16)).collect()))
    };
    Ok(match (of(Column::Dst)?, of(Column::Src)?) {
        (None, None) => None,
        (dests, srcs) => {
            Some(CodeRegisters { dests: dests.unwrap_or_default(), srcs: srcs.unwrap_or_default() })
        }
    })
}

fn mask(cells: &Cells<'_>) -> Result<Option<u32>, Wrong> {
    const EXPECTED: &str = "a mask of 32 lanes, as in 0xffffffff";
    let (cell, lane) = (&cells[Column::Mask as usize], &cells[Column::Lane as usize]);
    let mask = cell.number(Column::Mask, u32::MAX.into(), EXPECTED)?;
    let lane = lane.number(Column::Lane, 31, "a lane from 0 to 31")?;
    match (mask, lane) {
        (Some(_), Some(_)) => Err(cell.wrong(Column::Mask, "nothing, as the lane is given")),
        (None, Some(lane)) => Ok(Some(1 << lane)),
        (mask, None) => Ok(mask.map(|mask| mask as u32)),
    }
}

/// Returns the mask of instructions without addresses.
fn without_addresses(cells: &Cells<'_>) -> Result<u32, Wrong> {
    for column in [Column::Addresses, Column::Base] {
        let cell = &cells[column as usize];
        if !cell.is_empty() && *cell != Cell::List(Vec::new()) {
            return Err(cell.wrong(column, "nothing, as it is not a memory instruction"));
        }
    }
    Ok(mask(cells)?.unwrap_or(u32::MAX))
}

/// Returns the mask and the active lanes' addresses of a memory instruction.
fn lanes(cells: &Cells<'_>, op: MemoryOp) -> Result<(u32, Vec<u64>), Wrong> {
    let mask = mask(cells)?;
    let list = cells[Column::Addresses as usize].numbers(Column::Addresses, u64::MAX, LIST)?;
    let base = cells[Column::Base as usize].number(Column::Base, u64::MAX, NUMBER)?;
    match (list, base) {
        (Some(list), None) => of_list(cells, mask, list),
        (None, Some(base)) => {
            let stride = cells[Column::Stride as usize].signed(Column::Stride)?;
            let stride = stride.unwrap_or(op.width.into());
            let mask = mask.unwrap_or(u32::MAX);
            let address = |lane| {
                let address = reach::strided(base, stride, lane as u32);
                address.ok_or_else(|| beyond(cells, base, stride, (lane, op.width)))
            };
            Ok((mask, active_lanes(mask).map(address).collect::<Result<_, _>>()?))
        }
        (None, None) if mask == Some(0) => Ok((0, Vec::new())),
        (None, None) => {
            let expected = format!("{LIST}, or a base");
            Err(cells[Column::Addresses as usize].wrong(Column::Addresses, expected))
        }
        (Some(_), Some(_)) => {
            let expected = "nothing, as the addresses are given";
            Err(cells[Column::Base as usize].wrong(Column::Base, expected))
        }
    }
}

/// Returns the error for a base and stride that leave 64 bits at a lane, given with its bytes.
fn beyond(cells: &Cells<'_>, base: u64, stride: i64, (lane, width): (usize, u32)) -> Wrong {
    let begins = i128::from(base) + i128::from(stride) * lane as i128;
    let expected = reach::expected(lane, width, format_args!("{begins}"));
    cells[Column::Base as usize].wrong(Column::Base, expected)
}

const LIST: &str = "1 to 32 addresses, decimal or hexadecimal with 0x";

/// Takes one address for each active lane, or one for each of 32 lanes.
fn of_list(cells: &Cells<'_>, mask: Option<u32>, list: Vec<u64>) -> Result<(u32, Vec<u64>), Wrong> {
    let given = list.len();
    let cell = &cells[Column::Addresses as usize];
    if given > WARP_SIZE || given == 0 && mask.unwrap_or(1) != 0 {
        return Err(cell.wrong(Column::Addresses, LIST));
    }
    let mask = mask.unwrap_or_else(|| (u64::MAX >> (64 - given)) as u32);
    let active = mask.count_ones() as usize;
    if given == active {
        return Ok((mask, list));
    }
    if given == WARP_SIZE {
        return Ok((mask, active_lanes(mask).map(|lane| list[lane]).collect()));
    }
    let expected = format!("{active} addresses, for the lanes of mask {mask:#x}, or 32");
    Err(cell.wrong(Column::Addresses, expected))
}

fn active_lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..WARP_SIZE).filter(move |lane| mask >> lane & 1 == 1)
}
