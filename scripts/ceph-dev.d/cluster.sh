# Making, starting and stopping a cluster. Sourced by scripts/ceph-dev.
#
# What must stay true: the file `ready` is there only once a cluster has been made whole, so that one that was broken
# off is made anew; what is there already is not started again.
# shellcheck shell=bash

# One question to the cluster. Waited for in the background, because a trap would otherwise have to wait too.
ask() {
    "$PYTHON" "$PARTS/ask.py" "$BASE" "${LAUNCHED[*]}" "$@" 9>&- &
    wait $!
}

free_port() {
    "$PYTHON" - <<'CODE'
import random, socket
for port in random.sample(range(16000, 26000), 100):
    try:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
    except OSError:
        continue
    print(port)
    break
CODE
}

write_conf() {
    local size=1 min_size=1 full
    [[ $OSDS -eq 1 ]] || size=3 min_size=2
    # Per cent. What is kept free, 1.4 GiB, is more than clients wrote (0.6 GiB) before they knew of a full OSD on a
    # machine with other work.
    full=$((100 - 140 / GIB))
    [[ $full -le 90 ]] || full=90
    sed -e "s|@BASE@|$BASE|g; s|@FSID@|$(recall fsid)|; s|@PORT@|$(recall port)|" \
        -e "s|@SIZE@|$size|; s|@MIN_SIZE@|$min_size|; s|@BLOCK_BYTES@|$((GIB << 30))|" \
        -e "s|@NEARFULL@|.$((full - 5))|; s|@BACKFILLFULL@|.$((full - 3))|; s|@FULL@|.$full|; s|@FAILSAFE@|.$((full + 5))|" "$PARTS/ceph.conf.in" >"$DIR/ceph.conf"
}

# keyring FILE USER CAP...: a new key; also noted among those that the monitor begins with.
keyring() {
    local file=$1 user=$2
    shift 2
    mkdir -p "$(dirname "$file")"
    {
        printf '[%s]\n\tkey = %s\n' "$user" "$(ceph-authtool --gen-print-key)"
        while [[ $# -gt 0 ]]; do
            printf '\tcaps %s = "%s"\n' "$1" "$2"
            shift 2
        done
    } >"$file"
    cat "$file" >>"$DIR/first.keyring"
}

make_keys() {
    local i pools="allow rwx pool=isotach, allow rwx pool=isotach-data"
    [[ $OSDS -eq 1 ]] || pools=${pools//isotach-data/isotach-ec}
    rm -f "$DIR/first.keyring"
    keyring "$DIR/mon.keyring" mon. mon 'allow *'
    keyring "$DIR/client.admin.keyring" client.admin mon 'allow *' osd 'allow *' mgr 'allow *'
    keyring "$DIR/client.isotach.keyring" client.isotach mon 'allow r' osd "$pools"
    keyring "$DIR/client.nobody.keyring" client.nobody mon 'allow r'
    for ((i = 0; i < OSDS; i++)); do
        keyring "$DIR/osd.$i/keyring" "osd.$i" mon 'allow profile osd' mgr 'allow profile osd' osd 'allow *'
    done
    [[ -z $MGR ]] || keyring "$DIR/mgr.x/keyring" mgr.x mon 'allow profile mgr' osd 'allow *'
}

# default_gib OSDS: of each OSD.
default_gib() { printf '%s' $(($1 == 1 ? 10 : 6)); }

# Anew, also after a start that was broken off. The OSDs' disks are made while the monitor comes up.
make_cluster() {
    local i uuid uuids=() making=()
    FRESH=yes
    kill_all
    remove_link
    rm -rf "$DIR"/mon.* "$DIR"/osd.* "$DIR"/mgr.* "${DIR:?}/log" "$DIR/run"
    mkdir "$DIR/log" "$DIR/run"
    choose_base
    : "${OSDS:=1}" "${GIB:=$(default_gib "$OSDS")}"
    printf '%s\n' "base=$BASE" "osds=$OSDS" "gib=$GIB" "mgr=$MGR" "port=$(free_port)" "fsid=$(</proc/sys/kernel/random/uuid)" >"$DIR/$MARK"
    write_conf
    make_keys
    for ((i = 0; i < OSDS; i++)); do
        uuid=$(</proc/sys/kernel/random/uuid)
        uuids+=("$uuid")
        ceph-osd --mkfs --no-mon-config -c "$BASE/ceph.conf" -i "$i" --osd-uuid "$uuid" >>"$DIR/log/osd.$i.out" 2>&1 9>&- &
        making+=($!)
    done
    make_monitor >>"$DIR/log/mon.a.out" 2>&1 || die_with_logs "the monitor's store could not be made" mon.a
    start_monitor
    ask make "${uuids[@]}" || die_with_logs "the OSDs and pools could not be made known to the monitor" mon.a
    for ((i = 0; i < OSDS; i++)); do
        wait "${making[i]}" || die_with_logs "the disk of osd.$i could not be made" "osd.$i"
    done
}

# Commands of their own go without the lock; a group that went without it would keep it open until its end.
make_monitor() {
    monmaptool --create --clobber --fsid "$(recall fsid)" --addv a "[v2:127.0.0.1:$(recall port)]" "$BASE/monmap" 9>&- &&
        ceph-mon --mkfs -c "$BASE/ceph.conf" -i a --monmap "$BASE/monmap" --keyring "$BASE/first.keyring" 9>&-
}

start_monitor() {
    launch mon.a ceph-mon -i a
    ask monitor || die_with_logs "the monitor is not up" mon.a
}

start_osds() {
    local i
    for i in "$@"; do launch "osd.$i" ceph-osd -i "$i"; done
    [[ ! -d $DIR/mgr.x ]] || launch mgr.x ceph-mgr -i x
    ask ready "$@" || die_with_logs "the cluster is not ready" "${@/#/osd.}"
}

osd_numbers() { seq 0 $(($(recall osds) - 1)); }

# What was asked for must be what is there.
take_options() {
    local name want have
    for name in osds gib mgr; do
        have=$(recall "$name")
        case $name in osds) want=$OSDS ;; gib) want=$GIB ;; mgr) want=$MGR ;; esac
        [[ -z $want || $want == "$have" ]] ||
            die "the cluster in $DIR has --$name ${have:-no}, not $want" "stop it first: scripts/ceph-dev stop --dir $(quoted "$DIR")"
    done
    OSDS=$(recall osds) GIB=$(recall gib) MGR=$(recall mgr)
}

resume_all() {
    local pid name
    while read -r pid name; do
        is_paused "$pid" && kill -CONT "$pid" && say "$name was paused and goes on"
    done < <(daemons) || true
}

start_cluster() {
    local begin=${EPOCHREALTIME/./} numbers mask
    need_installed
    mask=$(umask)
    umask 077
    claim_folder
    if [[ -e $DIR/ready ]]; then
        take_options
        if ! [[ $BASE -ef $DIR ]]; then
            kill_all
            choose_base
            sed -i "s|^base=.*|base=$BASE|" "$DIR/$MARK"
        fi
        write_conf
        resume_all
        start_monitor
    else
        make_cluster
    fi
    mapfile -t numbers < <(osd_numbers)
    start_osds "${numbers[@]}"
    : >"$DIR/ready"
    unlock_folder
    # What `with` runs has the mask of its caller.
    umask "$mask"
    say "up in $(((${EPOCHREALTIME/./} - begin) / 1000)) ms${FRESH:+, new}: $DIR"
}

print_environment() {
    local name
    for name in CEPH_CONF="$BASE/ceph.conf" CEPH_KEYRING="$BASE/client.admin.keyring" ISOTACH_RADOS_POOL=isotach ISOTACH_CEPH_DEV="$BASE"; do
        printf 'export %s=%q\n' "${name%%=*}" "${name#*=}"
    done
}

stop_cluster() {
    if ! is_ours; then
        [[ ! -e $DIR ]] || die "$DIR was not made by ceph-dev" "nothing was stopped or removed"
        say "there is nothing in $DIR"
        return
    fi
    lock_folder || { say "another stop has removed $DIR"; return; }
    BASE=$(recall base)
    kill_all
    remove_link
    rm -rf -- "$DIR"
    unlock_folder
    say "stopped, and removed $DIR"
}

status() {
    local name pid numbers all_up=yes
    [[ -e $DIR/ready ]] || { echo "no cluster in $DIR"; return 1; }
    mapfile -t numbers < <(osd_numbers)
    for name in mon.a "${numbers[@]/#/osd.}" $([[ -z $(recall mgr) ]] || echo mgr.x); do
        if ! pid=$(pid_of "$name"); then
            echo "$name down"
            all_up=''
        elif is_paused "$pid"; then
            echo "$name paused pid $pid"
            all_up=''
        else
            echo "$name up pid $pid"
        fi
    done
    [[ -n $all_up ]]
}
