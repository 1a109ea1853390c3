#!/bin/sh
# Makes a folder of PostgreSQL's programs for tests and prints it: its initdb makes a cluster once, without
# waiting for the disk, and copies it from then on, which takes a twentieth of the time.
#
#   scripts/caching-postgres.sh FOLDER PROGRAMS     of a folder to be made, and of the real programs
set -eu
mkdir -m 711 "$1" "$1/bin"
# Root's servers run as another user, who keeps what he made here.
mkdir -m 1777 "$1/clusters"
ln -s "$2"/* "$1/bin"
rm "$1/bin/initdb"
cat >"$1/bin/initdb" <<'END'
#!/bin/sh
set -eu
here=$(dirname "$0")
real=$(dirname "$(readlink -f "$here/postgres")")/initdb
# As Assay calls it (host/postgres/src/initialize.rs); anything else is not for us.
[ "${1:-}" = --pgdata ] || exec "$real" "$@"
cluster=$2
shift 2
known=$here/../clusters/$(printf '%s ' "$(id -u)" "$@" | cksum | tr ' ' -)
if [ ! -d "$known" ]; then
    "$real" --pgdata "$known.$$" --no-sync "$@"
    # Somebody else may have been faster.
    mv -T "$known.$$" "$known" 2>/dev/null || rm -r "$known.$$"
fi
cp -a "$known" "$cluster"
END
chmod 755 "$1/bin/initdb"
printf '%s\n' "$1/bin"
