#!/bin/sh
# Tests the boxes on a machine with cgroups of version 2 alone: Debian's kernel in an emulator, with
# what the tests need in its memory. For machines on which cgroups of version 1 have the controllers, so that
# `make test` cannot try version 2 alone.
# Takes a few minutes; needs apt-get as root.
set -eu
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
work=$target/test-v2
slowness=20

say() { printf 'test-v2: %s\n' "$*"; }

install() {
    for program in qemu-system-x86_64 busybox cpio; do
        command -v "$program" >/dev/null || missing=1
    done
    [ -n "${missing:-}" ] || return 0
    say "installing an emulator with apt-get"
    apt-get install -qy --no-install-recommends qemu-system-x86 busybox-static cpio >/dev/null
}

# Debian's smallest kernel, unpacked.
fetch_kernel() {
    ls "$work"/kernel/boot/vmlinuz-* >/dev/null 2>&1 && return
    image=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: \(linux-image-[^ ]*\).*/\1/p' | head -n 1)
    say "fetching $image"
    mkdir -p "$work/packages"
    (cd "$work/packages" && { apt-get download "$image" || apt-get download "$image-unsigned"; })
    dpkg -x "$work"/packages/linux-image-*.deb "$work/kernel"
}

# One program with the libraries it needs, under their own paths.
add() {
    mkdir -p "$root$(dirname "$1")"
    cp -L "$1" "$root$1"
    ldd "$1" 2>/dev/null | grep -o '/[^ ]*' | while read -r library; do
        mkdir -p "$root$(dirname "$library")"
        cp -Ln "$library" "$root$library"
    done
}

make_root() {
    root=$work/root
    rm -rf "$root"
    mkdir -p "$root/usr/lib" "$root/usr/bin" "$root/proc" "$root/sys" "$root/dev" "$root/tmp" "$root/etc"
    # As on the machine itself, these are one.
    for folder in bin lib lib64; do
        mkdir -p "$root/usr/$folder"
        ln -s "usr/$folder" "$root/$folder"
    done
    cp "$(command -v busybox)" "$root/usr/bin/busybox"
    for name in sh mount mkdir switch_root ls cat echo poweroff cp chmod find; do
        ln -s busybox "$root/usr/bin/$name"
    done
    add /usr/bin/python3
    libraries=$(/usr/bin/python3 -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')
    cp -r "$libraries" "$root$libraries"
    rm -rf "$root$libraries"/test "$root$libraries"/config-*
    add "$(realpath "$tests")"
    add "$(realpath "$target/debug/assay-exec")"
    cat >"$root/init" <<INIT
#!/bin/sh
if [ "\$1" != again ]; then
    # The first root of a kernel cannot be left by pivot_root, which boxes do.
    mount -t proc proc /proc
    mkdir /new
    mount -t tmpfs -o size=1500m tmpfs /new
    for entry in /*; do
        case \$entry in /new | /proc) ;; *) cp -a "\$entry" /new/ ;; esac
    done
    mkdir /new/proc
    exec switch_root /new /bin/sh /init again
fi
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t cgroup2 groups /sys/fs/cgroup
chmod 1777 /tmp
export ASSAY_TEST_SLOWNESS=$slowness RUST_BACKTRACE=0
echo "v2: as root, in the root group"
$(realpath "$tests") boxes:: 2>&1
groups=/sys/fs/cgroup/service
mkdir "\$groups" "\$groups/main"
echo \$\$ >"\$groups/main/cgroup.procs"
echo "v2: in a group of its own"
$(realpath "$tests") boxes:: 2>&1
echo "v2: left behind: \$(find /sys/fs/cgroup -name 'assay-*')."
poweroff -f
INIT
    chmod +x "$root/init"
    (cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$work/root.gz"
}

install
fetch_kernel
tests=$(cargo test -p assay-exec --test it --no-run --message-format json 2>/dev/null |
    sed -n 's/.*"executable":"\([^"]*it-[^"]*\)".*/\1/p' | tail -n 1)
[ -x "$tests" ] || { say "the tests are not built: see cargo test -p assay-exec --test it --no-run"; exit 1; }
make_root
say "starting $(ls "$work"/kernel/boot/vmlinuz-*) in an emulator"
timeout 1500 qemu-system-x86_64 -accel tcg,thread=multi -cpu max -smp 2 -m 4096 -nographic -no-reboot \
    -kernel "$work"/kernel/boot/vmlinuz-* -initrd "$work/root.gz" -append "console=ttyS0 quiet panic=-1" |
    tee "$work/log" | tr -d '\r' | sed -n '/v2: /,$p'
passed=$(grep -c 'test result: ok' "$work/log" || true)
grep -q 'left behind: \.' "$work/log" || { say "something was left behind"; exit 1; }
[ "$passed" = 2 ] || { say "FAILED: see $work/log"; exit 1; }
say "passed"
