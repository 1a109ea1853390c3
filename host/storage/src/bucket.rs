//! A bucket of S3, Google Cloud Storage, Azure or a compatible store, as a storage root.

use std::sync::Arc;
use std::time::Duration;

use assay_core::limits;
use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::path::Path;
use object_store::{
    BackoffConfig, ClientOptions, Error, GetOptions, ObjectMeta, ObjectStore, RetryConfig,
};

use crate::error::ReadError;
use crate::reading::Content;

const CONNECT_MAX: Duration = Duration::from_secs(4);
const READ_MAX: Duration = Duration::from_secs(limits::OBJECT_WAIT_SECONDS_MAX);
/// Within the time that a caller waits.
const RETRY_MAX: Duration = Duration::from_secs(8);
const RETRIES_MAX: usize = 3;
/// A longer one was never a store's.
const VERSION_BYTES_MAX: usize = 512;
/// The prefix of a version that is a tag of the content.
const TAG: &str = "tag:";

/// The kind of store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cloud {
    S3,
    Gcs,
    Azure,
}

impl Cloud {
    pub(super) fn of_scheme(scheme: &str) -> Option<Self> {
        match scheme {
            "s3" => Some(Self::S3),
            "gs" => Some(Self::Gcs),
            "az" => Some(Self::Azure),
            _ => None,
        }
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::S3 => "s3",
            Self::Gcs => "gcs",
            Self::Azure => "azure",
        }
    }

    fn options_explained(self) -> &'static str {
        match self {
            Self::S3 => "region, endpoint, access_key_id, secret_access_key, allow_http",
            Self::Gcs => "service_account (a file), service_account_key, skip_signature",
            Self::Azure => "account_name, account_key, sas_key, endpoint, allow_http",
        }
    }
}

/// A bucket and the prefix of its objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Address<'a> {
    pub cloud: Cloud,
    pub bucket: &'a str,
    /// Empty for the whole bucket.
    pub prefix: &'a str,
}

pub(super) struct Bucket {
    store: Arc<dyn ObjectStore>,
    /// Empty, or with a slash at its end.
    prefix: String,
}

/// The same for each builder; they share no trait.
macro_rules! build {
    ($builder:expr, $options:expr, $cloud:expr) => {{
        let mut builder = $builder.with_retry(retries()).with_client_options(client());
        for (key, value) in $options {
            let known = key.to_ascii_lowercase().parse().map_err(|_| unknown($cloud, key))?;
            builder = builder.with_config(known, value);
        }
        let store = builder.build().map_err(|error| without_values(error.to_string(), $options))?;
        Arc::new(store) as Arc<dyn ObjectStore>
    }};
}

fn unknown(cloud: Cloud, key: &str) -> String {
    format!("`options.{key}` is not known; some of them are {}", cloud.options_explained())
}

/// Connects to nothing yet; takes the TLS provider of the process. Errors hold no option's value.
pub(super) fn connect(
    cloud: Cloud,
    bucket: &str,
    options: &[(String, String)],
) -> Result<Arc<dyn ObjectStore>, String> {
    Ok(match cloud {
        Cloud::S3 => build!(AmazonS3Builder::new().with_bucket_name(bucket), options, cloud),
        Cloud::Gcs => {
            build!(GoogleCloudStorageBuilder::new().with_bucket_name(bucket), options, cloud)
        }
        Cloud::Azure => {
            build!(MicrosoftAzureBuilder::new().with_container_name(bucket), options, cloud)
        }
    })
}

impl Bucket {
    pub(super) fn new(address: Address<'_>, options: &[(String, String)]) -> Result<Self, String> {
        let Address { cloud, bucket, prefix } = address;
        let store = connect(cloud, bucket, options)?;
        let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
        Ok(Self { store, prefix })
    }

    /// One call: the version is of the very answer that carries the bytes.
    pub(super) async fn fetch(&self, path: &str, known: &str) -> Result<Content, ReadError> {
        let tagged = known_tag(known);
        let if_none_match = tagged.map(|(_, tag)| tag.to_owned());
        let options = GetOptions { if_none_match, ..GetOptions::default() };
        let found = match (self.store.get_opts(&self.place(path)?, options).await, tagged) {
            (Err(Error::NotModified { .. }), Some((size, _))) => {
                return Ok(Content { version: known.to_owned(), size, chunks: None });
            }
            (found, _) => found.map_err(trouble)?,
        };
        let (version, size) = (version(&found.meta), found.meta.size);
        // Some stores ignore the condition.
        if version == known {
            return Ok(Content { version, size, chunks: None });
        }
        let chunks = found.into_stream().map_err(trouble).map_ok(|chunk| stream::iter(cut(chunk)));
        Ok(Content { version, size, chunks: Some(chunks.try_flatten().boxed()) })
    }

    pub(super) async fn list(&self, path: &str) -> Result<Vec<String>, ReadError> {
        let folder = self.place(path)?;
        let mut objects = self.store.list(Some(&folder));
        let mut names = Vec::new();
        while let Some(object) = objects.try_next().await.map_err(trouble)? {
            if names.len() == limits::OBJECT_NAMES_MAX {
                return Err(ReadError::TooMany);
            }
            let location = object.location.as_ref();
            names.extend(location.strip_prefix(&self.prefix).map(str::to_owned));
        }
        Ok(names)
    }

    fn place(&self, path: &str) -> Result<Path, ReadError> {
        // The store has no object whose name it cannot express.
        Path::parse(format!("{}{path}", self.prefix)).map_err(|_| ReadError::NotFound)
    }
}

/// Chunks as a message holds them.
pub(super) fn cut<E>(mut chunk: Bytes) -> impl Iterator<Item = Result<Bytes, E>> {
    std::iter::from_fn(move || {
        let length = chunk.len().min(assay_wire::CHUNK_BYTES);
        (length > 0).then(|| Ok(chunk.split_to(length)))
    })
}

fn version(object: &ObjectMeta) -> String {
    let size = object.size;
    match (&object.e_tag, &object.version) {
        (Some(tag), _) => format!("{TAG}{size}:{tag}"),
        (None, Some(version)) => format!("version:{version}"),
        (None, None) => format!("time:{}:{size}", object.last_modified.timestamp_micros()),
    }
}

/// The size and the tag of a version that has one.
fn known_tag(version: &str) -> Option<(u64, &str)> {
    let (size, tag) = version.strip_prefix(TAG)?.split_once(':')?;
    is_tag(tag).then_some((size.parse().ok()?, tag))
}

/// Whether it may stand in a header.
fn is_tag(text: &str) -> bool {
    text.len() <= VERSION_BYTES_MAX && text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

fn retries() -> RetryConfig {
    let backoff = BackoffConfig {
        init_backoff: Duration::from_millis(100),
        max_backoff: Duration::from_secs(2),
        ..BackoffConfig::default()
    };
    RetryConfig { backoff, max_retries: RETRIES_MAX, retry_timeout: RETRY_MAX }
}

fn client() -> ClientOptions {
    // A large object may take long as a whole; a single silence may not.
    ClientOptions::new()
        .with_connect_timeout(CONNECT_MAX)
        .with_read_timeout(READ_MAX)
        .with_timeout_disabled()
}

/// An object is missing only if the store itself says so. A missing bucket, or a proxy that finds no
/// store, proves nothing about the object.
fn trouble(error: Error) -> ReadError {
    let text = error.to_string();
    let told = ["<Code>NoSuchKey</Code>", "<Code>BlobNotFound</Code>"];
    match error {
        Error::NotFound { .. } if told.iter().any(|told| text.contains(told)) => {
            ReadError::NotFound
        }
        _ => ReadError::Unavailable(without_queries(&text.replace('\n', " "))),
    }
}

/// An address may carry a signature behind its question mark.
pub(super) fn without_queries(text: &str) -> String {
    let words = text.split(' ').map(|word| match word.split_once('?') {
        Some((address, query)) if address.contains("://") => {
            let end = query.find(|letter: char| "\"')>".contains(letter));
            format!("{address}?...{}", end.map_or("", |end| &query[end..]))
        }
        _ => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

fn without_values(text: String, options: &[(String, String)]) -> String {
    let values = options.iter().map(|(_, value)| value).filter(|value| !value.is_empty());
    values.fold(text, |text, value| text.replace(value.as_str(), "..."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(options: &[(&str, &str)]) -> String {
        crate::tests::install_tls_provider();
        let options: Vec<_> = options.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
        let address = Address { cloud: Cloud::S3, bucket: "judge", prefix: "" };
        Bucket::new(address, &options).err().expect("it is refused")
    }

    #[test]
    fn an_unknown_option_is_named_and_a_value_never_told() {
        let told = refused(&[("endpiont", "hush-hush")]);
        assert!(told.contains("`options.endpiont`") && told.contains("endpoint"), "{told}");
        let told = refused(&[("allow_http", "hush-hush")]);
        assert!(!told.contains("hush"), "{told}");
    }

    #[test]
    fn a_signature_is_not_told() {
        let told = without_queries("GET http://a/b?sig=hush in 3 s: (http://a?sig=hush) failed?");
        assert_eq!(told, "GET http://a/b?... in 3 s: (http://a?...) failed?");
    }

    #[test]
    fn chunks_fit_into_messages() {
        let whole = Bytes::from(vec![7; assay_wire::CHUNK_BYTES * 2 + 1]);
        let lengths: Vec<usize> =
            cut(whole).map(|chunk: Result<_, ()>| chunk.expect("a chunk").len()).collect();
        assert_eq!(lengths, [assay_wire::CHUNK_BYTES, assay_wire::CHUNK_BYTES, 1]);
    }

    #[test]
    fn only_what_may_stand_in_a_header_is_asked_for() {
        assert!(is_tag("\"a1b2\"") && is_tag("W/\"x\""));
        assert_eq!(known_tag("tag:7:\"a:b\""), Some((7, "\"a:b\"")));
        assert!(!is_tag("a\r\nb") && !is_tag("\u{e9}") && !is_tag(&"x".repeat(600)));
    }
}
