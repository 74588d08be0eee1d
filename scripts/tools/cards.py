"""Parts of dataset cards: what shards say of themselves, sets of shards, tables."""
import collections
import functools
import hashlib
import math
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def refuse(text):
    print(f"{sys.argv[0].removeprefix(f'{ROOT}/')}: {text}", file=sys.stderr)
    sys.exit(2)


@functools.cache
def toolbox():
    """The program `chuhe`: that of CHUHE, or else it is built."""
    if "CHUHE" in os.environ:
        return os.environ["CHUHE"]
    command = ["cargo", "build", "--quiet", "--release", "--locked", "-p", "chuhe"]
    if subprocess.run(command, cwd=ROOT, check=False).returncode != 0:
        refuse("the toolbox could not be built")
    return str(ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "release/chuhe")


def run(*command):
    try:
        done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
    except OSError as error:
        refuse(f"{command[0]}: {error.strerror}")
    if done.returncode != 0:
        refuse(f"`{' '.join(map(str, command[:3]))}` failed")
    return done.stdout


@functools.cache
def header(shard):
    """What a shard's header says, and how many games it has."""
    return run(toolbox(), "data", "dump", "--header", shard)


def union(ranges):
    """The number of games of some ranges of a run, each game once."""
    return len(set().union(*(range(first, first + games) for first, games in ranges)))


def disjoint(ranges):
    """Leaves out ranges of games that larger ones have: a coordinator has audits played by two accounts.

    A range is a number of games, their run, the first game, and anything.
    """
    kept = []
    for games, of_run, first, what in sorted(ranges, key=lambda it: (-it[0], it[1:3], str(it[3]))):
        others = [other for other in kept if other[1] == of_run and first < other[2] + other[0] and other[2] < first + games]
        if not others:
            kept.append((games, of_run, first, what))
        elif union([(first, games), *((other[2], other[0]) for other in others)]) > sum(other[0] for other in others):
            refuse(f"games {first} to {first + games - 1} of run {of_run} are in larger shards in part only")
    return [what for *_, what in kept]


def without_doubles(shards):
    """Leaves out shards whose games others have too."""
    ranges = []
    for shard in shards:
        games = int(re.search(r": (\d+) games,", header(shard))[1])
        of_run, first = re.search(r"run (\d+)(?:, games from (\d+))?", header(shard)).groups(default="0")
        ranges.append((games, of_run, int(first), shard))
    return sorted(disjoint(ranges))


@functools.cache
def players():
    """Names of published nets, by hash."""
    return {hashlib.sha256(file.read_bytes()).hexdigest(): file.parent.name for file in ROOT.glob("nets/*/net.nnue")}


def player(digest):
    """The name of a net, or the beginning of its hash if it is not published."""
    return players().get(digest, digest[:8])


def of_season():
    """The self-play of the season that is in the tree: a set for each player and limit of nodes."""
    sets = {}
    for shard in (ROOT / "nets/season1/backup/objects/shards").glob("*/*"):
        if "in pairs against" not in header(shard):
            digest = re.search(r"net (\w+)", header(shard))[1]
            soft = re.search(r"soft (\d+)", header(shard))[1]
            sets.setdefault(f"season-{soft}-{player(digest)}", []).append(shard)
    return {name: without_doubles(sets[name]) for name in sorted(sets)}


def table(head, rows, text=1):
    """Markdown: so many columns are text, the others are numbers."""
    lines = [head, ["---"] * text + ["--:"] * (len(head) - text), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def distribution(histograms, width, first=0, below=-math.inf, above=math.inf):
    """A table of one histogram by set: a row for each bin of this width, each set's share in percent.

    The first bin has all that is less than `below`, the last one all from `above` on.
    """
    found = {name: collections.Counter() for name in histograms}
    for name, histogram in histograms.items():
        for low, count in histogram.items():
            low = max(below - width, min(above, (int(low) - first) // width * width + first))
            found[name][low] += count
    rows = []
    for low in sorted(set().union(*found.values())):
        end = f"{low:,} to {low + width - 1:,}"
        if low + width == below:
            end = f"below {below:,}"
        elif low == above:
            end = f"{above:,} and more"
        if any(it[low] for it in found.values()):
            rows.append([end.replace("-", "−"), *(f"{100 * it[low] / it.total():.1f}" if it else "–" for it in found.values())])
    return table(["", *found], rows)


def histograms(lengths, scores, pieces):
    """The tables of a card: plies of a game, scores, pieces on the board."""
    return {
        "lengths": distribution(lengths, 40, above=400),
        "scores": distribution(scores, 500, below=-2000, above=2000),
        "pieces": distribution(pieces, 4, first=1),
    }
