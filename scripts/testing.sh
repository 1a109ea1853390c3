# The parts that the scripts that run tests share; they source it at the root of the checkout.
#
# Makes a folder `scratch`, which its user deletes.

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target" || exit 1
# In memory where there is plenty: hundreds of databases are made and dropped there, and file systems without a journal
# keep the numbers of deleted files for a while, and look at each of them for every file that is made.
memory=/dev/shm
room_kib_min=8000000
if [ "$(df --output=avail "$memory" 2>/dev/null | tail -n 1)" -ge "$room_kib_min" ] 2>/dev/null &&
    ! findmnt --noheadings --output OPTIONS "$memory" | grep -q noexec; then
    scratch=$(mktemp -d -p "$memory" assay-XXXXXX)
else
    scratch=$(mktemp -d)
fi
# Others pass through it.
chmod 711 "$scratch"
# Data of servers, databases and browsers. Short, as the paths of sockets in it have room for 107 bytes.
mkdir -m 1777 "$scratch/t"
export TMPDIR=$scratch/t
export SQLX_OFFLINE=true
# Where cargo-nextest tells about its tests.
# Its store lies in the checkout, whatever CARGO_TARGET_DIR says.
report=target/nextest/default/junit.xml
# End-to-end tests wait more than they compute, so that more of them run than there are cores.
export NEXTEST_TEST_THREADS=${NEXTEST_TEST_THREADS:-$(($(nproc) + 3))}

# Built as they are linted: Clippy's driver is the compiler, so that nothing is read twice and the packages
# of others are compiled once. The guests are programs for the sandbox alone; they do not link here.
linted=(--config 'build.rustc-workspace-wrapper="clippy-driver"' --workspace --exclude assay-guests)

has_nextest() { cargo nextest --version >/dev/null 2>&1; }

# Some hundred servers are started; what is costly for each is done once for all of them.
install_caches() {
    local postgres
    # The doctor fails where anything is missing, also a server or a database that was named for other uses.
    postgres=$(env -u ASSAY_URL -u DATABASE_URL "$target/debug/assay" doctor |
        sed -n 's/^ok *PostgreSQL *version [0-9]* in //p') || true
    [ -z "$postgres" ] || ASSAY_POSTGRES_BIN=$(scripts/caching-postgres.sh "$scratch/postgres" "$postgres")
    ASSAY_WORKER_PROGRAM=$(realpath "$target/debug/assay-caching-worker")
    export ASSAY_POSTGRES_BIN ASSAY_WORKER_PROGRAM
}

# Most servers under test need a database and no PostgreSQL of their own. Ends with this shell.
share_postgres() {
    mkfifo "$scratch/address"
    scripts/shared-postgres.sh "$scratch/shared" >"$scratch/address" 2>"$scratch/shared.log" &
    # Nothing is read where it ended instead.
    if read -r ASSAY_TEST_DATABASE_URL <"$scratch/address"; then
        export ASSAY_TEST_DATABASE_URL
    else
        cat "$scratch/shared.log" >&2
    fi
}
