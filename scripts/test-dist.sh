#!/usr/bin/env bash
# Tries what `make dist` packs in two fresh Debian 12 systems without Rust, Node or PostgreSQL: one installs the
# package with apt, the other unpacks the archive. Both must score the sample. `make test-dist` runs it, as root,
# with Debian's packages from the network (some minutes); it is no part of `make test`.
#
# The first system is kept as target/dist-test/bookworm.tar.
set -euo pipefail
cd "$(dirname "$0")/.."

[ "$(id -u)" = 0 ] || { echo 'test-dist: chroots need root' >&2; exit 1; }
target=$(realpath "${CARGO_TARGET_DIR:-target}")
dist=$target/dist
work=$target/dist-test
base=$work/bookworm.tar
FIRST_REWARD_SECONDS=15
mkdir -p "$work"
# Users of the system inside reach their folders.
root=$(mktemp -d /var/tmp/assay-dist-XXXXXX)
chmod 755 "$root"
trap 'rm -rf "$root" "$work/again"' EXIT

say() { printf 'test-dist: %s\n' "$*"; }
fail() {
    printf 'test-dist: FAILED: %s\n' "$*" >&2
    exit 1
}

# A fresh Debian in the folder, whose name is its only argument.
system() {
    mkdir "$1"
    tar --extract --file="$base" --directory="$1" --numeric-owner
    cp /etc/resolv.conf "$1/etc/"
    # Nothing that is installed starts a service.
    printf '#!/bin/sh\nexit 101\n' >"$1/usr/sbin/policy-rc.d"
    chmod +x "$1/usr/sbin/policy-rc.d"
}

# Runs a shell command in a system; whatever it leaves running ends with it.
inside() {
    unshare --mount --pid --fork --kill-child -- sh -c '
        mount -t proc proc "$1/proc" && mount -t sysfs -o ro sysfs "$1/sys" && mount -t tmpfs tmpfs "$1/dev/shm" &&
        exec chroot "$1" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
            bash -euo pipefail -c "$2"' sh "$1" "$2"
}

# Shell that scores a sample: the command line of `assay dev`, with `after N tenths` below the batch's summary.
scored() {
    echo "began=\${EPOCHREALTIME/./}; $1 | while IFS= read -r line; do
        printf '%s\n' \"\$line\"
        case \$line in done:*) echo \"after \$(((\${EPOCHREALTIME/./} - began) / 100000)) tenths\" ;; esac
    done"
}

lacks_tools() {
    inside "$1" 'for tool in cargo rustc node npm psql; do ! command -v $tool || exit 1; done' ||
        fail "the system has what it should lack"
}

# Checks the output of `assay dev`: that every reward is as the sample says, and how long the first batch took.
check_rewards() {
    local rows tenths
    rows=$(wc -l <plugins/math/sample.jsonl)
    grep -q "outcomes *$rows scored, 0 timed out, 0 error" "$1" || { cat "$1"; fail "$2: not every row was scored"; }
    grep -q "expected *$rows of $rows agree" "$1" || { cat "$1"; fail "$2: not every reward is as expected"; }
    tenths=$(sed -n 's/^after \([0-9]*\) tenths$/\1/p' "$1")
    say "$2: $rows rewards, all as expected, $((tenths / 10)).$((tenths % 10)) s after the start"
    # A busy machine is slower, so this is told and not a failure.
    [ "$tenths" -lt $((10 * FIRST_REWARD_SECONDS)) ] || say "$2: slower than $FIRST_REWARD_SECONDS s"
}

scripts/setup.sh dist test-dist
scripts/dist.sh
say 'packing again'
scripts/dist.sh "$work/again" >/dev/null
cmp "$dist/SHA256SUMS" "$work/again/SHA256SUMS" || fail 'packed twice, the results differ'
(cd "$dist" && sha256sum --quiet --check SHA256SUMS) || fail 'a sum is wrong'

if [ ! -f "$base" ]; then
    say 'making a fresh Debian 12'
    mmdebstrap --quiet --variant=apt --mode=root --format=tar bookworm "$base.new"
    mv "$base.new" "$base"
fi

say 'the package, by apt'
system "$root/package"
lacks_tools "$root/package"
cp "$dist"/assay_*.deb "$root/package/root/assay.deb"
inside "$root/package" 'apt-get update -q && apt-get install -qy --no-install-recommends /root/assay.deb' \
    >"$work/install.log" 2>&1 || { tail -n 20 "$work/install.log"; fail 'the package is not installed'; }
inside "$root/package" "$(scored 'assay dev --once --score /usr/share/doc/assay/sample.jsonl')" \
    >"$work/package.log" 2>&1 ||
    { cat "$work/package.log"; fail 'assay dev, installed'; }
check_rewards "$work/package.log" 'installed, as root'
inside "$root/package" "useradd --create-home someone
    $(scored 'setpriv --reuid=someone --regid=someone --clear-groups env HOME=/home/someone \
        assay dev --once --score /usr/share/doc/assay/sample.jsonl')" >"$work/user.log" 2>&1 ||
    { cat "$work/user.log"; fail 'assay dev, installed, as a user'; }
check_rewards "$work/user.log" 'installed, as a user'
inside "$root/package" '
    test -s /usr/share/man/man1/assay-dev.1.gz
    test -s /usr/lib/systemd/system/assay.service
    test -s /usr/lib/systemd/system/assay-worker@.service
    test -x /usr/lib/assay/join.sh
    test -s /usr/share/bash-completion/completions/assay
    bash -c "source /usr/share/bash-completion/completions/assay && complete -p assay"
    getent passwd assay
    cd / && md5sum --quiet --check /var/lib/dpkg/info/assay.md5sums
    apt-get remove -qy assay && ! command -v assay' >"$work/parts.log" 2>&1 ||
    { cat "$work/parts.log"; fail 'a part of the package is missing or stays'; }

say 'the archive'
system "$root/archive"
lacks_tools "$root/archive"
tar --extract --gzip --file="$(ls "$dist"/assay-*.tar.gz)" --directory="$root/archive/opt" --no-same-owner
if inside "$root/archive" 'cd /opt/assay-*/ && ./assay dev --once --score sample.jsonl' >"$work/without.log" 2>&1; then
    fail 'it started without PostgreSQL'
fi
grep -q 'apt-get install postgresql' "$work/without.log" ||
    { cat "$work/without.log"; fail 'without PostgreSQL it does not say what to install'; }
inside "$root/archive" 'apt-get update -q && apt-get install -qy --no-install-recommends postgresql' \
    >"$work/postgresql.log" 2>&1 || { tail -n 20 "$work/postgresql.log"; fail 'PostgreSQL is not installed'; }
inside "$root/archive" "cd /opt/assay-*/; $(scored './assay dev --once --score sample.jsonl')" \
    >"$work/archive.log" 2>&1 ||
    { cat "$work/archive.log"; fail 'assay dev, unpacked'; }
check_rewards "$work/archive.log" 'unpacked, as root'
say 'passed'
