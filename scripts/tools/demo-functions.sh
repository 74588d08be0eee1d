# Functions of scripts/demo: processes, accounts, the campaign's report. Sourced, not run.
# They use $data, $listen, $server, $coordinator, $worker and the function `refuse` of the script.
# shellcheck shell=bash

say() { printf '[%3d:%02d] %s\n' $((SECONDS / 60)) $((SECONDS % 60)) "$*"; }
answers() { curl --noproxy '*' -fs "$server/healthz" >/dev/null 2>&1; }
need() { # FOLDER MIB: refuses if its disk has less
    local free
    free=$(($(df --output=avail --block-size=1M "$1" | tail -n 1)))
    [ "$free" -ge "$2" ] || refuse "the disk of $1 has $free MiB left; this takes $2"
}
# An earlier demonstration whose terminal was closed, or another coordinator.
refuse_taken() {
    ! { : <>"/dev/tcp/${listen%:*}/${listen##*:}"; } 2>/dev/null ||
        refuse "something answers at $listen already; --listen takes another address"
}

start() { # NAME COMMAND…: the process is in $started
    local name=$1
    shift
    setsid "$@" >>"$data/logs/$name.log" 2>&1 9>&- &
    started=$!
}
is_alive() { [ -n "$1" ] && kill -0 "$1" 2>/dev/null; }
end() { # PROCESS NAME: terminates it and waits
    is_alive "$1" || return 0
    kill -TERM "$1" 2>/dev/null || true
    for _ in $(seq 300); do
        is_alive "$1" || return 0
        sleep 0.1
    done
    say "$2 does not end: killing it"
    kill -KILL "$1" 2>/dev/null || true
}

admin() { "${coordinator[@]}" admin "$@"; }

token() { # ROLE: the token of the account with this role, made on the first call
    local file="$data/token-$1"
    if [ ! -s "$file" ]; then
        # An earlier run may have been stopped between account and token.
        admin user list | grep "\"demo-$1\"" >/dev/null || admin user create "demo-$1" --role "$1" >/dev/null
        admin token create "demo-$1" | tail -n 1 >"$file.part" && mv "$file.part" "$file" ||
            refuse "no token for demo-$1 could be made"
    fi
    cat "$file"
}

report() { # KEY: its value in the report of the campaign
    admin campaign show demo | python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"
}

# No other account could audit this machine's games: with a trusted worker gates do not wait.
trust() {
    local number
    for _ in $(seq 600); do
        number=$(admin worker list | python3 -c '
import json, sys
print(*[worker["worker"] for worker in json.load(sys.stdin)
        if (worker["account"], worker["name"]) == ("demo-volunteer", "this-machine")][:1])')
        [ -z "$number" ] || { admin worker trust "$number"; return; }
        is_alive "$worker" || { tail -n 3 "$data/logs/worker.log" >&2; refuse "the worker does not run"; }
        sleep 0.5
    done
    refuse "the worker did not come: see $data/logs/worker.log"
}

print_champion() {
    admin net list | python3 -c '
import json, sys
for net in json.load(sys.stdin):
    if net["net"] == sys.argv[1]:
        print(*(f"    {word}: {net[word]}" for word in ["name", "net", "generation", "state"]), sep="\n")
' "$(report champion)"
}
