//! Names, and folders with whatever may lie in them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::*;
use crate::folder;

fn turn() -> ReadPermit {
    Arc::new(())
}

async fn fetch(folder: &Path, path: &str, known: &str) -> Result<Content, ReadError> {
    folder::Folder::new(folder.to_owned()).fetch(path, known, turn()).await
}

/// The version and the bytes.
async fn whole(folder: &Path, path: &str) -> (String, Vec<u8>) {
    let content = fetch(folder, path, "").await.unwrap_or_else(|error| panic!("{path}: {error:?}"));
    let Content { version, size, chunks } = content;
    let mut chunks = chunks.expect("is new");
    let mut bytes = Vec::new();
    while let Some(chunk) = chunks.next().await {
        bytes.extend(chunk.expect("is read"));
    }
    assert_eq!(bytes.len() as u64, size);
    (version, bytes)
}

fn is_absent(content: Result<Content, ReadError>) -> bool {
    matches!(content, Err(ReadError::NotFound))
}

async fn names(folder: &Path, path: &str) -> Vec<String> {
    let listed = folder::Folder::new(folder.to_owned()).list(path, turn()).await;
    let mut names = listed.expect("is listed");
    names.sort();
    names
}

#[test]
fn names_are_a_root_and_a_plain_path() {
    assert_eq!(split("judge/a/b"), ("judge", "a/b"));
    assert_eq!(split("judge"), ("judge", ""));
    for path in ["a", "a/b.txt", "..a/b..", "\u{e4}/ \u{1f600}", ".hidden"] {
        assert_eq!(check_path(path), Ok(()), "{path}");
    }
    let long = "x".repeat(2_000);
    for path in ["", "/a", "a/", "a//b", ".", "..", "a/../b", "a/./b", "a\0b", "a\\..\\b", &long] {
        assert!(check_path(path).is_err(), "{path}");
    }
}

#[tokio::test]
async fn a_file_is_read_whole_and_its_version_changes_with_it() {
    let root = tempfile::tempdir().expect("a folder");
    fs::create_dir(root.path().join("a")).expect("makes");
    let large: Vec<u8> = (0..assay_wire::CHUNK_BYTES * 2 + 77).map(|i| i as u8).collect();
    fs::write(root.path().join("a/large"), &large).expect("writes");
    let (first, bytes) = whole(root.path(), "a/large").await;
    assert_eq!(bytes, large);

    // Written a moment ago: that it is the same cannot be told from its times.
    assert!(fetch(root.path(), "a/large", &first).await.expect("is there").chunks.is_some());
    fs::write(root.path().join("a/large"), b"other").expect("writes");
    let (second, bytes) = whole(root.path(), "a/large").await;
    assert_eq!(bytes, b"other");
    assert_ne!(first, second);
    assert!(is_absent(fetch(root.path(), "a", "").await), "a folder is no object");
    assert!(is_absent(fetch(root.path(), "a/large/b", "").await));
    assert!(is_absent(fetch(root.path(), "nope", "").await));
}

#[tokio::test]
async fn a_file_that_rests_is_sent_once() {
    // A file of the machine, and as old.
    let (folder, name) = (Path::new("/etc"), "passwd");
    let first = fetch(folder, name, "").await.expect("is there");
    assert!(first.chunks.is_some());
    let again = fetch(folder, name, &first.version).await.expect("is there");
    assert!(again.chunks.is_none());
    assert_eq!((again.version, again.size), (first.version, first.size));
}

#[tokio::test]
async fn a_file_that_grows_or_shrinks_while_it_is_read_is_not_taken() {
    let root = tempfile::tempdir().expect("a folder");
    let file = root.path().join("file");
    for after in ["longer than before", "short"] {
        fs::write(&file, b"as it was").expect("writes");
        let content = fetch(root.path(), "file", "").await.expect("is there");
        let mut chunks = content.chunks.expect("is new");
        fs::write(&file, after).expect("writes");
        let chunk = chunks.next().await.expect("something comes");
        assert!(matches!(chunk, Err(ReadError::Unavailable(_))), "{chunk:?}");
    }
}

#[tokio::test]
async fn no_link_leads_out() {
    let outside = tempfile::tempdir().expect("a folder");
    fs::write(outside.path().join("secret"), b"secret").expect("writes");
    let root = tempfile::tempdir().expect("a folder");
    let path = |name: &str| root.path().join(name);
    fs::create_dir_all(path("v3/deep")).expect("makes");
    fs::write(path("v3/deep/file"), b"inside").expect("writes");
    symlink("v3", path("latest")).expect("links");
    symlink("v3/deep/file", path("direct")).expect("links");
    symlink("../..", path("v3/deep/circle")).expect("links");
    let relative = format!("../{}", outside.path().file_name().expect("named").display());
    for (name, target) in [
        ("file_out", outside.path().join("secret")),
        ("folder_out", outside.path().to_owned()),
        ("relative_out", relative.into()),
        ("proc_out", "/proc/self/root/etc/passwd".into()),
        ("absolute_in", path("v3/deep/file")),
        ("nowhere", "gone".into()),
    ] {
        symlink(target, path(name)).expect("links");
    }
    assert_eq!(whole(root.path(), "latest/deep/file").await.1, b"inside");
    assert_eq!(whole(root.path(), "direct").await.1, b"inside");
    for name in ["file_out", "folder_out/secret", "relative_out/secret", "proc_out", "absolute_in"]
    {
        assert!(is_absent(fetch(root.path(), name, "").await), "{name}");
    }
    assert!(is_absent(fetch(root.path(), "nowhere", "").await));
    assert_eq!(names(root.path(), "").await, ["direct", "v3/deep/file"]);
    assert_eq!(names(root.path(), "latest").await, ["latest/deep/file"]);
    assert_eq!(names(root.path(), "folder_out").await, [""; 0]);
}

#[tokio::test]
async fn a_pipe_holds_nobody_up() {
    let root = tempfile::tempdir().expect("a folder");
    let pipe = root.path().join("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).expect("makes a pipe");
    assert!(is_absent(fetch(root.path(), "pipe", "").await));
    assert_eq!(names(root.path(), "").await, [""; 0]);
}

#[tokio::test]
async fn a_root_that_is_gone_is_unavailable_and_not_empty() {
    let root = tempfile::tempdir().expect("a folder");
    let gone = root.path().join("gone");
    let fetched = fetch(&gone, "a", "").await;
    assert!(matches!(fetched, Err(ReadError::Unavailable(_))));
    let listed = folder::Folder::new(gone).list("", turn()).await;
    assert!(matches!(listed, Err(ReadError::Unavailable(_))));
}

#[tokio::test]
async fn a_listing_has_an_end() {
    let root = tempfile::tempdir().expect("a folder");
    for number in 0..=limits::OBJECT_NAMES_MAX {
        fs::File::create(root.path().join(number.to_string())).expect("makes");
    }
    let listed = folder::Folder::new(root.path().to_owned()).list("", turn()).await;
    assert!(matches!(listed, Err(ReadError::TooMany)));
    fs::remove_file(root.path().join("0")).expect("removes");
    assert_eq!(names(root.path(), "").await.len(), limits::OBJECT_NAMES_MAX);
}
