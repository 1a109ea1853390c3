#!/usr/bin/env bash
# A rolling upgrade from a release before to this checkout, and back: scripts/test-upgrade.sh FROM ARGUMENTS...
#
# FROM is a folder with the programs of a release, such as an unpacked archive, or a revision in git, whose
# programs are built first (as long as `make release` takes; kept under target/upgrade). tests/upgrade/run.py has the
# rest of the arguments.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
from=${1:-}
[ -n "$from" ] || {
    printf 'test-upgrade: which release before? `make test-upgrade FROM=REVISION` or `FROM=FOLDER`, such as %s\n' \
        'FROM=assay-0.1.0-x86_64-linux or FROM=v0.1.0' >&2
    exit 2
}
shift
programs=(-p assay-cli -p assay-worker -p assay-exec -p assay-gpu -p assay-postgres)

# The programs of a revision, in a folder that is named by its commit.
build_revision() {
    local commit folder
    commit=$(git rev-parse --verify --quiet "$1^{commit}") || {
        printf 'test-upgrade: %s is neither a folder with `assay` nor a revision in git\n' "$1" >&2
        exit 2
    }
    folder=$target/upgrade/$commit
    previous=$folder/release
    [ ! -x "$previous/assay-postgres" ] || return 0
    git worktree prune
    [ -d "$folder/source" ] || git worktree add --quiet --force --detach "$folder/source" "$commit"
    printf 'test-upgrade: building %s\n' "$(git log -1 --format='%h, %s' "$commit")"
    folder=$(realpath "$folder")
    (cd "$folder/source" && CARGO_TARGET_DIR=$folder cargo build --release "${programs[@]}")
    git worktree remove --force "$folder/source"
}

if [ -x "$from/assay" ]; then
    previous=$from
else
    build_revision "$from"
fi
cargo build --release "${programs[@]}"
exec tests/upgrade/run.py --previous "$previous" --programs "$target/release" "$@"
