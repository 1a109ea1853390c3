//! A private cluster on this machine's real PostgreSQL: kept data, crashes, locks, adoption.

use std::{
    fs,
    io::ErrorKind,
    os::unix::fs::{MetadataExt, PermissionsExt},
    time::{Duration, Instant},
};

use crate::machine::{Disk, folder, is_root, psql, query, refusal, runs, send, start, wait_for};
use nix::sys::signal::Signal;
use tokio::process::Command;

#[tokio::test]
async fn data_outlives_a_stop() {
    let folder = folder();
    let data = folder.path().join("made/for us");
    let began = Instant::now();
    let cluster = start(&data).await;
    println!("ready from nothing in {:?}", began.elapsed());
    query(&cluster, "create table kept (word text); insert into kept values ('été')").await;
    let first = cluster.pid().unwrap();
    let url = cluster.url().to_owned();
    cluster.stop().await;
    assert!(!runs(first));

    let began = Instant::now();
    let cluster = start(&data).await;
    println!("ready again in {:?}", began.elapsed());
    assert_eq!(query(&cluster, "select word from kept").await, "été");
    assert_eq!(cluster.url(), url);
    let began = Instant::now();
    cluster.stop().await;
    println!("stopped in {:?}", began.elapsed());
}

#[tokio::test]
async fn commits_are_durable_and_nobody_else_connects() {
    let folder = folder();
    let cluster = start(folder.path()).await;
    for (setting, value) in [
        ("fsync", "on"),
        ("synchronous_commit", "on"),
        ("full_page_writes", "on"),
        ("listen_addresses", ""),
        ("shared_buffers", "256MB"),
        ("max_wal_size", "4GB"),
        ("checkpoint_timeout", "15min"),
        ("jit", "off"),
        ("autovacuum", "on"),
        ("server_encoding", "UTF8"),
    ] {
        assert_eq!(query(&cluster, &format!("show {setting}")).await, value, "{setting}");
    }
    let collation = "select datcollate from pg_database where datname = current_database()";
    assert_eq!(query(&cluster, collation).await, "C");
    assert_eq!(
        query(&cluster, "select current_user || '@' || current_database()").await,
        "assay@assay"
    );
    let home = fs::metadata(folder.path().join("postgres")).unwrap();
    assert_eq!(home.mode() & 0o777, 0o700);
    assert_ne!(home.uid(), 0, "PostgreSQL never runs as root");
    cluster.stop().await;
}

#[tokio::test]
async fn a_killed_postmaster_is_replaced() {
    let folder = folder();
    let cluster = start(folder.path()).await;
    query(&cluster, "create table kept (n int); insert into kept select generate_series(1, 1000)")
        .await;
    let first = cluster.pid().unwrap();
    // A busy backend does not notice that its postmaster is gone, and holds the shared memory.
    let spin = "set application_name = 'spin'; do $$ begin loop end loop; end $$";
    let mut spinning = psql(&cluster).args(["--command", spin]).spawn().unwrap();
    let count = "select count(*) from pg_stat_activity where application_name = 'spin'";
    while query(&cluster, count).await == "0" {}
    send(first, Signal::SIGKILL);
    let second = wait_for("a new postmaster", || cluster.pid().filter(|pid| *pid != first)).await;
    assert!(!runs(first) && runs(second));
    assert!(!spinning.wait().await.unwrap().success(), "its session is cut");
    assert_eq!(query(&cluster, "select count(*), sum(n) from kept").await, "1000|500500");
    cluster.stop().await;
    assert!(!runs(second));
}

#[tokio::test]
async fn a_server_that_cannot_start_is_given_up_with_its_reason() {
    let folder = folder();
    let cluster = start(folder.path()).await;
    fs::remove_file(folder.path().join("postgres/cluster/global/pg_control")).unwrap();
    send(cluster.pid().unwrap(), Signal::SIGKILL);
    let text = cluster.failed().await.to_string();
    assert!(text.contains("could not be kept running") && text.contains("pg_control"), "{text}");
    assert_eq!(cluster.pid(), None);
    cluster.stop().await;
}

/// A start fails more often than is enough to give up, then there is room again.
#[tokio::test]
async fn a_full_disk_is_waited_for() {
    let folder = folder();
    let Some(disk) = Disk::mount(folder.path(), "size=256m,mode=0711") else {
        return eprintln!("skipped: only root mounts a small disk");
    };
    let cluster = start(folder.path()).await;
    query(&cluster, "create table kept (n int); insert into kept values (7)").await;
    let filler = folder.path().join("filler");
    let full = std::io::copy(&mut std::io::repeat(1), &mut fs::File::create(&filler).unwrap());
    assert_eq!(full.unwrap_err().kind(), ErrorKind::StorageFull);
    // Whether PostgreSQL itself needs room to start depends on where it was killed, so that this makes it fail.
    let control = folder.path().join("postgres/cluster/global/pg_control");
    let away = control.with_extension("away");
    fs::rename(&control, &away).unwrap();
    send(cluster.pid().unwrap(), Signal::SIGKILL);
    wait_for("the end", || cluster.pid().is_none().then_some(())).await;
    // By then eight attempts would have failed: the pauses between them double from a tenth of a second to five.
    let given_up = tokio::time::timeout(Duration::from_secs(20), cluster.failed()).await;
    assert!(given_up.is_err(), "{given_up:?}");
    assert_eq!(cluster.pid(), None);
    fs::rename(&away, &control).unwrap();
    fs::remove_file(&filler).unwrap();
    wait_for("a new postmaster", || cluster.pid()).await;
    assert_eq!(query(&cluster, "select n from kept").await, "7");
    cluster.stop().await;
    drop(disk);
}

#[tokio::test]
async fn a_folder_has_one_owner() {
    let folder = folder();
    let cluster = start(folder.path()).await;
    let text = refusal(folder.path()).await;
    assert!(text.contains(&format!("(process {})", std::process::id())), "{text}");
    cluster.stop().await;
    start(folder.path()).await.stop().await;
}

#[tokio::test]
async fn clusters_leave_each_other_alone() {
    let (one, other) = (folder(), folder());
    let (one, other) = tokio::join!(start(one.path()), start(other.path()));
    query(&other, "create table only_here (n int)").await;
    let untouched = other.pid();
    let first = one.pid().unwrap();
    send(first, Signal::SIGKILL);
    wait_for("a new postmaster", || one.pid().filter(|pid| *pid != first)).await;
    assert_eq!(other.pid(), untouched);
    assert_eq!(query(&one, "select count(*) from pg_class where relname = 'only_here'").await, "0");
    assert_eq!(query(&other, "select count(*) from only_here").await, "0");
    one.stop().await;
    assert_eq!(query(&other, "select count(*) from only_here").await, "0");
    other.stop().await;
}

#[tokio::test]
async fn a_long_path_moves_the_socket() {
    let folder = folder();
    let data = folder.path().join("x".repeat(100)).join("y".repeat(100));
    let cluster = start(&data).await;
    assert!(cluster.url().contains("host=/tmp/assay-"), "{}", cluster.url());
    assert_eq!(query(&cluster, "select 1").await, "1");
    let socket = cluster.url().split_once("host=").unwrap().1.split_once('&').unwrap().0.to_owned();
    assert_eq!(fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o700);
    cluster.stop().await;
    assert!(!fs::exists(&socket).unwrap(), "nothing stays outside the data folder");

    // Whoever laid the folder there first could otherwise listen in.
    fs::create_dir(&socket).unwrap();
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o777)).unwrap();
    let text = refusal(&data).await;
    assert!(text.contains(&socket) && text.contains("0700"), "{text}");
    fs::remove_dir_all(socket).unwrap();
}

#[tokio::test]
async fn leftovers_of_a_crash_do_not_matter() {
    let folder = folder();
    let home = folder.path().join("postgres");
    fs::create_dir_all(home.join("cluster.new/half")).unwrap();
    let cluster = start(folder.path()).await;
    let pid_file = fs::read_to_string(home.join("cluster/postmaster.pid")).unwrap();
    let pid = cluster.pid().unwrap();
    cluster.stop().await;

    // The crashed server's id now belongs to another process of the same user.
    let uid = fs::metadata(home.join("cluster")).unwrap().uid();
    let mut stranger =
        Command::new("cat").uid(uid).stdin(std::process::Stdio::piped()).spawn().unwrap();
    let stranger_pid = stranger.id().unwrap();
    let text = pid_file.replacen(&pid.to_string(), &stranger_pid.to_string(), 1);
    fs::write(home.join("cluster/postmaster.pid"), text).unwrap();
    let cluster = start(folder.path()).await;
    assert_eq!(query(&cluster, "select 1").await, "1");
    assert!(runs(stranger_pid), "strangers are left alone");
    drop(stranger.stdin.take());
    stranger.wait().await.unwrap();
    cluster.stop().await;
}

#[tokio::test]
async fn another_versions_cluster_is_refused() {
    let folder = folder();
    start(folder.path()).await.stop().await;
    fs::write(folder.path().join("postgres/cluster/PG_VERSION"), "13\n").unwrap();
    let text = refusal(folder.path()).await;
    assert!(text.contains("made by PostgreSQL 13") && text.contains("pg_upgrade"), "{text}");
}

#[tokio::test]
async fn a_closed_folder_is_named() {
    if !is_root() {
        println!("SKIPPED: only root's server runs as another user");
        return;
    }
    let folder = folder();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let text = refusal(&folder.path().join("data")).await;
    assert!(text.contains(&format!("chmod o+x {}`", folder.path().display())), "{text}");
}
