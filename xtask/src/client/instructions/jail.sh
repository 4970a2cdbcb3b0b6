# Runs a program with a file system of its own, so that a tree's paths are the real ones and the
# machine's own home and managed folder are neither read nor written.
# Arguments: ROOT CLIENT REMORA CWD PROGRAM [ARGUMENT..]. Must run in a mount namespace of its own.
set -eu
root=$1 client=$2 remora=$3 cwd=$4
shift 4
outside=$(readlink /proc/1/ns/mnt 2>/dev/null || echo unknown)
if [ "$(readlink /proc/self/ns/mnt)" = "$outside" ]; then
    echo "this is not a mount namespace of its own" >&2
    exit 1
fi
for name in bin sbin lib lib32 lib64 libx32 usr opt nix dev proc; do
    if [ -L "/$name" ]; then
        [ -L "$root/$name" ] || ln -s "$(readlink "/$name")" "$root/$name"
    elif [ -d "/$name" ]; then
        mkdir -p "$root/$name"
        mount --rbind "/$name" "$root/$name"
    fi
done
for name in passwd group nsswitch.conf hosts ld.so.cache ld.so.conf; do
    [ ! -e "/etc/$name" ] || [ -e "$root/etc/$name" ] || cp "/etc/$name" "$root/etc/$name"
done
for name in alternatives ld.so.conf.d; do
    [ -d "/etc/$name" ] || continue
    mkdir -p "$root/etc/$name"
    mount --rbind "/etc/$name" "$root/etc/$name"
done
for pair in "client:$client" "remora:$remora"; do
    [ -n "${pair#*:}" ] || continue
    : >>"$root/${pair%%:*}"
    mount --bind "${pair#*:}" "$root/${pair%%:*}"
done
for name in home tmp data etc/claude-code; do
    [ "${JAIL_USER:-0}" = 0 ] || [ ! -e "$root/$name" ] || chown -R "$JAIL_USER:$JAIL_USER" "$root/$name"
done
# Nobody in there may read what a mode forbids: root becomes another user, and one who is root in
# a namespace only loses the rights that come with it.
if [ "${JAIL_USER:-0}" != 0 ]; then
    drop="--reuid $JAIL_USER --regid $JAIL_USER --clear-groups"
else
    drop="--bounding-set -all --inh-caps -all"
fi
unset JAIL_USER
# shellcheck disable=SC2086 # the words of `drop`
exec chroot "$root" setpriv $drop sh -c 'cd -P -- "$1" && shift && exec "$@"' jail "$cwd" "$@"
