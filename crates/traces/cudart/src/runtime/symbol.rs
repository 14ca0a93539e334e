//! Device variables, addressed through the host variables that denote them.

use crate::context::{self, Engine, Registry};
use crate::host;
use crate::runtime::Address;
use crate::runtime::copy::{Direction, Rows, copy};
use crate::status::{Outcome, Status};

/// Returns the address of bytes within a variable.
fn within(
    engine: &mut Engine,
    registry: &Registry,
    symbol: usize,
    bytes: usize,
    offset: usize,
) -> Outcome<Address> {
    let (address, size) = engine.symbol_at(symbol, registry)?;
    let end = (bytes as u64).checked_add(offset as u64);
    match end.is_some_and(|end| end <= size) {
        true => Ok(address + offset as u64),
        false => Err(Status::INVALID_VALUE.into()),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaMemcpyToSymbol(
    symbol: usize,
    from: Address,
    bytes: usize,
    offset: usize,
    direction: Direction,
) -> Status {
    context::run_and_note(|engine, registry| {
        let to = Rows::line(within(engine, registry, symbol, bytes, offset)?);
        // SAFETY: guaranteed by the caller.
        unsafe { copy(engine, to, Rows::line(from), [bytes as u64, 1, 1], direction) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaMemcpyToSymbolAsync(
    symbol: usize,
    from: Address,
    bytes: usize,
    offset: usize,
    direction: Direction,
    _stream: Address,
) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe { cudaMemcpyToSymbol(symbol, from, bytes, offset, direction) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaMemcpyFromSymbol(
    to: Address,
    symbol: usize,
    bytes: usize,
    offset: usize,
    direction: Direction,
) -> Status {
    context::run_and_note(|engine, registry| {
        let from = Rows::line(within(engine, registry, symbol, bytes, offset)?);
        // SAFETY: guaranteed by the caller.
        unsafe { copy(engine, Rows::line(to), from, [bytes as u64, 1, 1], direction) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaMemcpyFromSymbolAsync(
    to: Address,
    symbol: usize,
    bytes: usize,
    offset: usize,
    direction: Direction,
    _stream: Address,
) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe { cudaMemcpyFromSymbol(to, symbol, bytes, offset, direction) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaGetSymbolAddress(to: *mut Address, symbol: usize) -> Status {
    context::run_and_note(|engine, registry| {
        // SAFETY: guaranteed by the caller.
        unsafe { host::put(to, engine.symbol_at(symbol, registry)?.0) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cudaGetSymbolSize(to: *mut usize, symbol: usize) -> Status {
    context::run_and_note(|engine, registry| {
        // SAFETY: guaranteed by the caller.
        unsafe { host::put(to, engine.symbol_at(symbol, registry)?.1 as usize) }
    })
}
