#!/usr/bin/env bash
# Runs `cargo build` and tells how far it is: scripts/build.sh NAME CARGO-ARGUMENTS...
#
# A terminal shows cargo's own bar; elsewhere a plain line says every 15 seconds what was compiled, how far the
# build is and how long it may take. That is estimated from the last whole build here (target/build-times.txt), or
# else from one on two cores. Says nothing where there is nothing to build.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

name=$1
shift
times=${CARGO_TARGET_DIR:-target}/build-times.txt
LINE_SECONDS=15

# Packages and seconds of a whole build on two cores: half of the processor time that it was measured to take.
case $name in
    programs) packages=687 seconds=600 ;;
    packed) packages=734 seconds=1100 ;;
    plugins) packages=156 seconds=75 ;;
    *) packages=1 seconds=1 ;;
esac
whose='on two cores'
if read -r _ packages_here seconds_here < <(grep "^$name " "$times" 2>/dev/null); then
    packages=$packages_here seconds=$seconds_here whose='the last time here'
fi

minutes() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

say() { printf '%s%s: %s\n' "$clear" "$name" "$*" >&2; }

# A whole build is what the next one is compared with.
remember() {
    [ "$built" -ge $((packages / 2)) ] || return 0
    { grep -v "^$name " "$times" 2>/dev/null; printf '%s %d %d\n' "$name" "$seen" "$SECONDS"; } >"$times.new" &&
        mv "$times.new" "$times"
}

# A line of what cargo says of a finished package.
count() {
    case $1 in *'"reason":"compiler-artifact"'*) ;; *) return 0 ;; esac
    seen=$((seen + 1))
    case $1 in *'"fresh":true'*) return 0 ;; esac
    if [ "$built" = 0 ]; then
        say "building; a whole build has about $packages packages and took $(minutes "$seconds") $whose"
    fi
    built=$((built + 1))
    last=${1#*'"target":{'}
    last=${last#*'"name":"'}
    last=${last%%\"*}
}

tell() {
    local left=$((seconds - SECONDS))
    [ "$built" -gt 0 ] && [ $((SECONDS - told)) -ge "$LINE_SECONDS" ] || return 0
    told=$SECONDS
    # Packages differ too much to be counted on; nothing is known of part of a build, nor of one that takes longer.
    [ "$left" -gt 0 ] && [ $((2 * built)) -gt "$seen" ] || left=
    say "$seen of about $packages packages after $(minutes "$SECONDS")${left:+, about $(minutes "$left") left}; last: $last"
}

options=(--message-format=json-render-diagnostics)
clear=
if [ -t 2 ]; then clear=$'\r\e[K'; else options+=(--quiet); fi
seen=0 built=0 told=0 last=
exec {messages}< <(exec cargo build "${options[@]}" "$@")
cargo=$!
part=
while :; do
    if IFS= read -r -t 1 -u "$messages" line; then
        count "$part$line"
        part=
    elif [ $? -gt 128 ]; then
        # Time is up in the midst of a line.
        part+=$line
    else
        break
    fi
    [ -n "$clear" ] || tell
done
wait "$cargo" || exit
[ "$built" = 0 ] || say "$built packages built in $(minutes "$SECONDS")"
remember
