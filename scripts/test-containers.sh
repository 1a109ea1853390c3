#!/usr/bin/env bash
# Builds the images of deploy/container and tries them: PostgreSQL, a server and a worker, each in a container; a batch is
# scored while the server's container is killed and started again, and every reward must be there and right. Then the
# Pods of deploy/kubernetes, by `podman play kube`. Needs root, and Debian's packages from the network.
#
#   scripts/test-containers.sh          with what `make dist` packed (`make test-containers`)
#   scripts/test-containers.sh debug    with the programs of `make test`, and fewer requests
#   scripts/test-containers.sh can      says why not, and fails, where this machine runs no container
#
# Ends with `test-containers: N passed, N failed`. Mounts and networks are in namespaces of its own: other tests compare
# those of the machine, and a browser stops loading when they change.
set -euo pipefail
cd "$(dirname "$0")/.."

[ "$(id -u)" = 0 ] || { echo 'images are built and run by root' >&2; exit 1; }
mode=${1:-release}
# This script runs itself twice more: to build, and to run what was built.
phase=${ASSAY_CONTAINERS_PHASE:-}
case $phase in
    '') ASSAY_CONTAINERS_PHASE=build exec unshare --mount --propagation private "$0" "$mode" ;;
    build) work=$(mktemp -d "${TMPDIR:-/var/tmp}/assay-containers-XXXXXX") ;;
    run) work=$ASSAY_CONTAINERS_WORK && ip link set lo up ;;
esac
target=$(realpath "${CARGO_TARGET_DIR:-target}")
images=$target/images
IMAGE_BYTES_MAX=100000000
ROWS=20000
[ "$mode" = release ] || ROWS=4000
WAIT_SECONDS=120
TAG=test
mkdir -p "$images"

passed=0
say() { printf 'test-containers: %s\n' "$*"; }
pass() {
    passed=$((passed + 1))
    say "ok: $*"
}
fail() {
    printf 'test-containers: FAILED: %s\n' "$*" >&2
    for each in $(podman ps --all --format '{{.Names}}'); do
        printf -- '--- %s\n' "$each"
        podman logs --tail 15 "$each" || true
    done >&2
    say "$passed passed, 1 failed"
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
    podman pod rm --all --force --time 5 >/dev/null 2>&1 || true
    podman rm --all --force --time 5 >/dev/null 2>&1 || true
    podman network rm --force assay >/dev/null 2>&1 || true
    podman volume rm --all --force >/dev/null 2>&1 || true
    rm -rf "$work"
}

# Podman may find a folder of a container that has just ended in use.
remove() { until_good "the end of $1" podman rm --force --ignore --time 20 "$1"; }

# Waits until a command succeeds: what is waited for, the command.
until_good() {
    local what=$1 began=$SECONDS
    shift
    until "$@" >/dev/null 2>&1; do
        [ $((SECONDS - began)) -lt "$WAIT_SECONDS" ] || fail "waited for: $what"
        sleep 0.5
    done
}

# A container of one program tells whether this machine runs any.
can_run() {
    local each
    for each in podman buildah runc mmdebstrap ip; do
        command -v "$each" >/dev/null || { echo "no $each" && return 1; }
    done
    mkdir "$work/probe"
    cc -static -o "$work/probe/true" -xc - <<<'int main(void) { return 0; }'
    if ! podman run --rm --network none --rootfs "$work/probe" /true >"$work/said" 2>&1; then
        echo "podman runs no container: $(tail -n 1 "$work/said")"
        return 1
    fi
}

# What a release has, as far as images need it.
debug_release() {
    mkdir -p "$work/release/plugins"
    cp "$target"/debug/{assay,assay-worker,assay-exec,assay-gpu} LICENSE "$work/release/"
    cp "$target"/wasm32-wasip2/plugin/assay_plugin_{math,code}.wasm "$work/release/plugins/"
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
    podman run --detach --name postgres --network assay --user postgres --shm-size 256m --env PGPASSWORD=secret \
        localhost/postgres:$TAG bash -euc '
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

in_server() { podman exec --env ASSAY_API_KEY="$key" "$server" "$@"; }
is_ready() { podman exec "$server" wget -q -O /dev/null http://127.0.0.1:7700/readyz; }
scored() {
    in_server wget -q -O - --header "Authorization: Bearer $key" http://127.0.0.1:7700/metrics |
        sed -n 's/^assay_requests_total{outcome="scored"} \([0-9]*\).*/\1/p'
}
has_scored() { [ "$(scored)" -ge "$1" ]; }
has_workers() { [ "$(in_server assay worker ls --remote | grep -c ' yes ')" -ge "$1" ]; }

# Takes the key of a server's first administrator and publishes plugins.
begin_using() {
    local plugin
    key=$(podman exec "$server" cat /data/admin.key)
    for plugin in "$@"; do
        in_server assay plugin publish "/usr/lib/assay/plugins/assay_plugin_$plugin.wasm" --channel prod >/dev/null
    done
}

# A worker by the container's own entry: its name, then options of podman.
start_worker() {
    local name=$1
    shift
    mkdir -p "$work/$name"
    in_server assay worker token --server server:7701 >"$work/$name/command"
    chmod 755 "$work" "$work/$name"
    podman run --detach --name "$name" --network assay "${HARDENED[@]}" --volume "$work/$name:/once:ro" "$@" \
        --env ASSAY_WORKER_JOIN=/once/command \
        --env ASSAY_WORKER_OPTIONS='-- --weaker cgroups' localhost/assay-worker:$TAG >/dev/null
}

# Scores a file by a container of its own, as a trainer would: the plugin, the file, the results' name.
score() {
    podman run --rm --network assay --user 0 --volume "$work/rows:/rows" --env "ASSAY_URL=http://$address:7700" \
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

build_images() {
    local release=$work/release
    scripts/setup.sh containers
    if [ "$mode" = debug ]; then debug_release; else release=$(ls "$target"/dist/assay-*-linux-*.tar.gz); fi
    deploy/container/build.sh "$release" "$TAG" 2>/dev/null
    postgres_image
}

if [ "$phase" = build ]; then
    trap clean EXIT
    settings
    if [ "$mode" = can ]; then
        can_run
    else
        build_images
        ASSAY_CONTAINERS_PHASE=run ASSAY_CONTAINERS_WORK=$work unshare --net "$0" "$mode"
    fi
    exit
fi
bytes=$(podman image inspect --format '{{.Size}}' localhost/assay:$TAG)
say "the server's image has $bytes bytes, the worker's $(podman image inspect --format '{{.Size}}' localhost/assay-worker:$TAG)"
[ "$mode" = debug ] || [ "$bytes" -le "$IMAGE_BYTES_MAX" ] || fail "the server's image is larger than $IMAGE_BYTES_MAX bytes"
pass 'images of the server and of a worker are built'

podman network create assay >/dev/null
start_postgres
until_good PostgreSQL podman exec postgres bash -c 'exec 3<>/dev/tcp/127.0.0.1/5432'
server=server address=server
start_server
until_good 'a server that is ready' is_ready
begin_using math code
start_worker worker
until_good 'a worker' has_workers 1
pass 'PostgreSQL, a server and a worker run'

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
remove server
start_server
until_good 'the server again' is_ready
wait "$scoring" || { cat "$work/score.log"; fail 'the batch failed'; }
check_rewards math.jsonl killed
until_good 'the worker, which came again' has_workers 1
pass "a batch of $ROWS with a killed server: $((SECONDS - before)) s"

remove worker
has_boxes() {
    podman run --rm --read-only --security-opt no-new-privileges "${BOXES[@]}" "${@:2}" --entrypoint assay-worker \
        localhost/assay-worker:$TAG doctor --weaker cgroups >"$work/doctor"
    grep -q '"exec":{"ok"' "$work/doctor" || { cat "$work/doctor"; fail "no boxes as $1"; }
}
has_boxes 'an ordinary user' --cap-drop=ALL
has_boxes 'root of its namespace' --user 0 --cap-add=SYS_ADMIN
start_worker worker "${BOXES[@]}"
until_good 'a worker with boxes' has_workers 1
head -n $((ROWS / 500)) plugins/code/sample.jsonl >"$work/rows/code.jsonl"
score code code.jsonl boxes >"$work/score.log" 2>&1 || { cat "$work/score.log"; fail 'programs are not judged'; }
check_rewards code.jsonl boxes
pass 'programs are judged in boxes, as the overlay exec-sandbox has them'

podman stop --time 30 worker >/dev/null
[ "$(podman inspect --format '{{.State.ExitCode}}' worker)" = 0 ] || fail 'a worker that was asked to leave did not end by itself'
pass 'a worker leaves when it is asked to'
remove worker
remove server

# Secrets of `podman play kube` are objects of JSON: the name, the field, the value.
secret() { printf '{"%s":"%s"}' "$2" "$(printf %s "$3" | base64 --wrap 0)" | podman secret create "$1" - >/dev/null; }
play() {
    "$target/deploy-venv/bin/python" tests/deploy/play.py base "$1" $TAG >"$work/$1.yaml"
    podman play kube --network "assay:alias=$1" "$work/$1.yaml" >/dev/null
}
podman exec postgres createdb --host 127.0.0.1 --username assay pods
secret assay-database url postgres://assay:secret@postgres/pods
server=assay-pod-0-server address=assay
play assay
until_good 'a server in a Pod' is_ready
begin_using math
secret assay-worker-key key "$key"
play assay-workers
until_good 'a worker in a Pod' has_workers 1
head -n 500 "$work/rows/math.jsonl" >"$work/rows/pods.jsonl"
score math pods.jsonl in-pods >"$work/score.log" 2>&1 || { cat "$work/score.log"; fail 'Pods do not score'; }
check_rewards pods.jsonl in-pods
pass 'the Pods of deploy/kubernetes run by `podman play kube`'
say "$passed passed, 0 failed"
