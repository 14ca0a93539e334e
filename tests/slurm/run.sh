#!/usr/bin/env bash
# Sweeps a plan on a real Slurm of one node, kills tasks and once the waiting process, and compares the
# results with those of a local sweep, byte for byte.
#
#   tests/slurm/run.sh [RUNS [KILLS]]
#
# RUNS is a multiple of 4, 40 by default; KILLS, 3 by default, is how many running tasks are killed.
# WARPMEM is the program, by default target/release/warpmem. Needs slurmctld, slurmd, slurm-client and
# munge, of which it starts its own in a temporary folder, on ports of this host only.
set -euo pipefail

runs=${1:-40}
kills=${2:-3}
warpmem=$(realpath "${WARPMEM:-$(dirname "$0")/../../target/release/warpmem}")
host=$(hostname -s)
folder=$(mktemp -d)
chmod 755 "$folder"
daemons=()
waiting=

say() { echo "$(date +%T) $*"; }

fail() {
    say "FAILED: $*"
    tail -n 20 "$folder"/*.log "$folder"/*.txt 2>/dev/null || true
    exit 1
}

tear_down() {
    if [ -n "$waiting" ]; then kill -KILL "$waiting" 2>/dev/null || true; fi
    # Never use the queue of another Slurm.
    if [ "${SLURM_CONF:-}" = "$folder/slurm.conf" ]; then
        scancel --user="$(id -un)" 2>/dev/null || true
        sleep 1
    fi
    for daemon in "${daemons[@]}"; do
        kill "$daemon" 2>/dev/null || true
    done
    wait 2>/dev/null || true
    rm -rf "$folder"
}
trap tear_down EXIT

# Waits until a command succeeds.
wait_for() {
    for _ in $(seq 300); do
        if "$@" >/dev/null 2>&1; then return 0; fi
        sleep 0.1
    done
    fail "waited in vain for: $*"
}

start_slurm() {
    mkdir "$folder/munge" "$folder/state" "$folder/spool"
    chmod 755 "$folder/munge"
    (umask 077 && head -c 1024 /dev/urandom >"$folder/munge/key")
    munged --foreground --socket="$folder/munge/socket" --key-file="$folder/munge/key" \
        --log-file="$folder/munge/log" --pid-file="$folder/munge/pid" --seed-file="$folder/munge/seed" \
        >"$folder/munged.log" 2>&1 &
    daemons+=($!)
    wait_for test -S "$folder/munge/socket"

    local port=$((20000 + RANDOM % 10000))
    cat >"$folder/slurm.conf" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CredType=cred/munge
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
# Four concurrent tasks, regardless of the number of processors.
SlurmdParameters=config_overrides
NodeName=$host NodeAddr=127.0.0.1 CPUs=4
PartitionName=test Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
    export SLURM_CONF=$folder/slurm.conf
    slurmctld -D >"$folder/slurmctld.log" 2>&1 &
    daemons+=($!)
    slurmd -D >"$folder/slurmd.log" 2>&1 &
    daemons+=($!)
    wait_for grep_idle
}

grep_idle() { sinfo --noheader --format=%t | grep -q idle; }

write_plan() {
    "$warpmem" generate pointer-chase --hops 2^16 --nodes 2^14 -o "$folder/chase.wmt"
    "$warpmem" generate gather --n 2^12 -o "$folder/gather.wmt"
    cat >"$folder/plan.toml" <<END
traces = ["*.wmt"]
loads = true
[policies]
dram_scheduler = ["fr-fcfs", "fcfs"]
[parameters]
"l2.to_dram_latency" = { from = 0, to = $((runs / 4 - 1)), step = 1 }
END
}

sweep_on_slurm() {
    "$warpmem" sweep "$folder/plan.toml" --slurm --tasks "$tasks" --time 60 -o "$folder/slurm" \
        >"$folder/slurm.txt" 2>>"$folder/slurm-notes.txt" &
    waiting=$!
}

# Counts the tasks that ended with missing cells.
deaths() { grep -c 'it is resubmitted$' "$folder/slurm-notes.txt" || true; }

died() { [ "$(deaths)" -gt "$1" ]; }

# Finds a running task with finished and unfinished cells, as `JOB ID`, `ARRAY` and `NUMBER`.
victim() {
    squeue --noheader --array --states=RUNNING --format='%A %F %K' | shuf | while read -r job array number; do
        local cells=$folder/slurm/shards/$number/cells
        local finished
        finished=$(find "$cells" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l)
        if [ "$finished" -ge 1 ] && [ "$finished" -lt $((runs / tasks - 1)) ]; then
            echo "$job $array $number"
            break
        fi
    done
}

# Kills one running task, by its process or by Slurm, and waits until the sweep notices. If a task ends
# before it is killed, another is chosen.
kill_a_task() {
    local before job array number
    before=$(deaths)
    while ! died "$before"; do
        kill -0 "$waiting" 2>/dev/null || fail "the sweep ended before $kills tasks were killed"
        read -r job array number <<<"$(victim)" || true
        if [ -z "${number:-}" ]; then sleep 0.05; continue; fi
        if [ $(($1 % 2)) = 0 ]; then
            process=$(scontrol listpids "$job" 2>/dev/null | awk 'NR == 2 { print $1 }')
            [ -n "$process" ] && kill -KILL "$process" 2>/dev/null || continue
            say "killed the process of task ${array}_$number"
        else
            scancel "${array}_$number"
            say "cancelled task ${array}_$number"
        fi
        for _ in $(seq 300); do
            if died "$before" || ! kill -0 "$waiting" 2>/dev/null; then break; fi
            sleep 0.1
        done
    done
}

# The waiting process is killed; a new process waits for the same tasks.
kill_the_waiting() {
    kill -KILL "$waiting"
    wait "$waiting" 2>/dev/null || true
    say "killed the waiting process; started another"
    sweep_on_slurm
    wait_for grep -q '^the queue has .*: waiting for them$' "$folder/slurm-notes.txt"
}

tasks=$((runs >= 200 ? 20 : 5))
say "a local sweep of $runs runs"
write_plan >/dev/null 2>&1
"$warpmem" sweep "$folder/plan.toml" -o "$folder/local" >"$folder/local.txt" 2>"$folder/local-notes.txt"
tail -n 1 "$folder/local-notes.txt"

say "starting Slurm $(slurmctld -V | awk '{ print $2 }')"
start_slurm

say "a sweep of $tasks tasks on Slurm"
: >"$folder/slurm-notes.txt"
begun=$SECONDS
sweep_on_slurm
for kill in $(seq "$kills"); do
    kill_a_task "$kill"
    if [ "$kill" = $(((kills + 1) / 2)) ]; then kill_the_waiting; fi
done
wait "$waiting" || fail "the sweep ended with status $?"
cat "$folder/slurm-notes.txt"
[ "$(deaths)" -ge "$kills" ] || fail "only $(deaths) of $kills kills were noticed"

cmp "$folder/local.txt" "$folder/slurm.txt" || fail "another comparison"
diff -r "$folder/local" "$folder/slurm" || fail "other files"
files=$(find "$folder/slurm" -type f | wc -l)
say "$runs runs by $tasks tasks in $((SECONDS - begun)) s; $kills tasks killed, $(deaths) submitted again: $files files, byte for byte those of the local sweep"
