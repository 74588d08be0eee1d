"""Makes mistakes in the source, one at a time, and names the test that finds each."""
import re
import subprocess
import sys


def found_by(output):
    """The first test that failed, without its module."""
    names = re.findall(r"^    ([a-z0-9_:]+)$", output, re.MULTILINE)
    return names[0].rsplit("::", 1)[-1] if names else None


def tried(folder, command, mistake, **where):
    """The test that finds a mistake; None if there is none."""
    description, name, text, replacement = mistake
    path = folder / name
    original = path.read_text(encoding="utf-8")
    path.write_text(original.replace(text, replacement, 1), encoding="utf-8")
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, **where)
    finally:
        path.write_text(original, encoding="utf-8")
    if done.returncode == 0:
        return None
    found = found_by(done.stdout)
    if found is None:
        sys.exit(f"{description}: it does not compile\n{done.stderr[-2_000:]}")
    return found


def main(folder, command, mistakes, **where):
    """Makes those whose description has all words of the command line. `where` is of the process."""
    chosen = [mistake for mistake in mistakes if all(word in mistake[0] for word in sys.argv[1:])]
    if not chosen:
        print(f"no mistake has the words {' '.join(sys.argv[1:])!r}", file=sys.stderr)
        sys.exit(2)
    # All are checked first, since a run takes long.
    for _, name, text, _ in chosen:
        if text not in (folder / name).read_text(encoding="utf-8"):
            sys.exit(f"{folder / name} has no {text!r}")
    survivors = 0
    for mistake in chosen:
        description, name, *_ = mistake
        found = tried(folder, command, mistake, **where)
        survivors += found is None
        by = f"`{found}`" if found else "no test"
        print(f"| {description} | `{name.removesuffix('.rs')}` | {by} |", flush=True)
    print(f"{len(chosen)} mistakes, {survivors} not found", file=sys.stderr)
    sys.exit(1 if survivors else 0)
