//! Decodes loads, stores, atomics and cache hints.

use super::{Decoder, Result};
use crate::cache_policy::{CachePolicy, EvictionPriority};
use crate::instruction::Value;
use crate::op::{Access, Atomic, AtomicOp, Cache, Op};
use crate::types::Space;
use crate::types::Type::{self, *};

/// Types that an access may have.
const ACCESSIBLE: [Type; 16] =
    [B8, B16, B32, B64, U8, U16, U32, U64, S8, S16, S32, S64, F32, F64, F16, B128];

impl Decoder<'_> {
    pub(super) fn memory(&mut self) -> Result<Op> {
        match self.opcode {
            "ld" | "ldu" => self.load(),
            "st" if self.modifiers.accept("async") => self.store_async(),
            "red" if self.modifiers.accept("async") => self.reduction_async(),
            "st" => self.store(),
            "atom" => self.atomic(),
            "red" => self.reduction(),
            "prefetch" | "prefetchu" => self.prefetch(),
            "createpolicy" => self.create_policy(),
            "tensormap" => self.tensor_map(),
            _ => self.hint(),
        }
    }

    /// Decodes the modifiers between the opcode and the vector or type, in any order.
    fn access(&mut self) -> Result<(Access, bool)> {
        let cache = if self.opcode == "ldu" { Cache::ReadOnly } else { Cache::Default };
        let (space, ty) = (Space::Generic, B32);
        let mut access = Access { space, ty, elements: 1, cache, offset: 0 };
        let mut has_policy = false;
        while let Some(name) = self.modifiers.peek() {
            if let Some(space) = Space::named(name) {
                access.space = space;
            } else if let Some(cache) = cache_operator(name) {
                access.cache = cache;
            } else if self.notes_priority(name) || is_hint(name) {
                has_policy |= name == "L2::cache_hint";
            } else {
                break;
            }
            self.modifiers.next();
        }
        let vector = self.vector();
        let (ty, parts) = self.modifiers.one_of(&ACCESSIBLE)?.parts();
        if vector.is_some() && parts > 1 {
            return Err("there are no vectors of `.b128`".into());
        }
        (access.ty, access.elements) = (ty, vector.unwrap_or(parts));
        Ok((access, has_policy))
    }

    /// Accepts a vector modifier; returns its elements.
    pub(super) fn vector(&mut self) -> Option<u8> {
        self.modifiers.choose(|name| match name {
            "v2" => Some(2),
            "v4" => Some(4),
            "v8" => Some(8),
            _ => None,
        })
    }

    fn load(&mut self) -> Result<Op> {
        let (mut access, has_policy) = self.access()?;
        let count = self.operands.dest_vector_wider(access.ty)?;
        access.offset = self.operands.address()?;
        self.policy(has_policy)?;
        self.of_size(count, access.elements)?;
        Ok(Op::Load(access))
    }

    fn store(&mut self) -> Result<Op> {
        let (mut access, has_policy) = self.access()?;
        access.offset = self.operands.address()?;
        let count = self.operands.source_vector_wider(access.ty)?;
        self.policy(has_policy)?;
        self.of_size(count, access.elements)?;
        Ok(Op::Store(access))
    }

    pub(super) fn of_size(&self, count: usize, elements: u8) -> Result<()> {
        match count == usize::from(elements) {
            true => Ok(()),
            false => Err(format!("{count} registers for {elements} elements")),
        }
    }

    /// Decodes the cache policy after the other operands.
    pub(super) fn policy(&mut self, has_policy: bool) -> Result<()> {
        if has_policy { self.operands.policy() } else { Ok(()) }
    }

    /// Records an eviction priority; returns whether `name` is one.
    fn notes_priority(&mut self, name: &str) -> bool {
        let priority = EvictionPriority::named(name).map(CachePolicy::of_all);
        priority.is_some_and(|policy| {
            self.operands.policy_unless_given(policy);
            true
        })
    }

    /// Decodes `atom.relaxed.gpu.global.add.u32 d, [a], b`.
    fn atomic(&mut self) -> Result<Op> {
        let (mut atomic, has_policy) = self.read_modify_write()?;
        let Atomic { op, ty, elements, .. } = atomic;
        let dests = match self.operands.accept_sink() {
            true => {
                self.operands.push_dest(None);
                usize::from(elements)
            }
            false => self.operands.dest_vector(ty.class())?,
        };
        self.of_size(dests, elements)?;
        atomic.offset = self.operands.address()?;
        self.values(atomic)?;
        if op == AtomicOp::CompareAndSwap {
            self.values(atomic)?;
        }
        self.policy(has_policy)?;
        Ok(Op::Atomic(atomic))
    }

    fn reduction(&mut self) -> Result<Op> {
        let (mut atomic, has_policy) = self.read_modify_write()?;
        if matches!(atomic.op, AtomicOp::Exchange | AtomicOp::CompareAndSwap) {
            return Err("`red` of `.exch` or `.cas` is not an instruction".into());
        }
        atomic.offset = self.operands.address()?;
        self.values(atomic)?;
        self.policy(has_policy)?;
        Ok(Op::Reduce(atomic))
    }

    /// Decodes the element values of an atomic operation.
    fn values(&mut self, atomic: Atomic) -> Result<()> {
        let count = self.operands.source_vector(atomic.ty)?;
        self.of_size(count, atomic.elements)
    }

    fn read_modify_write(&mut self) -> Result<(Atomic, bool)> {
        let mut space = Space::Generic;
        while let Some(name) = self.modifiers.peek() {
            if let Some(named) = Space::named(name) {
                space = named;
            } else if !is_semantics(name) && !is_scope(name) {
                break;
            }
            self.modifiers.next();
        }
        // Examples of the ISA have the type before the operation: `red.global.v2.f32.add`.
        let vector_first = match self.vector() {
            Some(elements) => Some((self.modifiers.any_type()?, elements)),
            None => None,
        };
        let op = self.modifiers.require("an operation", atomic_op)?;
        let (mut ftz, mut has_policy) = (true, false);
        // Inline assembly has semantics and scope after the operation, which ptxas accepts too.
        while let Some(name) = self.modifiers.peek().filter(|name| {
            matches!(*name, "noftz" | "L2::cache_hint") || is_semantics(name) || is_scope(name)
        }) {
            ftz &= name != "noftz";
            has_policy |= name == "L2::cache_hint";
            self.modifiers.next();
        }
        let vector = match (vector_first, self.vector()) {
            (None, Some(elements)) => Some((self.modifiers.any_type()?, elements)),
            (vector, _) => vector,
        };
        let (ty, elements) = match vector {
            None => self.modifiers.one_of(types_of(op))?.parts(),
            Some(_) if !matches!(space, Space::Generic | Space::Global) => {
                return Err("vector atomics require global memory".into());
            }
            Some((ty, elements)) => {
                check_vector(op, ty, elements)?;
                (ty, elements)
            }
        };
        let ftz = ftz && ty == F32;
        Ok((Atomic { space, op, ty, elements, ftz, offset: 0 }, has_policy))
    }

    /// Decodes `prefetch.global.L2 [a]` and `prefetchu.L1 [a]`.
    fn prefetch(&mut self) -> Result<Op> {
        let space = self.modifiers.choose(Space::named).unwrap_or(Space::Generic);
        let level = |name| match name {
            "L1" | "L2" | "tensormap" => Some(name),
            name => is_hint(name).then_some(name),
        };
        let level = self.modifiers.require("a cache level", level)?;
        self.notes_priority(level);
        let offset = self.operands.address()?;
        Ok(Op::Prefetch { space, offset })
    }

    /// Decodes `applypriority.global.L2::evict_normal [a], 128` and `discard.global.L2 [a], 128`.
    fn hint(&mut self) -> Result<Op> {
        while self.modifiers.next().is_some() {}
        self.operands.address()?;
        self.operands.constant()?;
        Ok(Op::Hint)
    }

    /// Decodes `createpolicy.fractional.L2::evict_last.b64 d, 1.0`, `createpolicy.range.L2::evict_last.b64 d,
    /// [a], 1024, 4096` and `createpolicy.cvt.L2.b64 d, a`.
    fn create_policy(&mut self) -> Result<Op> {
        let kind = |name| matches!(name, "fractional" | "range" | "cvt").then_some(name);
        match self.modifiers.require("a kind of policy", kind)? {
            "fractional" => self.policy_of_share(),
            "range" => self.policy_of_range(),
            _ => self.converted_policy(),
        }
    }

    fn policy_of_share(&mut self) -> Result<Op> {
        let policy = self.priorities()?;
        self.operands.dest(B64)?;
        match self.operands.len() {
            0 => self.operands.push_source(Value::Bits(1.0f32.to_bits().into())),
            _ => self.operands.source(F32)?,
        }
        Ok(Op::CreatePolicy(policy))
    }

    fn policy_of_range(&mut self) -> Result<Op> {
        self.modifiers.accept("global");
        let policy = self.priorities()?;
        self.operands.dest(B64)?;
        let offset = self.operands.address()?;
        self.operands.source(U32)?;
        self.operands.source(U32)?;
        Ok(Op::CreateRangePolicy { policy, offset })
    }

    /// Decodes `createpolicy.cvt` as a move: the bits of a CUDA access property are those of the policy, and
    /// ptxas emits a move.
    fn converted_policy(&mut self) -> Result<Op> {
        if !self.modifiers.accept("L2") {
            return Err("expected `.L2`".into());
        }
        self.modifiers.one_of(&[B64])?;
        self.operands.dest(B64)?;
        self.operands.source(B64)?;
        Ok(Op::Move(B64))
    }

    /// Decodes `.L2::evict_last.L2::evict_first.b64`: a policy for all lines, with its secondary priority.
    fn priorities(&mut self) -> Result<CachePolicy> {
        let primary = self.modifiers.require("an eviction priority", EvictionPriority::named)?;
        let secondary = self.modifiers.choose(EvictionPriority::named);
        let secondary_first = match secondary {
            None | Some(EvictionPriority::Unchanged) => false,
            Some(EvictionPriority::First) => true,
            Some(_) => {
                return Err(
                    "the secondary priority must be `evict_first` or `evict_unchanged`".into()
                );
            }
        };
        self.modifiers.one_of(&[B64])?;
        Ok(CachePolicy { secondary_first, ..CachePolicy::of_all(primary) })
    }
}

/// Returns the cache operator, or the one that the semantics of an access imply.
fn cache_operator(name: &str) -> Option<Cache> {
    Some(match name {
        "ca" | "wb" => Cache::All,
        "cg" => Cache::Global,
        "cs" | "L1::evict_first" => Cache::Streaming,
        "lu" => Cache::LastUse,
        "cv" | "wt" | "volatile" | "sys" | "mmio" => Cache::Volatile,
        "nc" => Cache::ReadOnly,
        "cta" | "cluster" | "gpu" => Cache::StrongGpu,
        "L1::no_allocate" => Cache::Global,
        _ => return None,
    })
}

/// Returns whether a modifier is a hint or semantics without effect.
fn is_hint(name: &str) -> bool {
    is_semantics(name)
        || matches!(
            name,
            "L1::evict_normal" | "L1::evict_unchanged" | "L1::evict_last" | "L2::cache_hint"
        )
        || name.strip_prefix("L2::").is_some_and(|hint| {
            hint.starts_with("evict_") || matches!(hint, "64B" | "128B" | "256B")
        })
}

fn is_semantics(name: &str) -> bool {
    matches!(name, "weak" | "relaxed" | "acquire" | "release" | "acq_rel" | "unified")
}

fn is_scope(name: &str) -> bool {
    matches!(name, "cta" | "cluster" | "gpu" | "sys")
}

/// Refuses vectors that an atomic operation does not support.
fn check_vector(op: AtomicOp, ty: Type, elements: u8) -> Result<()> {
    /// Maximum bytes of a vector (ISA, "atom").
    const MAX: u32 = 16;
    let is_known = match op {
        AtomicOp::Add => matches!(ty, F32 | F16 | F16x2 | Bf16 | Bf16x2),
        AtomicOp::Min | AtomicOp::Max => matches!(ty, F16 | F16x2 | Bf16 | Bf16x2),
        _ => false,
    };
    match is_known && u32::from(elements) * ty.bytes() <= MAX {
        true => Ok(()),
        false => Err(format!("a vector of {elements} `.{}` has no such operation", ty.name())),
    }
}

pub(super) fn atomic_op(name: &str) -> Option<AtomicOp> {
    Some(match name {
        "and" => AtomicOp::And,
        "or" => AtomicOp::Or,
        "xor" => AtomicOp::Xor,
        "exch" => AtomicOp::Exchange,
        "cas" => AtomicOp::CompareAndSwap,
        "add" => AtomicOp::Add,
        "inc" => AtomicOp::Increment,
        "dec" => AtomicOp::Decrement,
        "min" => AtomicOp::Min,
        "max" => AtomicOp::Max,
        _ => return None,
    })
}

pub(super) fn types_of(op: AtomicOp) -> &'static [Type] {
    match op {
        AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => &[B32, B64],
        AtomicOp::Exchange => &[B32, B64, B128],
        AtomicOp::CompareAndSwap => &[B16, B32, B64, B128],
        AtomicOp::Add => &[U32, S32, U64, S64, F32, F64, F16, F16x2, Bf16, Bf16x2],
        AtomicOp::Increment | AtomicOp::Decrement => &[U32],
        AtomicOp::Min | AtomicOp::Max => &[U32, S32, U64, S64],
    }
}
