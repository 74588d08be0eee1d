"""A client of the coordinator in another language, after docs/PROTOCOL.md and docs/FORMATS.md.

    client.py SERVER TOKEN CHUHE PRIORS

It registers a worker, takes one lease, lets `chuhe` play its games, encodes the shard itself,
delivers it and waits until the games are credited. Only the standard library is used.
"""

import hashlib
import json
import struct
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

CHARIOT, HORSE, CANNON, PAWN, ADVISOR, ELEPHANT, KING = range(7)
LETTERS = {"R": 0, "N": 1, "H": 1, "C": 2, "P": 3, "A": 4, "B": 5, "E": 5, "K": 6}
RED, BLACK = 0, 1
RULES = ["cxr", "wxf", "axf", "wikibook", "simple"]
OUTCOMES = ["red_wins", "black_wins", "draw"]
REASONS = [
    "checkmate", "stalemate", "perpetual_check", "perpetual_chase", "repetition", "move_limit",
    "bare_defenders", "adjudicated_win", "adjudicated_draw", "ply_cap", "time_loss",
]
WORD = (1 << 64) - 1
ORTHOGONAL = (1, 0), (-1, 0), (0, 1), (0, -1)
DIAGONAL = (1, 1), (1, -1), (-1, 1), (-1, -1)


class Coder:
    """The adaptive range coder."""

    def __init__(self, priors):
        self.slots = list(struct.unpack("<16384H", priors))
        self.low, self.range, self.out = 0, WORD, bytearray()

    def add(self, offset):
        self.low += offset
        if self.low > WORD:
            self.low &= WORD
            place = len(self.out) - 1
            while self.out[place] == 255:
                self.out[place] = 0
                place -= 1
            self.out[place] += 1

    def shift(self):
        if self.range >> 32 == 0:
            self.out += struct.pack(">I", self.low >> 32)
            self.low = self.low << 32 & WORD
            self.range <<= 32

    def bit(self, slot, bit):
        p = self.slots[slot]
        bound = (self.range >> 16) * p
        if bit:
            self.range = bound
        else:
            self.add(bound)
            self.range -= bound
        self.slots[slot] = p + ((65535 if bit else 63) - p >> 6)
        self.shift()
        return bit

    def raw(self, bits, value):
        self.range >>= bits
        self.add(self.range * value)
        self.shift()

    def tree(self, first, bits, value):
        node = 1
        for level in reversed(range(bits)):
            bit = value >> level & 1
            self.bit(first + node, bit)
            node = 2 * node + bit

    def number(self, first, value):
        length = value.bit_length()
        self.tree(first, 7, length)
        below = length - 1
        while below > 0:
            bits = min(below, 16)
            below -= bits
            self.raw(bits, value >> below & (1 << bits) - 1)

    def finish(self):
        self.add((1 << 32) - 1)
        return bytes(self.out + struct.pack(">I", self.low >> 32))


def point(text):
    return int(text[1]) * 9 + ord(text[0]) - ord("a")


class Board:
    """A position: (side, kind) of each point that has a piece."""

    def __init__(self, fen):
        board, side = fen.split()[:2]
        self.at, self.turn = {}, BLACK if side == "b" else RED
        for rank, row in zip(range(9, -1, -1), board.split("/")):
            file = 0
            for letter in row:
                if letter.isdigit():
                    file += int(letter)
                else:
                    self.at[rank * 9 + file] = (BLACK if letter.islower() else RED, LETTERS[letter.upper()])
                    file += 1

    def make(self, start, end):
        captured = end in self.at
        self.at[end] = self.at.pop(start)
        self.turn = 1 - self.turn
        return captured

    def slide(self, start):
        """Each point on the lines, with the number of pieces up to it, its own included."""
        for df, dr in ORTHOGONAL:
            pieces = 0
            file, rank = start % 9 + df, start // 9 + dr
            while 0 <= file < 9 and 0 <= rank < 10:
                at = rank * 9 + file
                pieces += at in self.at
                yield at, pieces
                file, rank = file + df, rank + dr

    def attacks(self, start):
        """The points on which the piece could capture."""
        side, kind = self.at[start]
        file, rank = start % 9, start // 9
        found = set()
        if kind == CHARIOT:
            return {at for at, seen in self.slide(start) if seen == (at in self.at)}
        if kind == CANNON:
            return {at for at, seen in self.slide(start) if seen == 1 + (at in self.at)}

        def step(df, dr, leg=None):
            to_file, to_rank = file + df, rank + dr
            if 0 <= to_file < 9 and 0 <= to_rank < 10:
                if leg is None or (rank + leg[1]) * 9 + file + leg[0] not in self.at:
                    found.add(to_rank * 9 + to_file)

        home = (lambda at: at < 45) if side == RED else (lambda at: at >= 45)
        if kind == HORSE:
            for df, dr in ((1, 2), (-1, 2), (1, -2), (-1, -2), (2, 1), (2, -1), (-2, 1), (-2, -1)):
                step(df, dr, (df // 2 if abs(df) == 2 else 0, dr // 2 if abs(dr) == 2 else 0))
        elif kind == PAWN:
            step(0, 1 if side == RED else -1)
            if not home(start):
                step(1, 0)
                step(-1, 0)
        elif kind == ELEPHANT:
            for df, dr in DIAGONAL:
                step(2 * df, 2 * dr, (df, dr))
            found = {at for at in found if home(at)}
        else:
            for df, dr in DIAGONAL if kind == ADVISOR else ORTHOGONAL:
                step(df, dr)
            palace = range(0, 3) if side == RED else range(7, 10)
            found = {at for at in found if 3 <= at % 9 <= 5 and at // 9 in palace}
        return found

    def reach(self, start):
        side, kind = self.at[start]
        reach = {at for at in self.attacks(start) if at not in self.at or self.at[at][0] != side}
        if kind == CANNON:
            free = {at for at, seen in self.slide(start) if seen == 0}
            reach = {at for at in reach if at in self.at} | free
        return reach

    def in_check(self):
        king = next(at for at, piece in self.at.items() if piece == (self.turn, KING))
        return any(king in self.attacks(at) for at, piece in self.at.items() if piece[0] != self.turn)


def crowd(left):
    return (left > 2) + (left > 4) + (left > 7)


def worth(board, at):
    if at not in board.at:
        return 0
    return {CHARIOT: 3, HORSE: 2, CANNON: 2}.get(board.at[at][1], 1)


def code_move(coder, board, last, own, start, end):
    """`last` is the opponent's last move with whether it captured, `own` the one before."""
    turn = board.turn
    mine = sorted(at for at, piece in board.at.items() if piece[0] == turn)
    attacked = board.attacks(last[1]) if last else set()
    retaken = last[1] if last and last[2] else None
    moved = own[1] if own and board.at.get(own[1], (None,))[0] == turn else None
    check = board.in_check()

    order = [at for at in mine if at == moved]
    order += [at for at in mine if at in attacked]
    for kind in (CHARIOT, CANNON, HORSE, PAWN, KING, ELEPHANT, ADVISOR):
        order += [at for at in mine if board.at[at][1] == kind]
    order = list(dict.fromkeys(order))
    better, left = False, len(order)
    for at in order:
        if left == 1:
            break
        prey = [to for to in board.attacks(at) if to in board.at and board.at[to][0] != turn]
        best = max((worth(board, to) for to in prey), default=0)
        retakes = retaken in prey
        slot = 512 * board.at[at][1] + 128 * best + 64 * retakes + 32 * (at in attacked)
        slot += 16 * (at == moved) + 8 * check + 4 * better + crowd(left)
        if coder.bit(slot, at == start):
            break
        better |= best >= 2 or retakes
        left -= 1
    assert at == start

    kind = board.at[start][1]
    reach = sorted(board.reach(start))
    ahead = lambda to: (to > start) == (turn == RED)
    groups = [[to for to in reach if worth(board, to) == value] for value in (3, 2, 1)]
    rest = [to for to in reach if to not in board.at]
    groups += [[to for to in rest if ahead(to)], [to for to in rest if not ahead(to)]]
    left = len(reach)
    for to in sum(groups, []):
        if left == 1:
            break
        if last and to == last[1]:
            special = 3
        elif moved == start and to == own[0]:
            special = 2
        else:
            special = int(to in attacked)
        if to % 9 == start % 9:
            direction = 0 if ahead(to) else 1
        elif to // 9 == start // 9:
            direction = 2
        else:
            direction = 3 if ahead(to) else 4
        slot = 4096 + 640 * kind + 128 * direction + 32 * special + 8 * worth(board, to)
        slot += 4 * (start in attacked) + crowd(left)
        if coder.bit(slot, to == end):
            break
        left -= 1
    assert to == end


def length(number):
    return min(max(number.bit_length() - 1, 0), 10)


def code_score(coder, before, score):
    """`before`: the scores so far, the newest first."""
    if coder.bit(13169 + bool(before and before[0] is None), score is None):
        return
    known = [value or 0 for value in before[:4]]
    count = len(known)
    s = known + [0] * (4 - count)
    a = -s[0]
    b = s[1] if count >= 2 else a
    c = -s[2] if count >= 3 else b
    d = s[3] if count >= 4 else b
    gap, unrest = length(abs(a - b)), length((abs(b - d) + abs(a - c) + abs(a - b)) // 3)
    decided = abs(a) >= 29800
    if coder.bit(12777 + (a == 0) + 2 * (b == 0) + 4 * (c == 0), score == 0):
        return
    alike = (count >= 2 and a == b) + 2 * (count >= 3 and b == c) + 4 * (count >= 3 and a == c)
    slot = (2 * alike + decided) * 11 + gap
    if a != 0 and coder.bit(12785 + slot, score == a):
        return
    if b != 0 and a != b and coder.bit(12961 + slot, score == b):
        return
    difference = score - (a if decided else (5 * a + 3 * b) >> 3)
    size = abs(difference)
    top = size.bit_length() - 1
    size_class = size if size < 4 else 2 * top + (size >> top - 1 & 1)
    coder.tree(8576 + 32 * (121 if decided else 11 * gap + unrest), 5, size_class)
    if size_class >= 4:
        below = size_class // 2 - 2
        coder.bit(13137 + size_class, size >> below & 1)
        coder.raw(below, size & (1 << below) - 1)
    if size:
        order = (a > b) - (a < b)
        slot = 12480 + (11 * (1 + order) + gap) * 9 + min(size_class // 2, 8)
        coder.bit(slot, difference > 0)


def code_game(coder, game):
    """One game from the initial position."""
    coder.number(13171, game["attempt"])
    outcome = OUTCOMES.index(game["outcome"])
    coder.tree(13427, 2, outcome)
    coder.tree(13431 + 16 * outcome, 4, REASONS.index(game["reason"]))
    coder.number(13299, len(game["moves"]))
    board, last, own = Board(game["start"]), None, None
    for move in game["opening"]:
        start, end = point(move[:2]), point(move[2:])
        captured = board.make(start, end)
        last, own = (start, end, captured), last
    before = []
    for move, score in game["moves"]:
        start, end = point(move[:2]), point(move[2:])
        code_move(coder, board, last, own, start, end)
        code_score(coder, before, score)
        before.insert(0, score)
        captured = board.make(start, end)
        last, own = (start, end, captured), last


def optional(value, form, fields):
    if value is None:
        return b"\0"
    return b"\1" + struct.pack("<" + form, *(fields(value)))


def hashed(text):
    return b"\0" if text is None else b"\1" + bytes.fromhex(text)


def header_of(terms):
    """The header of a shard of self-play without parameters: version 1."""
    assert not terms.get("opponent") and not terms.get("clock") and not terms.get("parameters")
    settings, openings = terms["settings"], terms["openings"]
    adjudication = settings.get("adjudication", {})
    header = struct.pack("<Q", terms["bench_signature"]) + hashed(terms.get("net"))
    header += struct.pack("<BI", RULES.index(terms["rules"]), settings["hash_mebibytes"])
    header += optional(settings.get("soft_nodes"), "Q", lambda nodes: [nodes])
    header += struct.pack("<Q", settings["hard_nodes"])
    header += optional(adjudication.get("win"), "iI", lambda rule: [rule["score"], rule["plies"]])
    header += optional(
        adjudication.get("draw"), "iII", lambda rule: [rule["score"], rule["plies"], rule["from_ply"]]
    )
    header += struct.pack("<I", settings["ply_cap"]) + hashed(openings.get("book"))
    header += struct.pack("<I", openings["plies"])
    header += optional(openings.get("filter"), "Qi", lambda rule: [rule["nodes"], rule["bound"]])
    return header + struct.pack("<QQ", terms["seed"], terms["first_game"])


def check(*parts):
    return hashlib.sha256(b"".join(parts)).digest()[:8]


def shard_of(terms, games, priors):
    """The bytes of a shard."""
    magic, header = b"\x89chuhe\r\n", header_of(terms)
    out = magic + struct.pack("<HHI", 1, 0, len(header)) + header
    head_check = check(out)
    out += head_check
    index, games = [], list(games)
    while games:
        taken, moves = [], 0
        while games and len(taken) < 64 and moves < 32768:
            taken.append(games.pop(0))
            moves += len(taken[-1]["moves"])
        coder = Coder(priors)
        for game in taken:
            code_game(coder, game)
        body = coder.finish()
        block = b"GAME" + struct.pack("<III", len(body), len(taken), moves) + body
        block += check(head_check, struct.pack("<Q", len(index)), block)
        index.append((len(out), len(taken), moves))
        out += block
    footer = b"FOOT" + struct.pack("<I", len(index))
    footer += b"".join(struct.pack("<QII", *entry) for entry in index)
    footer += struct.pack("<QQ", sum(entry[1] for entry in index), sum(entry[2] for entry in index))
    footer += check(head_check, struct.pack("<Q", len(index)), footer)
    # The length covers itself and the magic.
    return out + footer + struct.pack("<I", len(footer) + 12) + magic


class Server:
    def __init__(self, address, token):
        self.root, self.token = address.rstrip("/") + "/api/v1", token
        self.version = json.loads(self.send("GET", "/server"))["version"]

    def send(self, method, path, body=None, kind="application/json"):
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": kind}
        if hasattr(self, "version"):
            headers["Chuhe-Version"] = self.version
        if kind != "application/json":
            headers["chuhe-sha256"] = hashlib.sha256(body).hexdigest()
        elif body is not None:
            body = json.dumps(body).encode()
        request = urllib.request.Request(self.root + path, body, headers, method=method)
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.read()
        except urllib.error.HTTPError as error:
            problem = json.loads(error.read())
            raise SystemExit(f"{method} {path}: {error.code} {problem['code']}: {problem['detail']}") from error

    def ask(self, method, path, body=None, kind="application/json"):
        return json.loads(self.send(method, path, body, kind) or "null")


def play(chuhe, terms, count, folder):
    """Lets `chuhe` play the games; returns them and the shard that it wrote."""
    settings, openings = terms["settings"], terms["openings"]
    assert terms.get("net") is None and openings.get("book") is None
    command = [chuhe, "selfplay", "--games", count, "--first", terms["first_game"], "--seed", terms["seed"]]
    command += ["--rules", terms["rules"], "--nodes", settings["hard_nodes"], "--hash", settings["hash_mebibytes"]]
    command += ["--ply-cap", settings["ply_cap"], "--random-plies", openings["plies"], "--out", folder]
    if settings.get("soft_nodes") is not None:
        command += ["--soft-nodes", settings["soft_nodes"]]
    if openings.get("filter"):
        command += ["--opening-bound", openings["filter"]["bound"], "--opening-nodes", openings["filter"]["nodes"]]
    adjudication = settings.get("adjudication", {})
    if adjudication.get("win"):
        command += ["--adjudicate-win", "{score},{plies}".format(**adjudication["win"])]
    if adjudication.get("draw"):
        command += ["--adjudicate-draw", "{score},{plies},{from_ply}".format(**adjudication["draw"])]
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)
    (shard,) = Path(folder).glob("*.chuhe")
    lines = Path(folder) / "games.jsonl"
    subprocess.run(
        [chuhe, "data", "export", "--format", "jsonl", "--out", lines, shard], check=True, stdout=subprocess.DEVNULL
    )
    return [json.loads(line) for line in lines.read_text().splitlines()], shard.read_bytes()


def main(address, token, chuhe, priors):
    server = Server(address, token)
    signature = json.loads(subprocess.check_output([chuhe, "bench", "--json"]))["nodes"]
    machine = {
        "name": "python", "version": server.version, "bench_signature": signature, "threads": 1,
        "memory_mebibytes": 1024, "system": "python", "instruction_set": "none",
    }
    worker = server.ask("POST", "/workers", machine)["worker"]
    ask = {"worker": worker, "nonce": "one", "threads": 1, "nodes_per_second": 100_000, "most_seconds": 5, "heard": []}
    while (answer := server.ask("POST", "/leases", ask))["work"] != "games":
        time.sleep(answer["seconds"])
    token, terms, count = answer["token"], answer["terms"], answer["games"]
    again = server.ask("POST", "/leases", ask)
    assert again["token"] == token, "the same nonce finds the same lease"
    with tempfile.TemporaryDirectory() as folder:
        games, written = play(chuhe, terms, count, folder)
    shard = shard_of(terms, games, Path(priors).read_bytes())
    assert shard == written, "the shard differs from the one that `chuhe` wrote"
    assert server.ask("POST", f"/leases/{token}/renewal", {"finished": count})["seconds"] > 0
    place = f"/leases/{token}/games/{terms['first_game']}"
    receipt = server.ask("PUT", place, shard, "application/vnd.chuhe.shard")
    assert (receipt["status"], receipt["shard"]) == ("received", hashlib.sha256(shard).hexdigest())
    assert server.ask("PUT", place, shard, "application/vnd.chuhe.shard")["status"] == "duplicate"
    while server.ask("GET", "/me")["total"]["games"] < count:
        time.sleep(0.2)
    print(f"{count} games in {len(shard)} bytes were delivered and credited")


if __name__ == "__main__":
    main(*sys.argv[1:])
