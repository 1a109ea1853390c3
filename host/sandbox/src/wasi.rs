//! The system interface as a plugin sees it: complete, and empty. Every call works or is refused
//! at once; what waits for other hosts is in [`crate::waits`].

use std::convert::Infallible;
use std::time::Duration;

use assay_core::limits;
use rand_core::TryRng;
use wasmtime::component::Linker;
use wasmtime_wasi::clocks::HostWallClock;
use wasmtime_wasi::{WasiCtx, WasiView};
use wasmtime_wasi_http::WasiHttpView;

use crate::output::CapturedOutput;
use crate::request_parts;
use crate::waits::{self, Waits};

/// The interfaces of `wasi:*@0.2` that are linked. A plugin that imports another is refused.
pub(crate) const INTERFACES: &[&str] = &[
    "wasi:cli/environment",
    "wasi:cli/exit",
    "wasi:cli/stderr",
    "wasi:cli/stdin",
    "wasi:cli/stdout",
    "wasi:cli/terminal-input",
    "wasi:cli/terminal-output",
    "wasi:cli/terminal-stderr",
    "wasi:cli/terminal-stdin",
    "wasi:cli/terminal-stdout",
    "wasi:clocks/monotonic-clock",
    "wasi:clocks/wall-clock",
    "wasi:filesystem/preopens",
    "wasi:filesystem/types",
    "wasi:http/outgoing-handler",
    "wasi:http/types",
    "wasi:io/error",
    "wasi:io/poll",
    "wasi:io/streams",
    "wasi:random/insecure",
    "wasi:random/insecure-seed",
    "wasi:random/random",
    "wasi:sockets/instance-network",
    "wasi:sockets/ip-name-lookup",
    "wasi:sockets/network",
    "wasi:sockets/tcp",
    "wasi:sockets/tcp-create-socket",
    "wasi:sockets/udp",
    "wasi:sockets/udp-create-socket",
];

/// 2000-01-01T00:00:00Z, for ever: the same request gives the same reward on every day.
const TODAY: Duration = Duration::from_secs(946_684_800);

/// Links every interface of [`INTERFACES`]. Functions that wait are replaced: see [`waits`]. So are those by which the host
/// stores texts of any length: see [`request_parts`].
pub(crate) fn link<T: WasiView + WasiHttpView>(
    linker: &mut Linker<T>,
    waits: for<'a> fn(&'a mut T) -> Waits<'a>,
) -> wasmtime::Result<()> {
    wasmtime_wasi::p2::add_to_linker_sync(linker)?;
    wasmtime_wasi_http::p2::add_only_http_to_linker_sync(linker)?;
    linker.allow_shadowing(true);
    waits::link(linker, waits)?;
    request_parts::link(linker)?;
    linker.allow_shadowing(false);
    Ok(())
}

/// The context of one call: output kept, randomness from the seed, and nothing else.
pub(crate) fn context(seed: u64, stdout: CapturedOutput, stderr: CapturedOutput) -> WasiCtx {
    let mut stream = SplitMix(seed);
    let (secure, insecure) = (SplitMix(stream.next()), SplitMix(stream.next()));
    let hash_seed = u128::from(stream.next()) << 64 | u128::from(stream.next());
    WasiCtx::builder()
        .stdout(stdout)
        .stderr(stderr)
        .secure_random(secure)
        .insecure_random(insecure)
        .insecure_random_seed(hash_seed)
        .max_random_size(limits::GUEST_RANDOM_BYTES_MAX as u64)
        .wall_clock(Today)
        .allow_tcp(false)
        .allow_udp(false)
        .allow_ip_name_lookup(false)
        .build()
}

struct Today;

impl HostWallClock for Today {
    fn resolution(&self) -> Duration {
        Duration::from_nanos(1)
    }

    fn now(&self) -> Duration {
        TODAY
    }
}

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): small, fast, and the same everywhere.
/// Its numbers are repeatable, so they are no secrets.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

impl TryRng for SplitMix {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.next() >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.next())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            let next = self.next().to_le_bytes();
            chunk.copy_from_slice(&next[..chunk.len()]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_gives_the_published_numbers() {
        let mut generator = SplitMix(1_234_567);
        let first: Vec<_> = (0..3).map(|_| generator.next()).collect();
        assert_eq!(
            first,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }
}
