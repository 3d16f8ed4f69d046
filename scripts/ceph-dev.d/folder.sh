# The folder of a cluster and the daemons that run from it. Sourced by scripts/ceph-dev.
#
# What must stay true: a folder without our mark is never written to or removed, and only a process whose command line
# names our configuration is ever sent a signal.
# shellcheck shell=bash

default_folder() { printf '%s' "${ISOTACH_CEPH_DIR:-${TMPDIR:-/tmp}/isotach-ceph}"; }

# A container often has only 64 MiB in /dev/shm.
fits_in_memory() {
    local free_kib osds=${OSDS:-1}
    free_kib=$(df --output=avail /dev/shm 2>/dev/null | tail -n 1) || return 1
    [[ -w /dev/shm ]] && ((free_kib >> 20 >= osds * ${GIB:-$(default_gib "$osds")}))
}

# Settles DIR, and BASE, by which the daemons know it, where the folder is ours already.
settle_folder() {
    DIR=$(readlink -m -- "$1")
    BASE=$(recall base)
}

is_ours() { [[ -f $DIR/$MARK ]]; }

recall() { sed -n "s/^$1=//p" "$DIR/$MARK" 2>/dev/null || true; }

need_cluster() {
    [[ -e $DIR/ready ]] && return
    die "there is no cluster in $DIR" "start one: scripts/ceph-dev start --dir $(quoted "$DIR")"
}

# Makes the folder, or takes one that is empty or ours, and locks it.
claim_folder() {
    if [[ -e $DIR ]] && ! is_ours && [[ ! -d $DIR || -n $(ls -A "$DIR") ]]; then
        die "$DIR is there and was not made by ceph-dev" "expected an empty or a new folder; give another with --dir"
    fi
    while true; do
        mkdir -p "$DIR" || die "cannot make the folder $DIR" "give another with --dir"
        [[ -e $DIR/$MARK ]] || : >"$DIR/$MARK"
        lock_folder && break
    done
    mkdir -p "$DIR/run" "$DIR/log" "$DIR/crash"
    BASE=$(recall base)
}

# Fails if the folder was removed while we waited for its lock.
lock_folder() {
    exec 9>"$DIR/lock" || return 1
    flock -w 120 9 || die "$DIR is locked by another start or stop for 120 s" "wait for it, or end it"
    [[ $DIR/lock -ef /proc/self/fd/9 ]] || return 1
    LOCK_HELD=yes
}

unlock_folder() {
    [[ -z $LOCK_HELD ]] || exec 9>&-
    LOCK_HELD=''
}

# A path that Ceph can use: its sockets allow 107 characters, its configuration no spaces. Else a link to the folder.
choose_base() {
    BASE=$DIR
    [[ ${#DIR} -le 80 && $DIR =~ ^[A-Za-z0-9/._-]+$ ]] && return
    # Not TMPDIR, which may be as long.
    BASE=$(TMPDIR=/tmp mktemp -ut isotach-ceph-link.XXXXXX)
    ln -s -- "$DIR" "$BASE" || die "cannot make the link $BASE to $DIR"
}

remove_link() {
    [[ -z $BASE || $BASE == "$DIR" || ! -L $BASE ]] || rm -f -- "$BASE"
}

# Prints PID NAME of every daemon of this cluster, such as "123 osd.0"; NAME is followed by ".mkfs" while that is made.
daemons() {
    [[ -n $BASE ]] || return 0
    local file words kind
    while read -r file; do
        { mapfile -d '' -t words <"$file"; } 2>/dev/null || continue
        kind=${words[0]:-}
        kind=${kind##*/}
        case $kind in ceph-mon | ceph-osd | ceph-mgr) daemon_name "${file//[^0-9]/}" "${kind#ceph-}" "${words[@]}" ;; esac
    done < <(grep -lzxF -- "$BASE/ceph.conf" /proc/[0-9]*/cmdline 2>/dev/null || true)
}

daemon_name() {
    local pid=$1 kind=$2 id='' making=''
    shift 2
    while [[ $# -gt 0 ]]; do
        case $1 in
        -i) id=${2:-} ;;
        --mkfs) making=.mkfs ;;
        esac
        shift
    done
    printf '%s %s.%s%s\n' "$pid" "$kind" "$id" "$making"
}

# pid_of NAME: fails if it does not run.
pid_of() { daemons | awk -v name="$1" '$2 == name { print $1; found = 1; exit } END { exit !found }'; }

is_paused() { grep -q '^State:[[:space:]]*T' "/proc/$1/status" 2>/dev/null; }

# launch NAME PROGRAM...: in a session of its own, so that neither ^C nor our end reaches it. Adds to LAUNCHED, so
# that whoever waits for it learns of its end.
launch() {
    local name=$1 pid
    shift
    if ! pid=$(pid_of "$name"); then
        (cd / && exec setsid "$@" -f -c "$BASE/ceph.conf" </dev/null >>"$DIR/log/$name.out" 2>&1 9>&-) &
        pid=$!
        # Else the shell would report its end, which is ours to bring about.
        disown "$pid"
    fi
    LAUNCHED+=("$pid")
}

# Until none is there; a zombie counts as gone, because it has no command line.
kill_all() {
    local pids
    for _ in {1..500}; do
        pids=$(daemons | cut -d' ' -f1)
        [[ -n $pids ]] || return 0
        # shellcheck disable=SC2086 # one word for each process
        kill -KILL $pids 2>/dev/null || true
        sleep 0.02
    done
    die "these daemons do not end on SIGKILL: $(daemons | tr '\n' ' ')"
}

kill_one() {
    local name=$1 pid
    pid=$(pid_of "$name") || die "$name does not run" "scripts/ceph-dev status --dir $(quoted "$DIR") tells what does"
    kill -KILL "$pid"
    for _ in {1..500}; do
        pid_of "$name" >/dev/null || return 0
        sleep 0.02
    done
    die "$name (process $pid) does not end on SIGKILL"
}
