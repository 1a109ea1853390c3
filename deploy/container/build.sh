#!/usr/bin/env bash
# Builds the images `assay` and `assay-worker` from a release and Debian's packages: no registry, no compiler. Needs
# root, Debian 12 (mmdebstrap, apt-get, strip), and buildah, or Docker with BUILDER='docker build'.
#
#   deploy/container/build.sh [RELEASE] [TAG]      (target/dist/assay-*.tar.gz, its version)
#
# RELEASE: an archive that `make dist` made, or a folder with what is in one.
set -euo pipefail
cd "$(dirname "$0")/../.."

target=${CARGO_TARGET_DIR:-target}
release=${1:-$(ls "$target"/dist/assay-*-linux-*.tar.gz)}
tag=${2:-$(basename "$release" | cut -d - -f 2)}
builder=${BUILDER:-buildah bud --isolation=chroot --format=docker --timestamp=${SOURCE_DATE_EPOCH:-1700000000}}
# What a dynamically linked program needs, and a shell for whoever looks into the container.
SERVER_PACKAGES=(libc6 libgcc-s1 ca-certificates base-files netbase busybox-static)
WORKER_PACKAGES=ca-certificates,gcc,g++,libc6-dev,python3-minimal,libpython3-stdlib
BOX_USER=65532

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/server" "$work/worker" "$work/packages" "$work/root" "$work/release"
# apt-get reads its downloads as a user of its own.
chmod 755 "$work" && chmod 777 "$work/packages"

say() { printf 'images: %s\n' "$*"; }

server_base() {
    local package name root=$work/root
    (cd "$work/packages" && apt-get download -q "${SERVER_PACKAGES[@]}" >/dev/null)
    # The folders of base-files are links in Debian's newer systems.
    mkdir -p "$root"/usr/bin
    for package in "$work"/packages/*.deb; do dpkg-deb --extract "$package" "$root"; done
    mkdir -p "$root"/{etc/ssl/certs,data,tmp,bin}
    cat "$root"/usr/share/ca-certificates/mozilla/*.crt >"$root/etc/ssl/certs/ca-certificates.crt"
    rm -rf "$root"/usr/share/{man,lintian,bug,ca-certificates} "$root"/usr/lib/*/gconv
    find "$root/usr/share/doc" -type f ! -name copyright -delete
    for name in sh cat ls cp tar wget; do ln -s busybox "$root/bin/$name"; done
    printf 'root:x:0:0:root:/:/bin/false\nassay:x:%s:%s:assay:/data:/bin/false\n' "$BOX_USER" "$BOX_USER" >"$root/etc/passwd"
    printf 'root:x:0:\nassay:x:%s:\n' "$BOX_USER" >"$root/etc/group"
    chown "$BOX_USER:$BOX_USER" "$root/data"
    chmod 700 "$root/data"
    chmod 1777 "$root/tmp"
    tar --create --directory="$root" --sort=name --mtime=@1700000000 --numeric-owner --file="$1" .
}

# Kept, because it takes a minute.
worker_base() {
    local kept=$target/images/worker-base.tar
    if [ ! -f "$kept" ]; then
        say 'making the base of workers'
        mkdir -p "$target/images"
        # shellcheck disable=SC2016 # hooks are run by mmdebstrap's shell
        mmdebstrap --quiet --format=tar --variant=essential --include="$WORKER_PACKAGES" --dpkgopt='path-exclude=/usr/share/man/*' \
            --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
            --customize-hook='echo "assay:x:65532:65532:assay:/tmp:/bin/false" >>"$1/etc/passwd"' \
            --customize-hook='echo "assay:x:65532:" >>"$1/etc/group"' \
            --customize-hook='mkdir -m 1777 "$1/join" "$1/cache"' \
            bookworm "$kept.new"
        mv "$kept.new" "$kept"
    fi
    cp "$kept" "$1"
}

say "the release $release as $tag"
if [ -d "$release" ]; then
    cp -r "$release"/. "$work/release/"
else
    tar --extract --file="$release" --directory="$work/release" --strip-components=1 --no-same-owner
fi
# A release has the names of its functions for traces of crashes; images do without.
strip "$work"/release/assay "$work"/release/assay-*
cp deploy/join.sh deploy/container/tokens.sh "$work/release/"
server_base "$work/server/base.tar"
worker_base "$work/worker/base.tar"
for image in server worker; do
    cp -rl "$work/release" "$work/$image/release"
    name=assay
    [ "$image" = server ] || name=assay-worker
    # shellcheck disable=SC2086 # a command of several words
    $builder --tag "localhost/$name:$tag" --file "deploy/container/$image.Containerfile" "$work/$image" >/dev/null
    say "localhost/$name:$tag"
done
