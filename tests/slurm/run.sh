#!/bin/sh
# A sweep through --cluster slurm on a real Slurm, against the same sweep in local processes.
#
# It installs Debian's slurm-wlm and munge, starts a Slurm of one node on the loopback interface, runs both sweeps,
# compares the cells byte by byte, and stops Slurm. It needs root: use a container or a virtual machine that may be
# thrown away. A munge or Slurm that is in use there would be disturbed, so it stops where one is configured.
#
#     tests/slurm/run.sh [PENSTOCK]      PENSTOCK: the program, by default .venv/bin/penstock

set -eu

cd "$(dirname "$0")/../.."
PENSTOCK=$(realpath -s "${1:-.venv/bin/penstock}")
CONFIG=/etc/slurm/slurm.conf
MARK="# of tests/slurm/run.sh"

if [ "$(id -u)" -ne 0 ]; then
    echo "run.sh: root is needed, to install and start Slurm" >&2
    exit 2
fi
if [ -e "$CONFIG" ] && ! grep -qxF "$MARK" "$CONFIG"; then
    echo "run.sh: $CONFIG is there already: a Slurm of somebody else is left alone" >&2
    exit 2
fi
if ! command -v slurmd >/dev/null || ! command -v munged >/dev/null; then
    apt-get update -q
    DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends slurm-wlm munge
fi

WORK=$(mktemp -d)
chmod 755 "$WORK"
mkdir -p "$WORK/state" "$WORK/spool" /run/munge /etc/slurm
chown munge: /run/munge
NODE=$(hostname -s)

# No control groups: containers often have none that slurmd may write. One processor more than there are would be
# refused, so the node has what there is.
cat >"$CONFIG" <<END
$MARK
ClusterName=penstock
SlurmctldHost=$NODE(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$WORK/munge.socket
CredType=cred/munge
StateSaveLocation=$WORK/state
SlurmdSpoolDir=$WORK/spool
SlurmctldPidFile=$WORK/slurmctld.pid
SlurmdPidFile=$WORK/slurmd.pid
SlurmctldLogFile=$WORK/slurmctld.log
SlurmdLogFile=$WORK/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
ReturnToService=2
NodeName=$NODE NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=4096 State=UNKNOWN
PartitionName=short Nodes=$NODE Default=YES MaxTime=60 State=UP
END

stop() {
    for name in slurmd slurmctld munged; do
        [ ! -s "$WORK/$name.pid" ] || kill "$(cat "$WORK/$name.pid")" 2>/dev/null || true
    done
    rm -f "$CONFIG"
}
trap stop EXIT
trap 'exit 1' INT TERM HUP

dd if=/dev/urandom of="$WORK/munge.key" bs=1024 count=1 status=none
chmod 400 "$WORK/munge.key"
munged --force --key-file="$WORK/munge.key" --socket="$WORK/munge.socket" --pid-file="$WORK/munged.pid" \
    --log-file="$WORK/munged.log" --seed-file="$WORK/munged.seed"
slurmctld
slurmd
for _ in $(seq 60); do
    [ "$(sinfo -h -o %T -n "$NODE")" != idle ] || break
    sleep 1
done
sinfo

sweep() {
    "$PENSTOCK" sweep quickstart --set load=0.3:0.7:0.2 --set scheme=bfc,dctcp --seeds 1..3 --set duration=100us "$@"
}
cells() {
    (cd "$1/cells" && find . -type f -exec sha256sum {} + | sort -k 2)
}
slurm="--cluster slurm --jobs 2 --cluster-option partition=short --cluster-option time=10 --cluster-option interface=lo"

# shellcheck disable=SC2086  # these are several words
sweep --out "$WORK/slurm" $slurm --cluster-option mem=1GB
sweep --out "$WORK/local"
cells "$WORK/slurm" >"$WORK/slurm.sums"
cells "$WORK/local" >"$WORK/local.sums"
cmp "$WORK/slurm.sums" "$WORK/local.sums"
echo "$(wc -l <"$WORK/slurm.sums") cells from Slurm are equal to the local ones, byte by byte"

# However a sweep ends, its jobs end.
empty_queue() {
    for _ in $(seq 90); do
        [ -n "$(squeue -h)" ] || return 0
        sleep 1
    done
    squeue >&2
    return 1
}
empty_queue
for signal in INT KILL; do
    # Python leaves INT ignored where the shell has it ignored, as for every command in its background.
    # shellcheck disable=SC2086
    env --default-signal=INT "$PENSTOCK" sweep bfc-google-60 --set duration=50ms --set load=0.3,0.5 --seeds 1 \
        --out "$WORK/$signal" $slurm --cluster-option mem=1GB 2>"$WORK/$signal.log" &
    for _ in $(seq 60); do
        [ -z "$(squeue -h -t RUNNING)" ] || break
        sleep 1
    done
    [ -n "$(squeue -h -t RUNNING)" ]
    sleep 5
    kill -s "$signal" $!
    wait $! || true
    empty_queue
    echo "after $signal no job is left"
done

code=0
# shellcheck disable=SC2086
sweep --out "$WORK/refused" $slurm --cluster-option partition=nowhere 2>"$WORK/refused.log" || code=$?
cat "$WORK/refused.log"
[ "$code" -eq 2 ] && grep -q "Slurm refuses the job" "$WORK/refused.log"
echo "a partition that does not exist is refused"
