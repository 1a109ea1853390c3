//! Global and constant memory: buffers far from one another, so that no overrun of one reaches the next.
//! A kernel's mistake is a fault; a mistake of the owner is a [`MemoryError`].

use std::sync::Arc;

use crate::error::{FaultKind, MemoryError};
use crate::limits::PRINTED_BYTES_MAX;
use crate::module::PtxModule;

/// The first address.
const FIRST_ADDRESS: u64 = 0x7_0000_0000;
const NULL_BYTES: u64 = 4096;
/// Free room after each buffer, and the alignment of each.
const GUARD_BYTES: u64 = 1 << 20;
const ALIGN_BYTES: u64 = 512;

/// The kind of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Read,
    Constant,
    Write,
}

#[derive(Debug)]
struct Region {
    base: u64,
    bytes: Vec<u8>,
    constant: bool,
}

/// Where a region lies, so that accesses that follow one another need not look for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RegionExtent {
    number: usize,
    pub base: u64,
    pub bytes: u64,
}

#[derive(Debug)]
pub struct Memory {
    /// The regions in the order of their addresses.
    regions: Vec<Region>,
    next: u64,
    left: u64,
    pub(crate) printed: PrintedText,
}

/// A module whose variables were placed in a memory, where they keep their values from launch to launch. It must be
/// launched with that memory.
#[derive(Debug)]
pub struct LoadedModule {
    pub(crate) module: Arc<PtxModule>,
    pub(crate) symbols: Vec<u64>,
}

impl LoadedModule {
    #[must_use]
    pub fn module(&self) -> &PtxModule {
        &self.module
    }

    /// The address of a variable of the module.
    pub fn symbol(&self, name: &str) -> Option<u64> {
        let at = self.module.storage().iter().position(|storage| storage.name == name)?;
        Some(self.symbols[at])
    }
}

/// Printed text that waits to be taken.
#[derive(Debug, Default)]
pub(crate) struct PrintedText {
    bytes: Vec<u8>,
}

impl PrintedText {
    pub fn push(&mut self, text: &[u8]) {
        let left = PRINTED_BYTES_MAX - self.bytes.len();
        self.bytes.extend(&text[..text.len().min(left)]);
    }

    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }
}

impl Memory {
    /// A memory that holds so many bytes in all.
    pub fn new(bytes_max: u64) -> Memory {
        let printed = PrintedText::default();
        Memory { regions: Vec::new(), next: FIRST_ADDRESS, left: bytes_max, printed }
    }

    /// The text that kernels printed since the last call, cut after a mebibyte.
    pub fn take_printed(&mut self) -> Vec<u8> {
        self.printed.take()
    }

    /// Zeroed bytes; gives their address.
    pub fn alloc(&mut self, bytes: u64) -> Result<u64, MemoryError> {
        if bytes > self.left {
            return Err(MemoryError::Full { wanted: bytes, left: self.left });
        }
        Ok(self.place(vec![0; bytes as usize], false))
    }

    pub fn load(&mut self, module: &Arc<PtxModule>) -> Result<LoadedModule, MemoryError> {
        let wanted = module.storage().iter().map(|storage| storage.data.len() as u64).sum();
        if wanted > self.left {
            return Err(MemoryError::Full { wanted, left: self.left });
        }
        let place = |storage: &crate::module::VariableStorage| {
            self.place(storage.data.clone(), storage.constant)
        };
        let symbols = module.storage().iter().map(place).collect();
        Ok(LoadedModule { module: Arc::clone(module), symbols })
    }

    pub fn read(&self, address: u64, bytes: u64) -> Result<&[u8], MemoryError> {
        let (at, range) =
            self.range(address, bytes).ok_or(MemoryError::NotABuffer { address, bytes })?;
        Ok(&self.regions[at].bytes[range])
    }

    /// The owner may write constants as well.
    pub fn bytes_mut(&mut self, address: u64, bytes: u64) -> Result<&mut [u8], MemoryError> {
        let (at, range) =
            self.range(address, bytes).ok_or(MemoryError::NotABuffer { address, bytes })?;
        Ok(&mut self.regions[at].bytes[range])
    }

    pub fn write(&mut self, address: u64, data: &[u8]) -> Result<(), MemoryError> {
        self.bytes_mut(address, data.len() as u64)?.copy_from_slice(data);
        Ok(())
    }

    fn place(&mut self, bytes: Vec<u8>, constant: bool) -> u64 {
        let base = self.next;
        self.left -= bytes.len() as u64;
        self.next = (base + bytes.len() as u64 + GUARD_BYTES).next_multiple_of(ALIGN_BYTES);
        self.regions.push(Region { base, bytes, constant });
        base
    }

    fn range(&self, address: u64, bytes: u64) -> Option<(usize, std::ops::Range<usize>)> {
        let at = self.regions.partition_point(|region| region.base <= address).checked_sub(1)?;
        let region = &self.regions[at];
        let start = address - region.base;
        let end = start.checked_add(bytes)?;
        (end <= region.bytes.len() as u64).then_some((at, start as usize..end as usize))
    }

    /// The number of the region that holds an address which may be read or written as `need` says, and its extent.
    pub(crate) fn region(&self, address: u64, need: Need) -> Option<RegionExtent> {
        let (number, _) = self.range(address, 1)?;
        let region = &self.regions[number];
        let allowed = match need {
            Need::Read => true,
            Need::Write => !region.constant,
            Need::Constant => region.constant,
        };
        let bytes = region.bytes.len() as u64;
        allowed.then_some(RegionExtent { number, base: region.base, bytes })
    }

    pub(crate) fn region_bytes(&mut self, region: RegionExtent) -> &mut [u8] {
        &mut self.regions[region.number].bytes
    }

    pub(crate) fn access(
        &mut self,
        address: u64,
        bytes: u64,
        need: Need,
    ) -> Result<&mut [u8], FaultKind> {
        if address < NULL_BYTES {
            return Err(FaultKind::Null { address });
        }
        let space = if need == Need::Constant { "constant" } else { "global" };
        let outside = FaultKind::OutOfBounds { space, address, bytes };
        let (at, range) = self.range(address, bytes).ok_or(outside)?;
        let region = &mut self.regions[at];
        match need {
            Need::Write if region.constant => Err(FaultKind::ReadOnly { address }),
            Need::Constant if !region.constant => Err(outside),
            _ => Ok(&mut region.bytes[range]),
        }
    }
}
