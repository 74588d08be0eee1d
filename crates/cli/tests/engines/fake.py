#!/usr/bin/env python3
"""A misbehaving engine: relays a real one, and injects the requested faults.

    fake.py ENGINE [SPOIL[=VALUE]]...

crash=N        exits at the Nth `go` of its life
stall=N        is silent from the Nth `go` on
illegal=N      answers the Nth `go` with a move that does not exist
resign=N       answers the Nth `go` with `bestmove (none)`
late=SECONDS   waits before each `bestmove`
deaf           ignores the moves of `position`, as engines that cannot parse them
mute           does not know `d`
ranks1         counts ranks from 1 to 10
eager          exits at the start of the second game
once=FILE      crashes in its second life, by default at the 3rd `go`, and later exits at once;
               FILE counts its lives, of which the first is the start-up probe
message=TEXT   prints TEXT before it is ready
log=FILE       appends each `go` to FILE
"""

import re
import subprocess
import sys
import threading
import time

spoils = dict(word.partition("=")[::2] for word in sys.argv[2:])
if "once" in spoils:
    with open(spoils["once"], "a+") as lives:
        lives.write("x")
        lives.seek(0)
        life = len(lives.read())
    if life > 2:
        sys.exit(4)
    crash = spoils.pop("crash", "3")
    if life == 2:
        spoils["crash"] = crash
engine = subprocess.Popen([sys.argv[1], "uci"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
# Not a rank of a FEN, such as `b3c4`.
point = re.compile(r"(?<![\w/])([a-i])(\d+)([a-i])(\d+)(?![\w/])")


def shifted(text: str, by: int) -> str:
    return point.sub(lambda m: f"{m[1]}{int(m[2]) + by}{m[3]}{int(m[4]) + by}", text)


def say(line: str) -> None:
    print(line, flush=True)


def listen() -> None:
    for line in engine.stdout:
        line = line.rstrip("\n")
        if line.startswith("bestmove") and "late" in spoils:
            time.sleep(float(spoils["late"]))
        # Only lines with moves: positions are written the same.
        if "ranks1" in spoils and line.split(" ")[0] in ("bestmove", "info"):
            line = shifted(line, 1)
        say(line)


threading.Thread(target=listen, daemon=True).start()
searches = games = 0
for line in sys.stdin:
    line = line.rstrip("\n")
    if line.startswith("go"):
        searches += 1
        if "log" in spoils:
            with open(spoils["log"], "a") as log:
                log.write(line + "\n")
        if spoils.get("crash") == str(searches):
            engine.kill()
            sys.exit(3)
        if spoils.get("stall") == str(searches):
            time.sleep(3600)
        if spoils.get("illegal") == str(searches):
            say("bestmove a0a9")
            continue
        if spoils.get("resign") == str(searches):
            say("bestmove (none)")
            continue
    if line == "ucinewgame":
        games += 1
        if "eager" in spoils and games > 1:
            engine.kill()
            sys.exit(0)
    if line == "d" and "mute" in spoils:
        continue
    if line == "isready" and "message" in spoils:
        say("info string " + spoils["message"])
    if line.startswith("position"):
        if "deaf" in spoils and searches > 0:
            line = line.partition(" moves")[0]
        head, moves, tail = line.partition(" moves ")
        if "ranks1" in spoils:
            # Such engines silently skip moves that they cannot parse.
            kept = []
            for move in tail.split():
                if not (m := point.fullmatch(move)) or int(m[2]) < 1 or int(m[4]) < 1:
                    break
                kept.append(shifted(move, -1))
            line = head + (moves + " ".join(kept) if kept else "")
    engine.stdin.write(line + "\n")
    engine.stdin.flush()
    if line == "quit":
        break
engine.wait()
