"""Games of published nets: their shards, by the manifests in nets/, and the way here.

A release has them as chuhe-games-NET.tar. Every shard is verified by its SHA-256, so that the place
where it comes from need not be trusted.
"""
import hashlib
import http.client
import io
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import urllib.error
import urllib.request

NETS = pathlib.Path(__file__).resolve().parent.parent.parent / "nets"
# The nets whose games are published, and the manifest of each.
MANIFESTS = {"gen0-256-scores": "first.json", "gen1-256": "second.json", "gen2-256": "third.json"}
# This commit holds all these games.
REVISION = "86769edbbc5dddfe3e08671a12f45444a976e3a2"
MAX_ARCHIVE_BYTES = 1 << 26


def refuse(sentence):
    print(f"scripts/games: {sentence}", file=sys.stderr)
    sys.exit(2)


def shards(net):
    """SHA-256 of each shard, by its path; none where no games are published."""
    if net not in MANIFESTS:
        return {}
    manifest = json.loads((NETS / net / MANIFESTS[net]).read_text(encoding="utf-8"))
    name = "games-seed{provenance[seed]}-{games}.chuhe"
    return {NETS / net / "games" / name.format(**shard): shard["sha256"] for shard in manifest["shards"]}


def missing(net):
    return [path for path in shards(net) if not path.exists()]


def fetch(net, place=None):
    """Completes the games of a net. Writes nothing unless every shard is right."""
    wanted = shards(net)
    for path, digest in wanted.items():
        if path.exists() and sha256(path.read_bytes()) != digest:
            refuse(f"{path} is not the shard of {MANIFESTS[net]}; remove it to fetch that one")
    lacking = missing(net)
    if not lacking:
        return
    source, files = unpacked(net, place or os.environ.get("CHUHE_RELEASES"))
    for path in lacking:
        if path.name not in files:
            refuse(f"{source} has no {path.name}; nothing was written")
        found = sha256(files[path.name])
        if found != wanted[path]:
            refuse(f"{path.name} of {source} has SHA-256 {found}, not {wanted[path]}; nothing was written")
    for path in lacking:
        path.parent.mkdir(exist_ok=True)
        new = path.with_suffix(".new")
        try:
            new.write_bytes(files[path.name])
            new.rename(path)
        finally:
            new.unlink(missing_ok=True)
    print(f"scripts/games: {len(lacking)} shards of {net} from {source}", file=sys.stderr)


def unpacked(net, place):
    """Name of the source and its files."""
    source, archive = from_place(place.rstrip("/"), net) if place else from_history(net)
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as tar:
            return source, {pathlib.Path(it.name).name: tar.extractfile(it).read() for it in tar if it.isreg()}
    except tarfile.TarError as error:
        refuse(f"{source} is not an archive of games: {error}")


def from_place(place, net):
    source = f"{place}/{archive_name(net)}"
    try:
        if "://" in place:
            with urllib.request.urlopen(source, timeout=60) as response:
                return source, response.read(MAX_ARCHIVE_BYTES)
        return source, pathlib.Path(source).read_bytes()
    except urllib.error.HTTPError as error:
        refuse(f"{source} could not be fetched: the status is {error.code}")
    except (OSError, ValueError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        refuse(f"{source} could not be fetched: {getattr(reason, 'strerror', None) or reason}")


def from_history(net):
    command = ["git", "archive", "--format=tar", REVISION, f"nets/{net}/games"]
    try:
        done = subprocess.run(command, cwd=NETS.parent, check=False, capture_output=True)
        if done.returncode == 0:
            return "this clone's history", done.stdout
    except OSError:
        pass
    refuse(
        f"the games of {net} are neither here nor in this clone's history: name a release by CHUHE_RELEASES,"
        f" its folder or address, or run `git fetch --depth 1 origin {REVISION}`"
    )


def pack(net, folder):
    """Writes the archive for a release: equal games make equal bytes."""
    with tarfile.open(folder / archive_name(net), "w", format=tarfile.USTAR_FORMAT) as tar:
        for path in shards(net):
            entry = tarfile.TarInfo(path.relative_to(NETS.parent).as_posix())
            entry.size = path.stat().st_size
            with path.open("rb") as file:
                tar.addfile(entry, file)


def archive_name(net):
    return f"chuhe-games-{net}.tar"


def sha256(data):
    return hashlib.sha256(data).hexdigest()
