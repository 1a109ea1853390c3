#!/usr/bin/env bash
# Builds the images of deploy/container from what `make dist` packed, and tries them: PostgreSQL, a server and a worker,
# each in a container; a batch is scored while the server's container is killed and started again, and every reward must
# be there and right. `make test-containers` runs it, as root, with Debian's packages from the network (some minutes);
# it is no part of `make test`.
#
#   scripts/test-containers.sh [ARCHIVE]
set -euo pipefail
cd "$(dirname "$0")/.."

[ "$(id -u)" = 0 ] || { echo 'test-containers: images are built by root' >&2; exit 1; }
target=$(realpath "${CARGO_TARGET_DIR:-target}")
images=$target/images
IMAGE_BYTES_MAX=100000000
ROWS=20000
WAIT_SECONDS=120
TAG=test
mkdir -p "$images"
work=$(mktemp -d /var/tmp/assay-containers-XXXXXX)

say() { printf 'test-containers: %s\n' "$*"; }
fail() {
    printf 'test-containers: FAILED: %s\n' "$*" >&2
    for each in postgres server worker; do podman logs --tail 15 "$each" >&2 || true; done
    exit 1
}

# Images and containers of this test alone. On cgroups of version 1 only runc works, and root here may not raise limits.
settings() {
    cat >"$work/containers.conf" <<END
[containers]
default_ulimits = ["nofile=10000:10000", "nproc=10000:10000"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[network]
network_config_dir = "$work/networks"
END
    cat >"$work/storage.conf" <<END
[storage]
driver = "overlay"
graphroot = "$work/storage"
runroot = "$work/run"
END
    export CONTAINERS_CONF=$work/containers.conf CONTAINERS_STORAGE_CONF=$work/storage.conf
}

clean() {
    podman rm --all --force --time 5 >/dev/null 2>&1 || true
    podman network rm --force assay >/dev/null 2>&1 || true
    podman volume rm --all --force >/dev/null 2>&1 || true
    rm -rf "$work"
}

# Waits until a command succeeds: what is waited for, the command.
until_good() {
    local what=$1 began=$SECONDS
    shift
    until "$@" >/dev/null 2>&1; do
        [ $((SECONDS - began)) -lt "$WAIT_SECONDS" ] || fail "waited for: $what"
        sleep 0.2
    done
}

# PostgreSQL is the operator's; this image of Debian's packages is for the test.
postgres_image() {
    if [ ! -f "$images/postgres-base.tar" ]; then
        say 'making a system with PostgreSQL'
        mmdebstrap --quiet --format=tar --variant=essential --include=postgresql bookworm "$images/postgres-base.tar.new"
        mv "$images/postgres-base.tar.new" "$images/postgres-base.tar"
    fi
    podman import "$images/postgres-base.tar" localhost/postgres:$TAG >/dev/null 2>&1
}

start_postgres() {
    podman run --detach --name postgres --network assay --user postgres --shm-size 256m localhost/postgres:$TAG bash -euc '
        bin=$(echo /usr/lib/postgresql/*/bin)
        "$bin/initdb" -D /tmp/data -U assay --pwfile=<(echo secret) --auth=scram-sha-256 >/dev/null
        echo "host all all all scram-sha-256" >>/tmp/data/pg_hba.conf
        exec "$bin/postgres" -D /tmp/data -c listen_addresses="*" -c unix_socket_directories=/tmp' >/dev/null
}

# The options that deploy/kubernetes gives the containers, as far as podman has them.
HARDENED=(--cap-drop=ALL --security-opt no-new-privileges --read-only)
# What the overlay exec-sandbox adds.
BOXES=(--uidmap 0:100000:65536 --gidmap 0:100000:65536 --security-opt unmask=ALL
    --security-opt seccomp=deploy/kubernetes/overlays/exec-sandbox/seccomp.json)

start_server() {
    podman run --detach --name server --network assay "${HARDENED[@]}" --volume data:/data \
        --env DATABASE_URL=postgres://assay:secret@postgres/postgres localhost/assay:$TAG >/dev/null
}

in_server() { podman exec --env ASSAY_API_KEY="$key" server "$@"; }
is_ready() { podman exec server wget -q -O /dev/null http://127.0.0.1:7700/readyz; }
scored() {
    in_server wget -q -O - --header "Authorization: Bearer $key" http://127.0.0.1:7700/metrics |
        sed -n 's/^assay_requests_total{outcome="scored"} \([0-9]*\).*/\1/p'
}
has_scored() { [ "$(scored)" -ge "$1" ]; }
has_workers() { [ "$(in_server assay worker ls --remote | grep -c ' yes ')" -ge "$1" ]; }

# A worker by the container's own entry: its name, then options of podman.
start_worker() {
    local name=$1
    shift
    mkdir -p "$work/$name"
    in_server assay worker token --server server:7701 >"$work/$name/command"
    chmod -R a+rX "$work" "$work/$name"
    podman run --detach --name "$name" --network assay "${HARDENED[@]}" --volume "$work/$name:/once:ro" "$@" \
        --env ASSAY_WORKER_JOIN=/once/command \
        --env ASSAY_WORKER_OPTIONS='-- --weaker cgroups' localhost/assay-worker:$TAG >/dev/null
}

# Scores a file by a container of its own, as a trainer would: the plugin, the file, the results' name.
score() {
    podman run --rm --network assay --user 0 --volume "$work/rows:/rows" --env ASSAY_URL=http://server:7700 \
        --env ASSAY_API_KEY="$key" localhost/assay:$TAG score "/rows/$2" --plugin "$1@prod" --run "$3" \
        --output "/rows/$3.jsonl" --compute-each --require-agreement
}

# That each row has a reward as it says, and no row has two: the file, the results.
check_rewards() {
    python3 - "$work/rows/$1" "$work/rows/$2.jsonl" <<'END' || fail "$2: a reward is missing or wrong"
import collections
import json
import sys

rows, results = ([json.loads(line) for line in open(path)] for path in sys.argv[1:])
rewards = {row["key"]: row["outcome"].get("reward") for row in results}
counts = collections.Counter(row["key"] for row in results)
wrong = [row["key"] for row in rows if rewards.get(row["key"]) != row["expected"]]
print(f"test-containers: {len(rewards)} rewards of {len(rows)} rows, {len(wrong)} wrong, {sum(n > 1 for n in counts.values())} twice")
sys.exit(bool(wrong) or len(results) != len(rows))
END
}

scripts/setup.sh containers
trap clean EXIT
settings
deploy/container/build.sh "${1:-$(ls "$target"/dist/assay-*-linux-*.tar.gz)}" "$TAG" 2>/dev/null
bytes=$(podman image inspect --format '{{.Size}}' localhost/assay:$TAG)
say "the server's image has $bytes bytes, the worker's $(podman image inspect --format '{{.Size}}' localhost/assay-worker:$TAG)"
[ "$bytes" -le "$IMAGE_BYTES_MAX" ] || [ -n "${1:-}" ] || fail "the server's image is larger than $IMAGE_BYTES_MAX bytes"

postgres_image
podman network create assay >/dev/null
start_postgres
until_good PostgreSQL podman exec postgres bash -c 'exec 3<>/dev/tcp/127.0.0.1/5432'
start_server
until_good 'a server that is ready' is_ready
key=$(podman exec server cat /data/admin.key)
for plugin in math code; do
    in_server assay plugin publish "/usr/lib/assay/plugins/assay_plugin_$plugin.wasm" --channel prod >/dev/null
done
start_worker worker
until_good 'a worker' has_workers 1
say 'PostgreSQL, a server and a worker run'

mkdir "$work/rows"
python3 - plugins/math/sample.jsonl "$ROWS" >"$work/rows/math.jsonl" <<'END'
import itertools
import json
import sys

rows = [json.loads(line) for line in open(sys.argv[1])]
for number, row in zip(range(int(sys.argv[2])), itertools.cycle(rows)):
    print(json.dumps(row | {"key": f"row-{number}", "group": f"group-{number // 8}"}))
END
before=$SECONDS
score math math.jsonl killed >"$work/score.log" 2>&1 &
scoring=$!
until_good 'rewards before the kill' has_scored $((ROWS / 10))
say "killing the server's container after $(scored) rewards"
podman kill --signal KILL server >/dev/null
podman rm --force server >/dev/null
start_server
until_good 'the server again' is_ready
wait "$scoring" || { cat "$work/score.log"; fail 'the batch failed'; }
check_rewards math.jsonl killed
say "a batch of $ROWS with a killed server: $((SECONDS - before)) s"
until_good 'the worker, which came again' has_workers 1

say 'boxes, as the overlay exec-sandbox has them'
podman rm --force --time 20 worker >/dev/null
has_boxes() {
    podman run --rm --read-only --security-opt no-new-privileges "${BOXES[@]}" "${@:2}" --entrypoint assay-worker \
        localhost/assay-worker:$TAG doctor --weaker cgroups >"$work/doctor"
    grep -q '"exec":{"ok"' "$work/doctor" || { cat "$work/doctor"; fail "no boxes as $1"; }
}
has_boxes 'an ordinary user' --cap-drop=ALL
has_boxes 'root of its namespace' --user 0 --cap-add=SYS_ADMIN
start_worker worker "${BOXES[@]}"
until_good 'a worker with boxes' has_workers 1
head -n 40 plugins/code/sample.jsonl >"$work/rows/code.jsonl"
score code code.jsonl boxes >"$work/score.log" 2>&1 || { cat "$work/score.log"; fail 'programs are not judged'; }
check_rewards code.jsonl boxes

say 'a worker that is asked to leave'
podman stop --time 30 worker >/dev/null
[ "$(podman inspect --format '{{.State.ExitCode}}' worker)" = 0 ] || fail 'it did not end by itself'
say 'passed'
