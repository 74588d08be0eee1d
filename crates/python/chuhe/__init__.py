"""Xiangqi (Chinese chess): an arbiter for the repetition rules, notations, and Chuhe's games.

    >>> import chuhe
    >>> chuhe.judge(["h2e2", "h9g7"]).fen
    'rnbakab1r/9/1c4nc1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C4/9/RNBAKABNR w - - 2 2'
    >>> chuhe.convert(["h2e2"], to="wxf")
    ['C2=5']
"""

import json
import os
from dataclasses import dataclass
from typing import Iterator, List, Optional, Sequence, Union

from . import _chuhe
from ._chuhe import __version__

__all__ = [
    "Game", "Judgement", "Shard", "Verdict", "convert", "fens", "judge", "notations", "piece_letters", "reasons",
    "rule_sets",
]

#: The names of rule sets, notations, and reasons of endings. A column `reason` holds indices into
#: the last.
rule_sets, notations, reasons = _chuhe.names()

#: The pieces of a column `board` by number, as letters of a FEN; "" for an empty point.
piece_letters = ["", *"RNCPABK", *"rncpabk"]

_COLUMNS = {
    "board": "u1", "black_to_move": "?", "move": "<u2", "score": "<i2", "result": "i1", "reason": "u1",
    "game": "<u8", "ply": "<u4", "in_check": "?", "is_capture": "?", "is_label": "?",
}


@dataclass(frozen=True)
class Verdict:
    """The end of a game."""

    outcome: str
    reason: str
    ply: int
    english: str
    chinese: str


@dataclass(frozen=True)
class Judgement:
    """What holds after a list of moves."""

    fen: str
    legal_moves: List[str]
    verdict: Optional[Verdict]


@dataclass(frozen=True)
class Game:
    """A game of a shard. Scores are for the side that moves; None where there is none."""

    number: int
    start: str
    opening: List[str]
    moves: List[str]
    scores: List[Optional[int]]
    outcome: str
    reason: str


def judge(
    moves: Sequence[str] = (), *, fen: Optional[str] = None, rules: str = "cxr", notation: str = "uci"
) -> Judgement:
    """Judges moves from a position, by default the initial one. A ValueError names a wrong move."""
    answer = _chuhe.judge(fen, list(moves), rules, notation)
    verdict = answer["verdict"]
    return Judgement(answer["fen"], answer["legal_moves"], verdict and Verdict(**verdict))


def convert(
    moves: Sequence[str], *, to: str, notation: str = "uci", fen: Optional[str] = None
) -> List[str]:
    """Writes moves in another notation."""
    return _chuhe.convert(fen, list(moves), notation, to)


def fens(moves: Sequence[str], *, fen: Optional[str] = None, rules: str = "cxr") -> List[str]:
    """The positions from the first one to the one after the last move."""
    return _chuhe.fens(fen, list(moves), rules)


class Shard:
    """A file of games (`.chuhe`). Its parts are read when they are asked for."""

    def __init__(self, path: Union[str, os.PathLike]):
        self._shard = _chuhe.Shard(path)
        #: The terms of the games: nets, rules, settings, openings, seed.
        self.header = json.loads(self._shard.header())
        #: The number of positions: of moves after the openings.
        self.position_count = self._shard.positions()

    def __len__(self) -> int:
        """The number of games."""
        return self._shard.games()

    def __iter__(self) -> Iterator[Game]:
        for block in range(self._shard.blocks()):
            for parts in self._shard.block_games(block):
                yield Game(*parts)

    def game(self, number: int) -> Game:
        """The game with this number."""
        return Game(*self._shard.game(number))

    def positions(self) -> Iterator["dict"]:
        """NumPy arrays with a row for each position, block by block (at most 64 games).

        board           90 numbers from a0 to i9; see `piece_letters`
        black_to_move   whether Black is to move
        move            the move played: from · 90 + to
        score           its score for the side to move; -32768 for none
        result          the outcome for the side to move: 1, 0, -1
        reason          why the game ended: an index of `reasons`
        is_label        whether the outcome says something about the position
        game, ply       the game's number, and the move's from 1, the opening counted
        in_check        whether the side to move is in check
        is_capture      whether the move takes a piece
        """
        import numpy

        for block in range(self._shard.blocks()):
            columns = self._shard.block_arrays(block)
            arrays = {name: numpy.frombuffer(columns[name], dtype) for name, dtype in _COLUMNS.items()}
            arrays["board"] = arrays["board"].reshape(-1, 90)
            yield arrays
