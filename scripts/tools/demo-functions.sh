# Functions of scripts/demo: processes, builds, accounts, the campaign's report. Sourced, not run.
# They use $data, $listen, $programs, $given, $coordinator, $campaign, $worker and the function
# `refuse` of the script.
# shellcheck shell=bash

# The process that serves a page until the coordinator does.
waiting=''
# Descriptor 3 leads to the process that prints.
start_ticker() {
    echo "this has begun" >"$data/progress"
    exec 3> >(exec setsid scripts/tools/demo-ticker "$data/progress" 9>&-)
    ticker=$!
}
say() { printf 'say %s\n' "$*" >&3; }
doing() { # [KIND TEXT [LOG]]: what the ticker counts from now on
    local IFS=$'\t'
    printf 'doing %s\n' "$*" >&3
}
# A sleep that a signal interrupts.
pause() {
    sleep "$1" &
    wait $! || true
}

# Sets $socket for the coordinator and $server for everyone else.
resolve_address() {
    local host=${listen%:*} port=${listen##*:} number
    [[ "$listen" = ?*:* ]] && [[ "$port" =~ ^[0-9]{1,5}$ ]] && [ "$port" -ge 1 ] && [ "$port" -le 65535 ] ||
        refuse "--listen takes HOST:PORT with a port from 1 to 65535, as localhost:7272; not '$listen'"
    host=${host#[} host=${host%]}
    number=$(getent ahostsv4 "$host" || getent ahosts "$host") || refuse "--listen: there is no host '$host'"
    number=${number%%[[:space:]]*}
    case "$number" in
        127.* | ::1) ;;
        0.0.0.0 | ::) host=127.0.0.1 ;;
        *) [[ " $(hostname -I 2>/dev/null)" = *" $number "* ]] ||
            refuse "--listen: '$host' ($number) is not an address of this machine" ;;
    esac
    [ "$port" -ge "$(cat /proc/sys/net/ipv4/ip_unprivileged_port_start 2>/dev/null || echo 1024)" ] ||
        [ "$(id -u)" = 0 ] || refuse "--listen: port $port is for root alone; take one from 1024 on"
    ip=$number
    [[ "$number" != *:* ]] || number="[$number]"
    [[ "$host" != *:* ]] || host="[$host]"
    socket=$number:$port server=http://$host:$port
}
# Prints where this clone comes from, for the pages: without a password; this folder, if unknown.
source_address() {
    local found
    for found in "$(git remote get-url origin 2>/dev/null | sed 's#//[^/@]*@#//#')" "$PWD"; do
        [[ ! "$found" =~ ^[A-Za-z0-9/:@._~+-]*/[A-Za-z0-9/:@._~+-]*$ ]] || { echo "$found"; break; }
    done
}
answers() { curl --noproxy '*' -fs "$server/healthz" >/dev/null 2>&1; }
need() { # FOLDER MIB: refuses if its disk has less
    local free
    free=$(($(df --output=avail --block-size=1M "$1" | tail -n 1)))
    [ "$free" -ge "$2" ] || refuse "the disk of $1 has $free MiB left; this takes $2"
}
# An earlier demonstration whose terminal was closed, or another coordinator.
refuse_taken() {
    ! { : <>"/dev/tcp/$ip/${socket##*:}"; } 2>/dev/null ||
        refuse "something answers at $listen already; --listen takes another address"
}

# A board that moves while the coordinator is built, at the address where it will answer.
start_waiting_page() {
    [ -z "$waiting" ] && [ ! -e "$programs/chuhe-coordinator" ] && python3 -c 'import http.server' 2>/dev/null || return 0
    setsid scripts/tools/waiting-page/serve "$ip" "${socket##*:}" "$data/progress" >"$data/logs/waiting-page.log" 2>&1 3>&- 9>&- &
    waiting=$!
    say "a published game to watch meanwhile: $server"
}
end_waiting_page() {
    end "$waiting" "the page"
    waiting=''
}

start() { # NAME COMMAND…: the process is in $started
    local name=$1
    shift
    setsid "$@" >>"$data/logs/$name.log" 2>&1 3>&- 9>&- &
    started=$!
}
is_alive() { [ -n "$1" ] && kill -0 "$1" 2>/dev/null; }
end() { # PROCESS NAME: terminates it and waits
    is_alive "$1" || return 0
    doing wait "waiting for the end of $2"
    kill -TERM "$1" 2>/dev/null || true
    for _ in $(seq 300); do
        is_alive "$1" || return 0
        sleep 0.1
    done
    say "$2 does not end: killing it"
    kill -KILL "$1" 2>/dev/null || true
}

# Cargo draws its bar into the log.
export CARGO_TERM_PROGRESS_WHEN=always CARGO_TERM_PROGRESS_WIDTH=100
last_lines() { # LOG: its end, without the bars
    tr '\r' '\n' <"$1" | grep -av 'Building \[' | tail -n 20 >&2
}
build() { # NAME: builds chuhe-NAME
    local log="$data/logs/build-$1.log"
    [ -z "$given" ] || return 0
    say "building the $1; what cargo says goes to $log"
    setsid cargo build --profile quick --locked --no-default-features -p "chuhe-$1" >"$log" 2>&1 3>&- 9>&- &
    building=$!
    doing build "building the $1" "$log"
    wait "$building" || { last_lines "$log"; refuse "the build failed: see $log"; }
    building=''
}

admin() { "${coordinator[@]}" admin "$@"; }
# Prints a value alone: what the command says beside it is only for errors.
admin_value() {
    admin "$@" 2>"$data/logs/admin.log" || { cat "$data/logs/admin.log" >&2; return 1; }
}

token() { # ROLE: the token of the account with this role, made on the first call
    local file="$data/token-$1"
    if [ ! -s "$file" ]; then
        # An earlier run may have been stopped between account and token.
        admin user list | grep "\"demo-$1\"" >/dev/null || admin user create "demo-$1" --role "$1" >/dev/null
        admin_value token create "demo-$1" | tail -n 1 >"$file.part" && mv "$file.part" "$file" ||
            refuse "no token for demo-$1 could be made"
    fi
    cat "$file"
}
password() { # the password of demo-admin, made on the first call
    local file="$data/password-admin"
    if [ ! -s "$file" ]; then
        head -c 10 /dev/urandom | base32 | tr 'A-Z' 'a-z' >"$file.part"
        admin user password demo-admin <"$file.part" >/dev/null && mv "$file.part" "$file" ||
            refuse "no password for demo-admin could be set"
    fi
    cat "$file"
}

report() { # KEY…: its value in the report of the campaign
    admin campaign show "$campaign" | python3 -c '
import json, sys
value = json.load(sys.stdin)
for key in sys.argv[1:]:
    value = (value or {}).get(key)
print("" if value is None else value)' "$@"
}

# No other account could audit this machine's games: with a trusted worker gates do not wait.
trust() {
    local number
    doing wait "the worker tests this machine" "$data/logs/worker.log"
    for _ in $(seq 600); do
        number=$(admin worker list | python3 -c '
import json, sys
print(*[worker["worker"] for worker in json.load(sys.stdin)
        if (worker["account"], worker["name"]) == ("demo-volunteer", "this-machine")][:1])')
        [ -z "$number" ] || { admin worker trust "$number" >/dev/null; return; }
        is_alive "$worker" || { tail -n 3 "$data/logs/worker.log" >&2; refuse "the worker does not run"; }
        sleep 0.5
    done
    refuse "the worker did not come: see $data/logs/worker.log"
}

# Takes the low priority from the trainer's build when only it is waited for. That needs root.
hurry_build() {
    is_alive "$building" || return 0
    { echo 0 >"/proc/$building/autogroup"; } 2>/dev/null || true
    renice -n 0 -g "$building" >/dev/null 2>&1 || true
}

# Names the page of the gate's match, which the coordinator shows live by itself.
announce_live() {
    local job
    job=$(report gate job) || return 0
    [ -n "$job" ] && [ "$job" != "$live" ] || return 0
    live=$job
    say "the match is live at $server/en/live-game"
}

champion() { # its name
    admin net list | python3 -c '
import json, sys
print(*[net["name"] for net in json.load(sys.stdin) if net["net"] == sys.argv[1]])' "$(report champion)"
}

print_addresses() {
    printf '%s\n' "$(token admin)" |
        python3 scripts/tools/demo-addresses "$server" "$(report decided job)" "$(report champion)" |
        sed 's/^/show /' >&3
}
