//! A file of samples in one of its formats, as it is written.

use anyhow::Context as _;
use assay_api::sample::{Sample, SampleFormat};
use assay_parquet::ParquetFile;

use super::csv;

pub(super) enum ExportFile {
    Jsonl,
    Csv {
        /// Whether the head is still to be written.
        head: bool,
    },
    /// `None` once it has ended.
    Parquet(Option<Box<ParquetFile>>),
}

impl ExportFile {
    pub(super) fn new(format: SampleFormat) -> Self {
        match format {
            SampleFormat::Jsonl => Self::Jsonl,
            SampleFormat::Csv => Self::Csv { head: true },
            SampleFormat::Parquet => Self::Parquet(Some(Box::new(ParquetFile::new()))),
        }
    }

    /// Writes samples, and returns what can be sent: of Parquet nothing until a row group is full.
    pub(super) fn add(&mut self, samples: impl Iterator<Item = Sample>) -> anyhow::Result<Vec<u8>> {
        let mut piece = Vec::new();
        match self {
            Self::Jsonl => {
                for sample in samples {
                    serde_json::to_writer(&mut piece, &sample)?;
                    piece.push(b'\n');
                }
            }
            Self::Csv { head } => {
                if std::mem::take(head) {
                    piece.extend(csv::head().into_bytes());
                }
                samples.for_each(|sample| csv::write(&mut piece, &sample));
            }
            Self::Parquet(file) => {
                piece = file.as_mut().context("the file has ended")?.add(samples)?;
            }
        }
        Ok(piece)
    }

    /// The rest of the file; `None` once all of it was returned.
    pub(super) fn end(&mut self) -> anyhow::Result<Option<Vec<u8>>> {
        match self {
            Self::Jsonl => Ok(None),
            // A file without samples has a head.
            Self::Csv { head } => Ok(std::mem::take(head).then(|| csv::head().into_bytes())),
            Self::Parquet(file) => Ok(file.take().map(|file| file.finish()).transpose()?),
        }
    }
}
