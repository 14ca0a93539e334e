//! Execution of the device's system functions.

use std::fmt::Write;

use super::memory::read_generic;
use super::words::{LaneWords, words_of, write_words};
use super::{ExecutionContext, Trap};
use crate::error::TrapKind;
use crate::global::Global;
use crate::print;
use crate::program::{CallPlan, Passed, Step};
use crate::system::SystemCall;
use crate::warp::Warp;

/// Calls a system function for each lane, one after the other.
pub(super) fn call(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    step: &Step,
    lanes: u32,
    plan: &CallPlan,
    call: SystemCall,
) -> Result<(), Trap> {
    let frame = *warp.frame();
    let arguments: Vec<LaneWords> = plan
        .arguments
        .iter()
        .zip(call.arguments())
        .map(|(&passed, &bytes)| words_of(warp, step, &frame, passed, bytes, lanes))
        .collect();
    let results: Result<LaneWords, Trap> = crate::lanes::lanes_of(lanes)
        .enumerate()
        .map(|(at, lane)| {
            let argument = |number: usize| arguments.get(number).map_or(0, |words| words[at].1);
            Ok((lane, one(warp, ctx, lane, call, argument)?))
        })
        .collect();
    let (results, bytes) = (results?, call.result());
    match plan.results.first() {
        Some(&Passed::FrameSlot(slot)) if bytes > 0 => {
            write_words(warp, &frame, slot.at_most(bytes), &results);
        }
        Some(&Passed::Value(at)) if bytes > 0 => {
            let mut values = [0; 32];
            results.iter().for_each(|&(lane, value)| values[lane] = value);
            if let Some(&dest) = step.dests.get(at) {
                warp.set_wide(dest, &values, lanes);
            }
        }
        _ => {}
    }
    Ok(())
}

/// Executes the call of a lane; returns its result.
fn one(
    warp: &Warp,
    ctx: &mut ExecutionContext<'_>,
    lane: usize,
    call: SystemCall,
    argument: impl Fn(usize) -> u64,
) -> Result<u64, Trap> {
    match call {
        SystemCall::Print => {
            let format = text(warp, ctx, lane, argument(0))?;
            let mut at = argument(1);
            let (text, count) = print::formatted(&format, |argument_type| {
                let width = argument_type.bytes();
                at = at.next_multiple_of(width);
                let value = read_generic(warp, ctx, lane, at, width)?;
                at += width;
                match argument_type {
                    print::ArgumentType::Text => {
                        Ok(print::Value::Text(self::text(warp, ctx, lane, value)?))
                    }
                    _ => Ok(print::Value::Bits(value)),
                }
            })?;
            ctx.output.push_str(&text);
            Ok(count)
        }
        SystemCall::Assert => {
            let [message, file, function] =
                [0, 1, 3].map(|number| text(warp, ctx, lane, argument(number)));
            let mut reason = String::new();
            // Writing to a string does not fail.
            let _ = write!(
                reason,
                "{}:{}: {}: assertion `{}` failed",
                file?,
                argument(2),
                function?,
                message?
            );
            Err(Trap { lane, reason, kind: TrapKind::Assertion })
        }
        SystemCall::Allocate => Ok(match &mut ctx.global {
            // The manual: null if memory does not suffice.
            Global::Memory(memory) => memory.allocate(argument(0)).unwrap_or(0),
            Global::View(..) => 0,
        }),
        SystemCall::Free => {
            let address = argument(0);
            if let Global::Memory(memory) = &mut ctx.global
                && address != 0
                && !memory.free(address)
            {
                let reason =
                    format!("free of {address:#x}, which is not the start of an allocation");
                return Err(Trap::new(lane, reason));
            }
            Ok(0)
        }
    }
}

/// Reads the text at a generic address, up to its zero byte.
fn text(
    warp: &Warp,
    ctx: &mut ExecutionContext<'_>,
    lane: usize,
    address: u64,
) -> Result<String, Trap> {
    /// Maximum length of a text, bytes.
    const MAX_LENGTH: u64 = 1 << 16;
    let mut bytes = Vec::new();
    for at in 0..MAX_LENGTH {
        match read_generic(warp, ctx, lane, address.wrapping_add(at), 1)? {
            0 => break,
            byte => bytes.push(byte as u8),
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
