//! The columns of a file, and the samples of a row group by column.

use std::io::Write;
use std::sync::Arc;

use assay_api::sample::Sample;
use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::writer::SerializedRowGroupWriter;
use parquet::schema::types::{Type, TypePtr};

/// The values of a column that are there, and for each row whether one is.
#[derive(Debug)]
struct Column<T> {
    values: Vec<T>,
    /// Parquet's definition levels: 1 for a value, 0 for a null.
    is_there: Vec<i16>,
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Self { values: Vec::new(), is_there: Vec::new() }
    }
}

impl<T> Column<T> {
    fn push(&mut self, value: Option<T>) {
        self.is_there.push(value.is_some().into());
        self.values.extend(value);
    }
}

macro_rules! columns {
    ($($name:ident: $value:ty, $data:ty, $physical:ident, $logical:expr, $needed:ident;)*) => {
        /// Samples by column.
        #[derive(Debug, Default)]
        pub(crate) struct Columns {
            rows: usize,
            bytes: usize,
            $($name: Column<$value>,)*
        }

        /// The columns with their types.
        pub(crate) fn schema() -> TypePtr {
            let fields = vec![$(field(stringify!($name), Physical::$physical, $logical, Repetition::$needed),)*];
            let schema = Type::group_type_builder("sample").with_fields(fields).build();
            Arc::new(schema.expect("the names differ and the types fit"))
        }

        impl Columns {
            /// Writes the columns, in the order of the schema.
            pub(crate) fn write<W: Write + Send>(self, group: &mut SerializedRowGroupWriter<'_, W>) -> Result<()> {
                $(write::<$data, W>(group, &self.$name, Repetition::$needed)?;)*
                Ok(())
            }
        }
    };
}

columns! {
    id: ByteArray, ByteArrayType, BYTE_ARRAY, Some(LogicalType::String), REQUIRED;
    batch: ByteArray, ByteArrayType, BYTE_ARRAY, Some(LogicalType::String), REQUIRED;
    iteration: i64, Int64Type, INT64, None, REQUIRED;
    key: ByteArray, ByteArrayType, BYTE_ARRAY, Some(LogicalType::String), REQUIRED;
    group: ByteArray, ByteArrayType, BYTE_ARRAY, Some(LogicalType::String), OPTIONAL;
    kind: ByteArray, ByteArrayType, BYTE_ARRAY, Some(LogicalType::String), OPTIONAL;
    verdict: ByteArray, ByteArrayType, BYTE_ARRAY, Some(LogicalType::String), OPTIONAL;
    reward: f64, DoubleType, DOUBLE, None, OPTIONAL;
    components: ByteArray, ByteArrayType, BYTE_ARRAY, Some(LogicalType::Json), OPTIONAL;
    message: ByteArray, ByteArrayType, BYTE_ARRAY, Some(LogicalType::String), OPTIONAL;
    arrived_at: i64, Int64Type, INT64, Some(micros()), REQUIRED;
    finished_at: i64, Int64Type, INT64, Some(micros()), OPTIONAL;
    prompt: ByteArray, ByteArrayType, BYTE_ARRAY, Some(LogicalType::String), OPTIONAL;
    response: ByteArray, ByteArrayType, BYTE_ARRAY, Some(LogicalType::String), OPTIONAL;
    label: ByteArray, ByteArrayType, BYTE_ARRAY, Some(LogicalType::Json), OPTIONAL;
    metadata: ByteArray, ByteArrayType, BYTE_ARRAY, Some(LogicalType::Json), OPTIONAL;
}

impl Columns {
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// The bytes of all texts.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn push(&mut self, sample: Sample) {
        let Sample {
            id,
            batch,
            iteration,
            key,
            group,
            kind,
            verdict,
            reward,
            components,
            message,
            arrived_at,
            finished_at,
            prompt,
            response,
            label,
            metadata,
        } = sample;
        let components = (!components.is_empty())
            .then(|| serde_json::to_string(&components).expect("names and numbers"));
        let json =
            |raw: Option<Box<serde_json::value::RawValue>>| raw.map(|raw| raw.get().to_owned());
        self.rows += 1;
        for (column, text) in [
            (&mut self.id, Some(id.to_string())),
            (&mut self.batch, Some(batch.to_string())),
            (&mut self.key, Some(key)),
            (&mut self.group, group),
            (&mut self.kind, kind),
            (&mut self.verdict, verdict),
            (&mut self.components, components),
            (&mut self.message, message),
            (&mut self.prompt, prompt),
            (&mut self.response, response),
            (&mut self.label, json(label)),
            (&mut self.metadata, json(metadata)),
        ] {
            self.bytes += text.as_ref().map_or(0, String::len);
            column.push(text.map(|text| ByteArray::from(text.into_bytes())));
        }
        self.iteration.push(Some(i64::try_from(iteration).unwrap_or(i64::MAX)));
        self.reward.push(reward);
        self.arrived_at.push(Some(signed(arrived_at.0)));
        self.finished_at.push(finished_at.map(|at| signed(at.0)));
    }
}

fn signed(micros: u64) -> i64 {
    i64::try_from(micros).unwrap_or(i64::MAX)
}

/// A time in microseconds UTC.
fn micros() -> LogicalType {
    LogicalType::timestamp(true, TimeUnit::MICROS)
}

fn field(
    name: &str,
    physical: Physical,
    logical: Option<LogicalType>,
    needed: Repetition,
) -> TypePtr {
    let field = Type::primitive_type_builder(name, physical).with_repetition(needed);
    Arc::new(
        field.with_logical_type(logical).build().expect("the logical type fits the physical one"),
    )
}

fn write<D: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    column: &Column<D::T>,
    needed: Repetition,
) -> Result<()> {
    let mut writer = group.next_column()?.expect("the schema has as many columns");
    let levels = (needed == Repetition::OPTIONAL).then_some(&column.is_there[..]);
    writer.typed::<D>().write_batch(&column.values, levels, None)?;
    writer.close()
}
