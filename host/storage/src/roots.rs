//! The file that names storage roots, read once at the start.
//!
//! ```toml
//! [roots.judge]
//! url = "s3://bucket/prefix"                # or file:///folder, gs://bucket, az://container
//! tenants = ["demo"]                        # or ["*"], for all
//! [roots.judge.options]                     # of object_store; none for a folder
//! region = "eu-central-1"
//! access_key_id = "env:JUDGE_KEY_ID"        # read from the environment
//! secret_access_key = "env:JUDGE_KEY"
//!
//! [objects]                                 # where the server keeps its own objects, if not in its data folder
//! url = "s3://bucket/prefix"
//! [objects.options]
//! ```
//!
//! Options hold secrets, so no option's value is ever shown, not even in an error.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail, ensure};
use assay_core::limits;
use assay_core::plugin::check_name;
use parking_lot::Mutex;
use toml::{Table, Value};

use crate::blob::Blobs;
use crate::bucket::{Address, Bucket, Cloud, connect};
use crate::folder::Folder;
use crate::name::check_path;
use crate::root::{Location, Root};

const FROM_ENVIRONMENT: &str = "env:";
const URLS: &str = "write file:///folder, s3://bucket/prefix, gs://bucket/prefix or \
                    az://container/prefix";

/// The whole file; empty if none was given.
#[derive(Debug, Clone, Default)]
pub struct StorageFile {
    pub roots: Roots,
    /// Where the server keeps its own objects, if not in its data folder.
    pub objects: Option<Blobs>,
}

/// All roots of a server.
#[derive(Debug, Clone, Default)]
pub struct Roots {
    by_name: BTreeMap<String, Arc<Root>>,
}

impl StorageFile {
    /// Errors name the root and the key, and say what to do.
    pub fn read(file: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("reading the storage file {}", file.display()))?;
        let environment = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        Self::parse(&text, environment)
            .with_context(|| format!("in the storage file {}", file.display()))
    }

    fn parse(text: &str, environment: impl Fn(&str) -> Option<String>) -> anyhow::Result<Self> {
        let mut file: Table = text.parse().map_err(|error| syntax(text, &error))?;
        let (roots, objects) = (file.remove("roots"), file.remove("objects"));
        if let Some(key) = file.keys().next() {
            bail!("there is no key `{key}`; a root is a table of its own, `[roots.{key}]`");
        }
        let objects = objects.map(|objects| own_objects(objects, &environment)).transpose();
        let objects = objects.context("`[objects]`")?;
        let roots = match roots {
            None => Table::new(),
            Some(Value::Table(roots)) => roots,
            Some(_) => bail!("`roots` holds tables, such as `[roots.judge]`"),
        };
        let count = roots.len();
        let max = limits::STORAGE_ROOTS_MAX;
        ensure!(count <= max, "there are {count} storage roots, the limit is {max}");
        let mut by_name = BTreeMap::new();
        for (name, root) in roots {
            let read = Root::parse(&name, root, &environment);
            let read = read.with_context(|| format!("storage root `{name}`"))?;
            by_name.insert(name, Arc::new(read));
        }
        Ok(Self { roots: Roots { by_name }, objects })
    }
}

impl Roots {
    #[must_use]
    pub fn find(&self, name: &str) -> Option<Arc<Root>> {
        self.by_name.get(name).map(Arc::clone)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Root> {
        self.by_name.values().map(AsRef::as_ref)
    }
}

/// The line number and the reason. The parser's own text would show the line with its secrets.
fn syntax(text: &str, error: &toml::de::Error) -> anyhow::Error {
    let before = error.span().and_then(|span| text.get(..span.start));
    let line = before.map_or(1, |before| before.matches('\n').count() + 1);
    let what = error.message().lines().next().unwrap_or_default();
    anyhow::anyhow!("line {line} is no TOML: {what}")
}

impl Root {
    fn parse(
        name: &str,
        root: Value,
        environment: &impl Fn(&str) -> Option<String>,
    ) -> anyhow::Result<Self> {
        check_name("storage root", name, limits::PLUGIN_NAME_BYTES_MAX)
            .map_err(anyhow::Error::msg)?;
        let Value::Table(mut root) = root else { bail!("it is no table") };
        let (url, tenants, options) =
            (root.remove("url"), root.remove("tenants"), root.remove("options"));
        if let Some(key) = root.keys().next() {
            bail!("there is no key `{key}`; there are `url`, `tenants` and `options`");
        }
        let Some(Value::String(url)) = url else { bail!("`url` must be a text: {URLS}") };
        let tenants = names(tenants).context(
            "`tenants` must be a list of tenants' names, or [\"*\"] to grant it to all of them",
        )?;
        let options = read_options(options, environment)?;
        let (kind, place) = match address(&url, &options)? {
            Place::Folder(folder) => ("folder", Location::Folder(Folder::new(folder))),
            Place::Bucket(address) => {
                let bucket = Bucket::new(address, &options).map_err(anyhow::Error::msg)?;
                (address.cloud.as_str(), Location::Bucket(bucket))
            }
        };
        let (name, told) = (name.to_owned(), Mutex::default());
        Ok(Self { name, url, tenants, kind, place, told })
    }
}

fn names(list: Option<Value>) -> Option<Vec<String>> {
    let Some(Value::Array(list)) = list else { return None };
    let names = list.into_iter().map(|name| match name {
        Value::String(name) if !name.is_empty() => Some(name),
        _ => None,
    });
    names.collect()
}

/// The table `[objects]`.
fn own_objects(
    table: Value,
    environment: &impl Fn(&str) -> Option<String>,
) -> anyhow::Result<Blobs> {
    let Value::Table(mut table) = table else { bail!("it is no table") };
    let (url, options) = (table.remove("url"), table.remove("options"));
    if let Some(key) = table.keys().next() {
        bail!("there is no key `{key}`; there are `url` and `options`");
    }
    let Some(Value::String(url)) = url else { bail!("`url` must be a text: {URLS}") };
    let options = read_options(options, environment)?;
    match address(&url, &options)? {
        Place::Folder(folder) => Ok(Blobs::in_folder(&folder)?),
        Place::Bucket(Address { cloud, bucket, prefix }) => {
            let store = connect(cloud, bucket, &options).map_err(anyhow::Error::msg)?;
            Ok(Blobs::in_bucket(store, prefix, &url))
        }
    }
}

fn read_options(
    options: Option<Value>,
    environment: &impl Fn(&str) -> Option<String>,
) -> anyhow::Result<Vec<(String, String)>> {
    let options = match options {
        None => return Ok(Vec::new()),
        Some(Value::Table(options)) => options,
        Some(_) => bail!("`options` must be a table"),
    };
    let options = options.into_iter().map(|(key, value)| {
        let value = match value {
            Value::String(text) => text,
            Value::Boolean(truth) => truth.to_string(),
            Value::Integer(number) => number.to_string(),
            _ => bail!("`options.{key}` must be a text"),
        };
        match value.strip_prefix(FROM_ENVIRONMENT) {
            None => Ok((key, value)),
            Some(variable) => match environment(variable) {
                Some(value) => Ok((key, value)),
                None => bail!("`options.{key}` is read from {variable}, which is not set"),
            },
        }
    });
    options.collect()
}

/// The folder or bucket of a URL.
enum Place<'a> {
    Folder(PathBuf),
    Bucket(Address<'a>),
}

fn address<'a>(url: &'a str, options: &[(String, String)]) -> anyhow::Result<Place<'a>> {
    // The URL is shown, so it must hold no credentials.
    ensure!(
        !url.contains(['?', '#', '@']),
        "`url` must hold no credentials and no parameters: they are `options`"
    );
    let (scheme, rest) = url.split_once("://").with_context(|| format!("`url` is none: {URLS}"))?;
    if scheme == "file" {
        ensure!(options.is_empty(), "a folder has no `options`");
        return Ok(Place::Folder(folder(rest)?));
    }
    let cloud = Cloud::of_scheme(scheme)
        .with_context(|| format!("`url` begins with {scheme}://, which is not known: {URLS}"))?;
    let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    let prefix = prefix.strip_suffix('/').unwrap_or(prefix);
    ensure!(!bucket.is_empty(), "`url` names no bucket: {URLS}");
    if !prefix.is_empty() {
        check_path(prefix).map_err(anyhow::Error::msg).context("`url` has a bad prefix")?;
    }
    let is = |wanted: &str, begins: &str| {
        options.iter().any(|(key, value)| key == wanted && value.starts_with(begins))
    };
    ensure!(
        !is("endpoint", "http://") || is("allow_http", "true"),
        "`options.endpoint` is not encrypted; give `allow_http = true` beside it if that is meant"
    );
    Ok(Place::Bucket(Address { cloud, bucket, prefix }))
}

/// The folder must exist now: a typing error is likelier than a folder that is mounted later.
fn folder(path: &str) -> anyhow::Result<PathBuf> {
    let path = PathBuf::from(path);
    ensure!(path.is_absolute(), "`url` must be absolute, such as file:///srv/judge");
    ensure!(
        path.is_dir(),
        "`url` names {}, which is not a folder: make or mount it",
        path.display()
    );
    Ok(path)
}

#[cfg(test)]
mod tests {
    use crate::*;

    fn parse(text: &str) -> anyhow::Result<Roots> {
        file(text).map(|file| file.roots)
    }

    fn file(text: &str) -> anyhow::Result<StorageFile> {
        crate::tests::install_tls_provider();
        StorageFile::parse(text, |name| (name == "SECRET").then(|| "hush-hush".to_owned()))
    }

    #[test]
    fn roots_are_read() {
        let roots = parse(
            r#"
            [roots.judge]
            url = "file:///tmp"
            tenants = ["demo", "other"]
            [roots.s3]
            url = "s3://bucket/some/prefix/"
            tenants = ["*"]
            options = { endpoint = "http://127.0.0.1:9", allow_http = true, region = "x", access_key_id = "a", secret_access_key = "env:SECRET" }
            [roots.gs]
            url = "gs://bucket"
            tenants = []
            options = { skip_signature = "true" }
            [roots.az]
            url = "az://container/x"
            tenants = ["a"]
            options = { account_name = "a", account_key = "aHVzaA==" }
            "#,
        )
        .expect("all is well");
        let shown: Vec<String> = roots.iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [
                "storage root `az` is az://container/x, for a",
                "storage root `gs` is gs://bucket, for nobody",
                "storage root `judge` is file:///tmp, for demo, other",
                "storage root `s3` is s3://bucket/some/prefix/, for all tenants",
            ]
        );
        assert!(!format!("{roots:?}").contains("hush"), "a secret is shown");
        let granted = |root: &str, tenant| roots.find(root).expect("is there").is_granted(tenant);
        assert!(granted("judge", "demo") && !granted("judge", "dem") && granted("s3", "anybody"));
        assert!(!granted("gs", "demo") && roots.find("nope").is_none());
        assert!(parse("").expect("no roots").iter().next().is_none());
    }

    #[test]
    fn the_servers_own_objects_have_a_place() {
        let place =
            |text: &str| file(text).expect("it is well").objects.map(|it| it.place().to_owned());
        assert_eq!(place(""), None);
        let bucket = "[objects]\nurl = 's3://b/assay'\noptions = { region = 'x', access_key_id = 'a', secret_access_key = 'env:SECRET' }";
        assert_eq!(place(bucket).as_deref(), Some("s3://b/assay"));
        assert!(!format!("{:?}", file(bucket).expect("it is well")).contains("hush"));
        for (text, expected) in [
            ("objects = 3", "`[objects]`: it is no table"),
            (
                "[objects]\nurl = 's3://b'\ntenants = ['*']",
                "`[objects]`: there is no key `tenants`",
            ),
            ("[objects]", "`[objects]`: `url` must be a text"),
            ("[objects]\nurl = 'file:///nowhere/at/all'", "which is not a folder"),
        ] {
            let told = format!("{:#}", file(text).expect_err("it is refused"));
            assert!(told.contains(expected), "{text}\n{told}");
        }
    }

    #[test]
    fn errors_name_the_root_and_the_key_and_no_value() {
        let root = |rest: &str| format!("[roots.judge]\ntenants = [\"demo\"]\n{rest}");
        for (text, expected) in [
            ("[judge]\nurl = 1".to_owned(), "`[roots.judge]`"),
            ("roots = 3".into(), "`roots` holds tables"),
            ("[roots.Judge]".into(), "storage root `Judge`"),
            (root(""), "storage root `judge`: `url` must be a text"),
            (root("url = \"/srv/judge\""), "`url` is none: write file:///folder"),
            (root("url = \"ftp://x/y\""), "begins with ftp://, which is not known"),
            (root("url = \"file://judge\""), "must be absolute"),
            (root("url = \"file:///nowhere/at/all\""), "/nowhere/at/all, which is not a folder"),
            (root("url = \"s3://key:hush@bucket\""), "no credentials"),
            (root("url = \"s3://bucket/../x\""), "bad prefix"),
            (root("url = \"s3://\""), "names no bucket"),
            (
                root("url = \"file:///tmp\"\ntenant = \"hush\""),
                "there is no key `tenant`; there are",
            ),
            (root("url = \"s3://b\"\noptions = \"hush\""), "`options` must be a table"),
            (
                root("url = \"s3://b\"\noptions.region = [\"hush\"]"),
                "`options.region` must be a text",
            ),
            (
                root("url = \"s3://b\"\noptions.token = \"env:HUSH_NOT\""),
                "`options.token` is read from",
            ),
            (root("url = \"s3://b\"\noptions.x = \"hush\""), "`options.x` is not known"),
            (root("url = \"s3://b\"\noptions.endpoint = \"http://hush\""), "`allow_http = true`"),
            (root("url = \"file:///tmp\"\noptions.x = \"hush\""), "a folder has no `options`"),
            (root("url = \"file:///tmp\"\noptions.key = \"hush"), "line 4 is no TOML"),
            ("[roots.judge]\nurl = \"file:///tmp\"".into(), "`tenants` must be a list"),
            ("[roots.judge]\nurl = \"file:///tmp\"\ntenants = \"*\"".into(), "[\"*\"] to grant"),
        ] {
            let told = format!("{:#}", parse(&text).expect_err("it is refused"));
            assert!(told.contains(expected), "{text}\n{told}");
            assert!(!told.contains("hush"), "{text}\n{told}");
        }
    }
}
