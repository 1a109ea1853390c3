//! Samples of a run as an Apache Parquet file, written piece by piece: one row group is in memory at a time.
//!
//! The columns are those of [`Sample`], in its order. `components`, `label` and `metadata` are JSON as text, as every
//! plugin has other ones; times are microseconds UTC; a field that a sample lacks is null.

use assay_api::sample::Sample;
use parquet::basic::Compression;
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;

mod columns;

use columns::Columns;

/// The rows with which a row group is written.
const ROWS_MAX: usize = 8_192;
/// The bytes of texts with which a row group is written earlier.
const BYTES_MAX: usize = 8 << 20;

/// A file that is being written.
#[derive(Debug)]
pub struct ParquetFile {
    /// Its sink holds the part of the file that is finished, until that is taken.
    writer: SerializedFileWriter<Vec<u8>>,
    /// The samples that are not written yet.
    columns: Columns,
}

impl ParquetFile {
    /// A file without samples.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "a file is begun, and there is no usual one")]
    pub fn new() -> Self {
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(concat!("assay ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let writer = SerializedFileWriter::new(Vec::new(), columns::schema(), properties.into());
        Self { writer: writer.expect("memory takes its first bytes"), columns: Columns::default() }
    }

    /// Adds samples, and returns what was finished of the file meanwhile: nothing as long as a row group is not full.
    pub fn add(&mut self, samples: impl IntoIterator<Item = Sample>) -> Result<Vec<u8>> {
        for sample in samples {
            self.columns.push(sample);
            if self.columns.rows() >= ROWS_MAX || self.columns.bytes() >= BYTES_MAX {
                self.write_rows()?;
            }
        }
        self.writer.flush()?;
        Ok(std::mem::take(self.writer.inner_mut()))
    }

    /// Ends the file, and returns the rest of it.
    pub fn finish(mut self) -> Result<Vec<u8>> {
        if self.columns.rows() > 0 {
            self.write_rows()?;
        }
        self.writer.into_inner()
    }

    fn write_rows(&mut self) -> Result<()> {
        let mut group = self.writer.next_row_group()?;
        std::mem::take(&mut self.columns).write(&mut group)?;
        group.close()?;
        Ok(())
    }
}
