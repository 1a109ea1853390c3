//! Puts the dashboard into the server: a table of what lies in `web/dist`, each file as it is and
//! compressed, which `src/dashboard.rs` includes. Where nothing was built the table is empty and
//! the server says so. Never builds the dashboard itself: a server is built without Node.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{env, fs, io};

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

/// `web/index.html` has it; the server writes a nonce between the quotes.
const PLACE_OF_NONCE: &str = r#"<meta name="csp-nonce" content=""#;

fn main() -> io::Result<()> {
    let variable = |name| PathBuf::from(env::var_os(name).expect("cargo sets it"));
    let built = variable("CARGO_MANIFEST_DIR").join("../../web/dist");
    make_watchable(&built);
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", built.display());

    let mut files = Vec::new();
    // A folder that is half written has no page yet.
    if built.join("index.html").is_file() {
        find(&built, &mut files)?;
        check_page(&fs::read_to_string(built.join("index.html"))?);
    }
    files.sort();
    let out = variable("OUT_DIR");
    let mut table = String::from("&[\n");
    for (number, file) in files.iter().enumerate() {
        let name = file.strip_prefix(&built).expect("was found in there");
        let name = name.to_str().expect("the build makes plain names");
        table += &entry(name, &fs::read(file)?, &out.join(format!("file-{number}")))?;
    }
    table += "]\n";
    fs::write(out.join("dashboard.rs"), table)
}

/// Cargo runs this each time while what it watches is missing, and compiles the server anew each time:
/// so there is a folder, and an old one. Sources that cannot be written are built all the same.
fn make_watchable(folder: &Path) {
    if folder.parent().is_some_and(Path::is_dir) && fs::create_dir(folder).is_ok() {
        let _ = fs::File::open(folder).and_then(|made| made.set_modified(SystemTime::UNIX_EPOCH));
    }
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

fn check_page(page: &str) {
    assert!(
        page.contains(PLACE_OF_NONCE),
        "web/dist/index.html has no `{PLACE_OF_NONCE}\"`, without which its styles are refused"
    );
}

/// One line of the table; the bytes are copied, as the folder may change while the server compiles.
fn entry(name: &str, bytes: &[u8], copy: &Path) -> io::Result<String> {
    fs::write(copy, bytes)?;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    let compressed = encoder.finish()?;
    let gzip = if compressed.len() < bytes.len() {
        let file = copy.with_extension("gz");
        fs::write(&file, compressed)?;
        format!("Some(include_bytes!({file:?}))")
    } else {
        "None".to_owned()
    };
    let digest = hex::encode(&Sha256::digest(bytes)[..16]);
    let mut line = String::new();
    writeln!(
        line,
        "File {{ path: {path:?}, digest: {digest:?}, bytes: include_bytes!({copy:?}), gzip: {gzip} }},",
        path = format!("/{name}"),
    )
    .expect("a text takes text");
    Ok(line)
}
