//! A memory with typed buffers, and launches on it.

use std::sync::Arc;

use assay_ptx::{GridLaunch, LaunchArg, LaunchError, Memory, PtxModule, Stats, StepBudget, launch};

pub struct Device {
    pub module: Arc<PtxModule>,
    pub memory: Memory,
}

pub trait Element: Copy {
    const BYTES: usize;
    fn bytes(self) -> Vec<u8>;
    fn value(bytes: &[u8]) -> Self;
}

macro_rules! elements {
    ($($kind:ty),*) => {
        $(impl Element for $kind {
            const BYTES: usize = size_of::<$kind>();
            fn bytes(self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }
            fn value(bytes: &[u8]) -> Self {
                <$kind>::from_le_bytes(bytes.try_into().unwrap())
            }
        })*
    };
}

elements!(u8, u16, u32, i32, u64, i64, f32, f64);

impl Device {
    pub fn new(text: &str) -> Device {
        Device { module: Arc::new(PtxModule::parse(text).unwrap()), memory: Memory::new(1 << 26) }
    }

    pub fn buffer<T: Element>(&mut self, elements: &[T]) -> u64 {
        let bytes: Vec<u8> = elements.iter().flat_map(|element| element.bytes()).collect();
        let address = self.memory.alloc(bytes.len() as u64).unwrap();
        self.memory.write(address, &bytes).unwrap();
        address
    }

    pub fn elements<T: Element>(&self, address: u64, count: usize) -> Vec<T> {
        let bytes = self.memory.read(address, (count * T::BYTES) as u64).unwrap();
        bytes.chunks(T::BYTES).map(T::value).collect()
    }

    pub fn try_run(
        &mut self,
        kernel: &str,
        grid: [u32; 3],
        block: [u32; 3],
        shared: u64,
        args: Vec<LaunchArg>,
        steps: u64,
    ) -> Result<Stats, LaunchError> {
        let loaded = self.memory.load(&self.module).unwrap();
        let asked = GridLaunch { grid, block, dynamic_shared_bytes: shared, args };
        launch(&loaded, kernel, &asked, &mut self.memory, &mut StepBudget { steps })
    }

    pub fn run(
        &mut self,
        kernel: &str,
        grid: [u32; 3],
        block: [u32; 3],
        shared: u64,
        args: Vec<LaunchArg>,
    ) -> Stats {
        self.try_run(kernel, grid, block, shared, args, 100_000_000).unwrap()
    }
}
