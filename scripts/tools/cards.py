"""Parts of dataset cards: what shards say of themselves, sets of shards, tables."""
import collections
import functools
import hashlib
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


def disjoint(ranges):
    """Leaves out ranges of games that larger ones have: a coordinator has audits played by two accounts.

    A range is a number of games, their run, the first game, and anything.
    """
    kept = []
    for games, of_run, first, what in sorted(ranges, key=lambda it: (-it[0], it[1:3], str(it[3]))):
        if all(of_run != other[1] or first + games <= other[2] or other[2] + other[0] <= first for other in kept):
            kept.append((games, of_run, first, what))
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


def of_season():
    """The self-play of the season that is in the tree: a set for each player and limit of nodes."""
    sets = {}
    for shard in (ROOT / "nets/season1/backup/objects/shards").glob("*/*"):
        if "in pairs against" not in header(shard):
            digest = re.search(r"net (\w+)", header(shard))[1]
            soft = re.search(r"soft (\d+)", header(shard))[1]
            sets.setdefault(f"season-{soft}-{players()[digest]}", []).append(shard)
    return {name: without_doubles(sets[name]) for name in sorted(sets)}


def table(head, rows):
    """Markdown: the first column is text, the others are numbers."""
    lines = [head, ["---"] + ["--:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def bins(histogram, width, first):
    """Counts of wider bins, by their lower ends. One of the bins begins with `first`."""
    found = collections.Counter()
    for low, count in histogram.items():
        found[(int(low) - first) // width * width + first] += count
    return found


def distribution(histograms, width, first=0):
    """A table of one histogram by set: a row for each bin, each set's share in percent."""
    found = {name: bins(histogram, width, first) for name, histogram in histograms.items()}
    wholes = {name: max(1, it.total()) for name, it in found.items()}
    lows = sorted(set().union(*found.values()))
    ends = [f"{low:,} to {low + width - 1:,}".replace("-", "−") for low in lows]
    rows = [[end, *(f"{100 * it[low] / wholes[name]:.1f}" for name, it in found.items())] for end, low in zip(ends, lows)]
    return table(["", *found], rows)
