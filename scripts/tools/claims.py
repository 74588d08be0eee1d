"""Claims of published nets: how they are read, and whether files that repeat them agree."""
import hashlib
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tomllib
from decimal import ROUND_HALF_UP, Decimal

from games import MANIFESTS, shards

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NETS = ROOT / "nets"
PAGE = "docs/TRAINING.md"
# Pages of results: their Elo are those of claims, or their line says "not a claim".
RESULTS = ("README.md", "docs/SEASON.md", "nets/README.md")
KEYS = {"name", "says", "minutes", "run", "sha256", "equals", "elo", "needs", "games", "positions"}
# Of each peer that a claim needs: a pattern of its name, its path, its package if it has one, and
# else how it is built.
PEERS = {
    "Fairy-Stockfish 11.1": ("Fairy-Stockfish 11.1 ", "/usr/games/fairy-stockfish", "fairy-stockfish", None),
    "Fairy-Stockfish": (
        "Fairy-Stockfish [0-9]{6} ",
        os.environ.get("FAIRY_STOCKFISH"),
        None,
        "build it from github.com/fairy-stockfish/Fairy-Stockfish at c19b5f6c (in src,"
        " `make build ARCH=x86-64-bmi2 largeboards=yes`), and set FAIRY_STOCKFISH to the absolute path of src/stockfish",
    ),
    "PikafishHCE": (
        "PikafishHCE ",
        os.environ.get("PIKAFISH_HCE"),
        None,
        "build it from github.com/skystarspython/Pikafish-HCE at 088b062 (in src,"
        " `make build ARCH=x86-64-bmi2`), and set PIKAFISH_HCE to the absolute path of src/pikafish",
    ),
}


def refuse(sentence):
    print(f"scripts/reproduce: {sentence}", file=sys.stderr)
    sys.exit(2)


def published():
    return sorted(path.parent.name for path in NETS.glob("*/claims.toml"))


def read(net):
    """The file of claims: the engine that played, its revision, and the claims."""
    path = NETS / net / "claims.toml"
    if net not in published():
        refuse(f"there is no published net `{net}`; there are {', '.join(published())}")
    try:
        claimed = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        refuse(f"{path}: {error}")
    for key in ("engine", "revision", "claim"):
        if key not in claimed:
            refuse(f"{path}: there is no `{key}`")
    for claim in claimed["claim"]:
        wrong = sorted(set(claim) - KEYS | {"name", "says", "run"} - set(claim))
        if wrong:
            refuse(f"{path}: the claim `{claim.get('name')}` has too much, or too little: {', '.join(wrong)}")
        if "needs" in claim and claim["needs"] not in PEERS:
            refuse(f"{path}: the claim `{claim['name']}` needs `{claim['needs']}`, which is none of {', '.join(PEERS)}")
        for other in set(claim.get("games", [])) - set(MANIFESTS):
            refuse(f"{path}: the claim `{claim['name']}` needs games of `{other}`, which are not published")
    return claimed


def claims_of(net):
    return read(net)["claim"]


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def contradictions(net):
    """Where a net's files contradict each other. Claims without a net name their page."""
    folder = NETS / net
    if not (folder / "net.nnue").is_file():
        yield from unsaid(claims_of(net), ROOT / read(net).get("page", PAGE))
        return
    manifest = json.loads((folder / "net.json").read_text(encoding="utf-8"))
    found = sha256(folder / "net.nnue")
    if manifest["net"] != found:
        yield f"net.json is the manifest of {manifest['net']}, net.nnue has SHA-256 {found}"
    if (folder / "recipe.toml").read_text(encoding="utf-8") != manifest["recipe"]["text"]:
        yield "recipe.toml is not the recipe of net.json"
    for source in manifest["data"]:
        if source["manifest"] not in {sha256(path) for path in folder.glob("*.json")}:
            yield f"no file here is the training set {source['manifest']} of net.json"
    for claim in claims_of(net):
        for name, wanted in claim.get("sha256", {}).items():
            # A result is here under its last name, or is one of the games, which may not be here.
            place = folder / pathlib.Path(name).name
            if wanted not in (sha256(place) if place.is_file() else "", shards(net).get(folder / "games" / name)):
                yield f"the claim `{claim['name']}`: no {name} here has SHA-256 {wanted}"
    yield from unsaid(claims_of(net), folder / "net.md")


def unsaid(claims, page):
    """Figures of claims that are missing on their page."""
    text = page.read_text(encoding="utf-8").replace("−", "-")
    for claim in claims:
        if "--json" in claim["run"] and not {"equals", "elo"} & set(claim):
            yield f"the claim `{claim['name']}`: its match has no figures to be held against"
        figures = claim.get("equals", {})
        if "wins" in figures:
            games = [figures[key] for key in ("wins", "draws", "losses")]
            if not any(mark.join(map(str, games)) in text for mark in (", ", "-")):
                yield f"the claim `{claim['name']}`: {page.name} does not say {games}"
        if "elo" in claim:
            exact = [Decimal(str(value)) for value in claim["elo"]]
            if not any(f"{elo:+} ± {error}" in text for elo, error in (exact, whole(exact))):
                yield f"the claim `{claim['name']}`: {page.name} does not say {whole(exact)[0]:+} ± {whole(exact)[1]}"


def whole(numbers):
    return [number.quantize(Decimal(1), ROUND_HALF_UP) for number in numbers]


def unclaimed():
    """Elo on the pages of results that no claim has, from either side."""
    known = set()
    for claim in (claim for net in published() for claim in claims_of(net) if "elo" in claim):
        elo, error = whole(Decimal(str(value)) for value in claim["elo"])
        known |= {(f"{elo:+}", f"{error}"), (f"{-elo:+}", f"{error}")}
    for page in RESULTS:
        for number, line in enumerate((ROOT / page).read_text(encoding="utf-8").replace("−", "-").splitlines(), 1):
            for figure in re.findall(r"([+-]\d+(?:\.\d+)?) ± (\d+(?:\.\d+)?)", line):
                if figure not in known and "not a claim" not in line:
                    yield f"{page}:{number}: {' ± '.join(figure)} is of no claim"
            # Games won, drawn, lost, and their Elo, of which `chuhe match` gives at most 1,000.
            for won, drawn, lost, elo in re.findall(r"(\d+), (\d+), (\d+)(?: \||:) \**([+-]\d+) ±", line):
                points, given = (int(side) + int(drawn) / 2 or 0.001 for side in (won, lost))
                exact = 400 * math.log10(points / given)
                if abs(max(-1000, min(exact, 1000)) - int(elo)) > 1.5:
                    yield f"{page}:{number}: {won}, {drawn}, {lost} are not {elo} Elo"


def check():
    faults = [f"nets/{net}: {fault}" for net in published() for fault in contradictions(net)]
    faults += unclaimed()
    for fault in faults:
        print(f"scripts/reproduce: {fault}", file=sys.stderr)
    pictures = subprocess.run([ROOT / "scripts/tools/strengths", "--check"], check=False).returncode
    if faults or pictures:
        return 1
    print(f"claims, manifests, cards and pictures of {len(published())} nets agree")
    return 0


def need(peer):
    """Installs the peer if it is missing, and refuses another version."""
    pattern, path, package, building = PEERS[peer]
    if path is None:
        refuse(f"{peer} is needed: {building}")
    if package and not pathlib.Path(path).exists():
        subprocess.run([ROOT / "scripts/prepare", package], check=False)
    try:
        said = subprocess.run([path], input="uci\nquit\n", stdout=subprocess.PIPE, text=True, check=False).stdout
    except OSError as error:
        refuse(f"{peer} is needed: {error}")
    name = next((line.removeprefix("id name ") for line in said.splitlines() if line.startswith("id name ")), "nothing")
    if not re.match(pattern, f"{name} "):
        refuse(f"{peer} is needed, and {path} calls itself {name}")
