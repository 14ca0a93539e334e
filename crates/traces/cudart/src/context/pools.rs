//! Memory pools. All pools draw on device memory, and freed memory is immediately available again: a pool
//! reserves exactly what its allocations use.

use std::collections::BTreeMap;

use crate::status::{Failure, Outcome, Status};

/// Handle of a pool.
pub type PoolId = u64;

/// Handle of the device's default pool, which always exists.
const DEFAULT: PoolId = 1;

/// Numbers of attributes (`CUmemPool_attribute`, `cudaMemPoolAttr`).
mod number {
    pub const FIRST_REUSE: u32 = 1;
    pub const LAST_REUSE: u32 = 3;
    pub const RELEASE_THRESHOLD: u32 = 4;
    pub const RESERVED: u32 = 5;
    pub const RESERVED_HIGH: u32 = 6;
    pub const USED: u32 = 7;
    pub const USED_HIGH: u32 = 8;
    pub const ALLOCATION_TYPE: u32 = 9;
    pub const EXPORT_HANDLES: u32 = 10;
    pub const LOCATION: u32 = 11;
    pub const LOCATION_TYPE: u32 = 12;
    pub const MAX_BYTES: u32 = 13;
}

/// `CU_MEM_ALLOCATION_TYPE_PINNED`
pub const PINNED: u32 = 1;
/// `CU_MEM_LOCATION_TYPE_DEVICE`
pub const ON_DEVICE: u32 = 1;

#[derive(Debug)]
struct Pool {
    /// Reuse policies for freed memory, in three cases; without effect, programs can only read them back.
    reuse: [u32; 3],
    /// Bytes to retain on release; without effect, programs can only read the value back.
    release_threshold: u64,
    /// Bytes in use.
    used: u64,
    /// High watermarks since the program last reset them to 0, bytes: reserved and used.
    high: [u64; 2],
    /// Maximum bytes of allocations; 0 for no limit.
    most_bytes: u64,
}

impl Pool {
    fn new(most_bytes: u64) -> Pool {
        Pool { reuse: [1; 3], release_threshold: 0, used: 0, high: [0; 2], most_bytes }
    }
}

/// The pools of the device.
#[derive(Debug)]
pub struct Pools {
    pools: BTreeMap<PoolId, Pool>,
    /// Pool of allocations that name none.
    current: PoolId,
    last: PoolId,
    /// Pool and size in bytes of each allocation, by address.
    allocations: BTreeMap<u64, (PoolId, u64)>,
}

impl Default for Pools {
    fn default() -> Pools {
        Pools {
            pools: [(DEFAULT, Pool::new(0))].into(),
            current: DEFAULT,
            last: DEFAULT,
            allocations: BTreeMap::new(),
        }
    }
}

/// Value of an attribute, in the width of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolValue {
    Narrow(u32),
    Wide(u64),
}

impl Pools {
    pub fn default_pool(&self) -> PoolId {
        DEFAULT
    }

    pub fn current(&self) -> PoolId {
        self.current
    }

    /// Checks that a pool exists.
    ///
    /// # Errors
    /// When the pool does not exist.
    pub fn check(&self, id: PoolId) -> Outcome<()> {
        self.pool(id).map(drop)
    }

    fn pool(&self, id: PoolId) -> Outcome<&Pool> {
        self.pools.get(&id).ok_or(Status::INVALID_VALUE.into())
    }

    fn pool_mut(&mut self, id: PoolId) -> Outcome<&mut Pool> {
        self.pools.get_mut(&id).ok_or(Status::INVALID_VALUE.into())
    }

    /// Makes a pool the default for allocations that name none.
    ///
    /// # Errors
    /// When the pool does not exist.
    pub fn make_current(&mut self, id: PoolId) -> Outcome<()> {
        self.check(id)?;
        self.current = id;
        Ok(())
    }

    /// Creates a pool of at most `most_bytes` bytes; 0 for no limit.
    pub fn create(&mut self, most_bytes: u64) -> PoolId {
        self.last += 1;
        self.pools.insert(self.last, Pool::new(most_bytes));
        self.last
    }

    /// Destroys a pool; its allocations live until they are freed.
    ///
    /// # Errors
    /// When the pool does not exist, or is the device's default pool.
    pub fn destroy(&mut self, id: PoolId) -> Outcome<()> {
        if id == DEFAULT || self.pools.remove(&id).is_none() {
            return Err(Status::INVALID_VALUE.into());
        }
        if self.current == id {
            self.current = DEFAULT;
        }
        Ok(())
    }

    /// Returns an attribute of a pool.
    ///
    /// # Errors
    /// When the pool or the attribute does not exist.
    pub fn attribute(&self, id: PoolId, number: u32) -> Outcome<PoolValue> {
        use PoolValue::{Narrow, Wide};
        let pool = self.pool(id)?;
        Ok(match number {
            number::FIRST_REUSE..=number::LAST_REUSE => {
                Narrow(pool.reuse[(number - number::FIRST_REUSE) as usize])
            }
            number::RELEASE_THRESHOLD => Wide(pool.release_threshold),
            number::RESERVED | number::USED => Wide(pool.used),
            number::RESERVED_HIGH => Wide(pool.high[0]),
            number::USED_HIGH => Wide(pool.high[1]),
            number::ALLOCATION_TYPE => Narrow(PINNED),
            number::EXPORT_HANDLES | number::LOCATION => Narrow(0),
            number::LOCATION_TYPE => Narrow(ON_DEVICE),
            number::MAX_BYTES => Wide(pool.most_bytes),
            _ => return Err(Status::INVALID_VALUE.into()),
        })
    }

    /// Sets an attribute of a pool.
    ///
    /// # Errors
    /// When the pool does not exist, or the attribute does not accept the value.
    pub fn set_attribute(&mut self, id: PoolId, number: u32, value: PoolValue) -> Outcome<()> {
        let pool = self.pool_mut(id)?;
        match (number, value) {
            (number::FIRST_REUSE..=number::LAST_REUSE, PoolValue::Narrow(value)) => {
                pool.reuse[(number - number::FIRST_REUSE) as usize] = value;
            }
            (number::RELEASE_THRESHOLD, PoolValue::Wide(value)) => pool.release_threshold = value,
            // The manual: a high watermark can only be set to 0.
            (number::RESERVED_HIGH, PoolValue::Wide(0)) => pool.high[0] = 0,
            (number::USED_HIGH, PoolValue::Wide(0)) => pool.high[1] = 0,
            _ => return Err(Status::INVALID_VALUE.into()),
        }
        Ok(())
    }

    /// Checks that an allocation fits in a pool.
    ///
    /// # Errors
    /// When the pool does not exist, or the bytes do not fit.
    pub fn check_room(&self, id: PoolId, bytes: u64) -> Outcome<()> {
        let Pool { used, most_bytes, .. } = *self.pool(id)?;
        if most_bytes > 0 && used.saturating_add(bytes) > most_bytes {
            let why = format!(
                "{bytes} bytes do not fit in a pool of {most_bytes} bytes, of which {used} are in use"
            );
            return Err(Failure::new(Status::OUT_OF_MEMORY, why));
        }
        Ok(())
    }

    /// Accounts for an allocation.
    ///
    /// # Errors
    /// When the pool does not exist.
    pub fn allocated(&mut self, id: PoolId, address: u64, bytes: u64) -> Outcome<()> {
        let pool = self.pool_mut(id)?;
        pool.used += bytes;
        pool.high = pool.high.map(|high| high.max(pool.used));
        self.allocations.insert(address, (id, bytes));
        Ok(())
    }

    /// Accounts for a freed allocation, if a pool owns it.
    pub fn freed(&mut self, address: u64) {
        let Some((id, bytes)) = self.allocations.remove(&address) else { return };
        if let Some(pool) = self.pools.get_mut(&id) {
            pool.used -= bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_tracks_its_use_and_high_watermark() {
        let mut pools = Pools::default();
        let id = pools.create(0);
        pools.allocated(id, 0x100, 10).unwrap();
        pools.allocated(id, 0x200, 5).unwrap();
        pools.freed(0x100);
        let wide = |pools: &Pools, number| pools.attribute(id, number).unwrap();
        assert_eq!(wide(&pools, number::USED), PoolValue::Wide(5));
        assert_eq!(wide(&pools, number::USED_HIGH), PoolValue::Wide(15));
        pools.set_attribute(id, number::USED_HIGH, PoolValue::Wide(0)).unwrap();
        assert_eq!(wide(&pools, number::USED_HIGH), PoolValue::Wide(0));
        assert_eq!(wide(&pools, number::RESERVED_HIGH), PoolValue::Wide(15));
        assert!(pools.set_attribute(id, number::USED_HIGH, PoolValue::Wide(3)).is_err());
        assert!(pools.set_attribute(id, number::USED, PoolValue::Wide(0)).is_err());
        assert_eq!(pools.attribute(DEFAULT, number::USED).unwrap(), PoolValue::Wide(0));
    }

    #[test]
    fn destroying_the_current_pool_restores_the_default_pool() {
        let mut pools = Pools::default();
        let id = pools.create(0);
        pools.make_current(id).unwrap();
        pools.allocated(id, 0x100, 10).unwrap();
        pools.destroy(id).unwrap();
        assert_eq!(pools.current(), DEFAULT);
        assert!(pools.destroy(id).is_err() && pools.destroy(DEFAULT).is_err());
        assert!(pools.make_current(id).is_err());
        pools.freed(0x100);
    }
}
