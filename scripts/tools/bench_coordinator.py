"""A coordinator with one campaign and one account, for scripts/bench-worker."""
import json
import pathlib
import re
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NET = ROOT / "nets/gen0-256-scores/net.nnue"


def refuse(sentence):
    print(f"scripts/bench-worker: {sentence}", file=sys.stderr)
    sys.exit(2)


def campaign(net, nodes):
    return f"""name = "bench"
champion = "{net}"
[selfplay.settings]
hash_mebibytes = 16
hard_nodes = {nodes}
ply_cap = 1_000
[selfplay.settings.adjudication]
win = {{ score = 2_500, plies = 8 }}
[selfplay.openings]
plies = 8
filter = {{ nodes = 1_000, bound = 500 }}
[generation]
positions = 1_000_000_000
[gate]
nodes = 1_000
[recipe.architecture]
width = 128
[recipe.schedule]
epochs = 1
positions_per_epoch = 1_000_000
"""


class Coordinator:
    def __init__(self, programs, work, nodes):
        self.work, self.base = work, [str(programs / "chuhe-coordinator"), "--data", str(work / "coordinator")]
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        log = open(work / "coordinator.log", "w")
        self.process = subprocess.Popen([*self.base, "serve", "--listen", self.address], stdout=log, stderr=log)
        for _ in range(200):
            try:
                urllib.request.urlopen(f"http://{self.address}/healthz").read()
                break
            except OSError:
                time.sleep(0.1)
        else:
            refuse(f"the coordinator does not start: {log.name}")
        net = self.admin("net", "add", str(NET)).strip().strip('"')
        (work / "campaign.toml").write_text(campaign(net, nodes))
        self.admin("campaign", "create", str(work / "campaign.toml"))
        self.admin("user", "create", "bench", "--role", "volunteer")
        self.token = self.admin("token", "create", "bench").splitlines()[-1]

    def trust(self):
        """Trusts the worker."""
        for worker in json.loads(self.admin("worker", "list")):
            self.admin("worker", "trust", str(worker["worker"]))

    def seed(self):
        """The seed of the games that it leases."""
        with sqlite3.connect(self.work / "coordinator/chuhe.db") as database:
            return json.loads(database.execute("SELECT header FROM jobs").fetchone()[0])["seed"]

    def admin(self, *words):
        answer = subprocess.run([*self.base, "admin", *words], capture_output=True, text=True)
        if answer.returncode:
            refuse(answer.stderr.strip())
        return answer.stdout


def inside(data):
    """Counts samples of `perf record`: all, those inside the search, and the others by function."""
    lines = subprocess.run(["perf", "script", "--no-inline", "-i", str(data), "-F", "comm,tid,ip,sym"],
                           capture_output=True, text=True, errors="replace").stdout
    total = searching = 0
    elsewhere = {}
    for sample in lines.split("\n\n"):
        if not sample.strip():
            continue
        total += 1
        frames = sample.strip().splitlines()[1:]
        if re.search(r"engine::search", sample):
            searching += 1
        else:
            name = frames[0].split(None, 1)[-1] if frames else "?"
            elsewhere[name] = elsewhere.get(name, 0) + 1
    return total, searching, sorted(elsewhere.items(), key=lambda item: -item[1])[:8]
