"""The wheel, installed into an empty environment, beside the program `chuhe`.

    CHUHE=target/debug/chuhe python -m unittest discover crates/python/tests
"""

import doctest
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy

import chuhe

ROOT = Path(__file__).resolve().parents[3]
CHUHE = os.environ["CHUHE"]


class Judging(unittest.TestCase):
    def test_a_perpetual_chase_loses_by_the_rules_alone(self):
        tour = json.loads((ROOT / "coordinator/web/assets/tour.json").read_text())
        moves = tour["opening"] + [move for move, _ in tour["moves"]]
        verdict = chuhe.judge(moves, fen=tour["start"]).verdict
        self.assertEqual((verdict.outcome, verdict.reason, verdict.ply), ("red_wins", "perpetual_chase", len(moves)))
        self.assertIn("捉", verdict.chinese)
        self.assertEqual(chuhe.judge(moves, fen=tour["start"], rules="simple").verdict.outcome, "draw")

    def test_the_initial_position(self):
        judged = chuhe.judge()
        self.assertEqual(len(judged.legal_moves), 44)
        self.assertIsNone(judged.verdict)
        self.assertEqual(len(chuhe.fens(["h2e2", "h9g7"])), 3)

    def test_notations(self):
        for notation in chuhe.notations:
            written = chuhe.convert(["h2e2", "h9g7"], to=notation)
            self.assertEqual(chuhe.convert(written, notation=notation, to="uci"), ["h2e2", "h9g7"], notation)

    def test_errors_are_sentences(self):
        for call, text in [
            (lambda: chuhe.judge(["h2e2", "h2e2"]), "move 2: `h2e2`"),
            (lambda: chuhe.judge(fen="x"), "`x`"),
            (lambda: chuhe.judge(rules="chess"), "`chess`: the rule sets are"),
            (lambda: chuhe.convert(["h2e2"], to="x"), "`x`: "),
            (lambda: chuhe.Shard(ROOT / "README.md"), "README.md"),
        ]:
            with self.assertRaises(ValueError) as caught:
                call()
            self.assertIn(text, str(caught.exception))
        with self.assertRaises(OSError):
            chuhe.Shard("/no/such/file.chuhe")


def load_tests(loader, tests, pattern):
    tests.addTests(doctest.DocTestSuite(chuhe))
    return tests


class Games(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        out = Path(cls.folder.name)
        play = [CHUHE, "selfplay", "--games", "70", "--nodes", "60", "--seed", "5", "--ply-cap", "60", "--out", out]
        subprocess.run(play, check=True, capture_output=True)
        (cls.path,) = out.glob("*.chuhe")
        lines = out / "games.jsonl"
        export = [CHUHE, "data", "export", "--format", "jsonl", "--out", lines, cls.path]
        subprocess.run(export, check=True, capture_output=True)
        cls.expected = [json.loads(line) for line in lines.read_text().splitlines()]
        cls.shard = chuhe.Shard(cls.path)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_games_are_those_of_the_program(self):
        games = list(self.shard)
        self.assertEqual((len(games), len(self.shard)), (70, 70))
        for game, expected in zip(games, self.expected):
            self.assertEqual(game.opening, expected["opening"])
            self.assertEqual([list(move) for move in zip(game.moves, game.scores)], expected["moves"])
            self.assertEqual((game.outcome, game.reason), (expected["outcome"], expected["reason"]))
        self.assertEqual(self.shard.game(69), games[69])
        with self.assertRaises(ValueError):
            self.shard.game(70)
        self.assertEqual(self.shard.header["settings"]["hard_nodes"], 60)

    def test_arrays_agree_with_the_games(self):
        blocks = list(self.shard.positions())
        columns = {name: numpy.concatenate([block[name] for block in blocks]) for name in blocks[0]}
        self.assertEqual(columns["board"].shape, (self.shard.position_count, 90))
        row = 0
        signs = {"red_wins": 1, "draw": 0, "black_wins": -1}
        for game in self.shard:
            fens = chuhe.fens(game.opening + game.moves, fen=game.start)
            for index, (move, score) in enumerate(zip(game.moves, game.scores)):
                fen = fens[len(game.opening) + index]
                self.assertEqual(board_of(columns["board"][row]), fen.split()[0])
                is_black = fen.split()[1] == "b"
                self.assertEqual(columns["black_to_move"][row], is_black)
                sides = [number_of(move[:2]), number_of(move[2:])]
                self.assertEqual(columns["move"][row], sides[0] * 90 + sides[1])
                self.assertEqual(columns["score"][row], -32768 if score is None else score)
                self.assertEqual(columns["result"][row], signs[game.outcome] * (-1 if is_black else 1))
                self.assertEqual(chuhe.reasons[columns["reason"][row]], game.reason)
                self.assertEqual(columns["is_label"][row], game.reason not in ("ply_cap", "time_loss"))
                self.assertEqual((columns["game"][row], columns["ply"][row]), (game.number, len(game.opening) + index + 1))
                self.assertEqual(columns["is_capture"][row], columns["board"][row][sides[1]] != 0)
                row += 1
        self.assertEqual(row, self.shard.position_count)


def number_of(point):
    return int(point[1]) * 9 + ord(point[0]) - ord("a")


def board_of(row):
    ranks = []
    for rank in range(9, -1, -1):
        text, empty = "", 0
        for piece in row[rank * 9 : rank * 9 + 9]:
            if piece:
                text += (str(empty) if empty else "") + chuhe.piece_letters[piece]
                empty = 0
            else:
                empty += 1
        ranks.append(text + (str(empty) if empty else ""))
    return "/".join(ranks)


if __name__ == "__main__":
    unittest.main()
