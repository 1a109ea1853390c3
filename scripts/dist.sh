#!/usr/bin/env bash
# Packs what `make release-lto plugins` built, with the dashboard in the server, into target/dist: an archive and a
# Debian package, their SHA-256 sums and the list of what they contain of others (SBOM). `make dist` runs it.
#
# The same sources, compiler and folders give the same bytes: names are sorted, times are the last commit's
# (SOURCE_DATE_EPOCH overrides it), owners are root. `scripts/test-dist.sh` tries the results.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
out=${1:-$target/dist}
PROGRAMS=(assay assay-worker assay-exec assay-gpu)
PLUGINS=(math code cuda judge run format hello)

say() { printf 'dist: %s\n' "$*"; }
fail() {
    printf 'dist: %s\n' "$*" >&2
    exit 1
}

[ "$(uname -s)" = Linux ] || fail 'packages are made on Linux alone'
for tool in dpkg-deb python3 readelf; do
    command -v "$tool" >/dev/null || fail "no $tool: \`scripts/setup.sh dist\` installs it"
done
[ -f web/dist/index.html ] || fail 'no dashboard was built, and a release has one: install Node (`make web` says which)'

version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
machine=$(uname -m)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 1700000000)}
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
umask 022
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir -p "$out"
rm -f "$out"/assay-*.tar.gz "$out"/assay_*.deb "$out"/assay-*.json "$out/SHA256SUMS"

# The folder that the archive unpacks to; `assay` finds the others and the plugins beside itself.
stage_release() {
    local name root=$1
    mkdir -p "$root"/{plugins,man,completions,docs}
    for name in "${PROGRAMS[@]}"; do
        install -m 755 "$target/release-lto/$name" "$root/"
    done
    for name in "${PLUGINS[@]}"; do
        install -m 644 "$target/wasm32-wasip2/plugin/assay_plugin_$name.wasm" "$root/plugins/"
    done
    "$root/assay" manual "$root/man"
    "$root/assay" completions bash >"$root/completions/assay.bash"
    "$root/assay" completions zsh >"$root/completions/_assay"
    "$root/assay" completions fish >"$root/completions/assay.fish"
    install -m 644 LICENSE CHANGELOG.md "$root/"
    install -m 644 scripts/dist/README.md "$root/"
    install -m 755 deploy/join.sh "$root/"
    cp -r deploy "$root/"
    install -m 644 plugins/math/sample.jsonl "$root/sample.jsonl"
}

same_times() { find "$1" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +; }

# The newest version of a library's symbols that the programs ask for.
symbols_of() {
    (cd "$1" && readelf --version-info --wide "${PROGRAMS[@]}") |
        grep -o "\<$2_[0-9][0-9.]*" | sed "s/^$2_//" | sort -uV | tail -n 1
}

make_archive() {
    same_times "$stage/$name"
    tar --create --directory="$stage" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 \
        --numeric-owner --format=gnu "$name" | gzip --no-name -9 >"$out/$name.tar.gz"
}

make_package() {
    local release=$1 root=$2 installed architecture page
    case $machine in
        x86_64) architecture=amd64 ;;
        aarch64) architecture=arm64 ;;
        *) architecture=$machine ;;
    esac
    mkdir -p "$root"/{DEBIAN,usr/{bin,lib/{assay,systemd/system},share/{doc/assay,man/man1}}} \
        "$root"/usr/share/{bash-completion/completions,zsh/vendor-completions,fish/vendor_completions.d}
    cp -r "${PROGRAMS[@]/#/$release/}" "$release/join.sh" "$release/plugins" "$root/usr/lib/assay/"
    ln -s ../lib/assay/assay "$root/usr/bin/assay"
    for page in "$release"/man/*.1; do
        gzip --no-name -9 <"$page" >"$root/usr/share/man/man1/$(basename "$page").gz"
    done
    cp "$release/completions/assay.bash" "$root/usr/share/bash-completion/completions/assay"
    cp "$release/completions/_assay" "$root/usr/share/zsh/vendor-completions/_assay"
    cp "$release/completions/assay.fish" "$root/usr/share/fish/vendor_completions.d/assay.fish"
    cp "$release"/deploy/systemd/*.service "$root/usr/lib/systemd/system/"
    cp -r "$release/deploy" "$root/usr/share/doc/assay/"
    cp "$release/README.md" "$release/sample.jsonl" "$sbom" "$root/usr/share/doc/assay/"
    gzip --no-name -9 <CHANGELOG.md >"$root/usr/share/doc/assay/changelog.gz"
    cp LICENSE "$root/usr/share/doc/assay/copyright"
    install -m 755 scripts/dist/postinst scripts/dist/prerm scripts/dist/postrm "$root/DEBIAN/"
    installed=$(du --summarize --apparent-size --block-size=1024 "$root/usr" | cut -f 1)
    cat >"$root/DEBIAN/control" <<END
Package: assay
Version: $version
Architecture: $architecture
Maintainer: The Assay authors <assay@localhost>
Installed-Size: $installed
Depends: libc6 (>= $(symbols_of "$release" GLIBC)), libgcc-s1, postgresql (>= 14), adduser
Recommends: ca-certificates
Suggests: python3, g++
Section: science
Priority: optional
Description: reward service for reinforcement learning with verifiable rewards
 Assay runs reward workflows, written as WebAssembly plugins, on batches of rollouts. It queues each request
 durably in PostgreSQL and streams the rewards back; an infrastructure failure is never a number.
 .
 \`assay dev\` starts everything on this machine with a private PostgreSQL and the shipped plugins.
END
    (cd "$root" && find usr -type f -print0 | sort --zero-terminated | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
    same_times "$root"
    dpkg-deb --root-owner-group --threads-max=1 -Zxz -z6 --build "$root" "$out/assay_${version}_$architecture.deb" >/dev/null
}

name=assay-$version-linux-$machine
stage_release "$stage/$name"
sbom=$out/assay-$version-sbom.cdx.json
scripts/dist/sbom.py "$version" >"$sbom"
cp "$sbom" "$stage/$name/docs/"
make_archive
make_package "$stage/$name" "$stage/package"
(cd "$out" && sha256sum ./*.tar.gz ./*.deb ./*.json | sed 's, \./, ,' >SHA256SUMS)
say "in $out:"
(cd "$out" && du --apparent-size -h ./*.tar.gz ./*.deb ./*.json && cat SHA256SUMS)
