//! Trace files, gzipped or plain.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, stdin};
use std::path::Path;

use anyhow::Context as _;
use assay_sim::trace::{Trace, read};
use flate2::bufread::MultiGzDecoder;

/// The first two bytes of a gzip file.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Reads a trace from a file, or from standard input where the path is `-`.
///
/// # Errors
/// When the file cannot be opened or is not a trace.
pub fn read_trace(path: &Path) -> anyhow::Result<Trace> {
    read(open(path)?).with_context(|| format!("{} is not a trace", path.display()))
}

/// Opens a file, or standard input where the path is `-`, and decompresses it if it is gzipped.
///
/// # Errors
/// When the file cannot be opened or read.
pub fn open(path: &Path) -> anyhow::Result<Box<dyn BufRead>> {
    let raw: Box<dyn Read> = if path == Path::new("-") {
        Box::new(stdin())
    } else {
        let name = path.display();
        Box::new(File::open(path).with_context(|| format!("cannot open {name}"))?)
    };
    let mut raw = BufReader::with_capacity(1 << 16, raw);
    let zipped = raw.fill_buf()?.starts_with(&GZIP_MAGIC);
    Ok(if zipped { Box::new(BufReader::new(MultiGzDecoder::new(raw))) } else { Box::new(raw) })
}
