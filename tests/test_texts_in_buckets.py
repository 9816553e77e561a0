"""A training run on texts: two sets in buckets by length, mixed two to one, on four ranks that are killed and go on."""

import json
import pathlib
import signal
import subprocess
import sys

import numpy as np
import pytest

import headrace as hr

WORLD = 4
EPOCH = 3
ROOT = pathlib.Path(__file__).resolve().parents[1]


def write_texts(folder: pathlib.Path) -> None:
    draws = np.random.default_rng(5)
    for name, lines in (("web", 600), ("books", 300)):
        words = (" ".join([f"{name}{i}"] + ["word"] * int(draws.geometric(0.15))) for i in range(lines))
        (folder / f"{name}.txt").write_text("".join(f"{line}\n" for line in words))


def training(folder: pathlib.Path) -> hr.Dataset:
    def in_buckets(name: str) -> hr.Dataset:
        lines = hr.Text(folder / f"{name}.txt").shuffle(50)
        tokens = lines.map(
            lambda line, rng: rng.permutation([hash_of(word) for word in str(line).split()]), "line", "x"
        )
        return tokens.bucket_by_length("x", [4, 8, 16], [16, 8, 4, 2])

    return hr.mix([in_buckets("web"), in_buckets("books")], weights=[2, 1], stop="all")


def hash_of(word: str) -> int:
    return sum(ord(letter) * 31**place for place, letter in enumerate(word)) % 2**31


def shown(batch: dict) -> dict:
    return {"line": list(batch["line"]), "x": batch["x"].tolist()}


def train(folder: pathlib.Path, rank: int, killed_at: int) -> None:
    """Runs rank `rank` on from its state, and keeps the state after each batch; is killed with one batch not kept."""
    kept = folder / f"rank{rank}"
    batches = folder / f"rank{rank}.jsonl"
    state = kept.read_bytes() if kept.exists() else None
    given = {"epoch": EPOCH} if state is None else {"state": state}
    with training(folder).iterate(shard=(rank, WORLD), **given) as iterator:
        for number, batch in enumerate(iterator):
            if number == killed_at:
                signal.raise_signal(signal.SIGKILL)
            with batches.open("a") as file:
                file.write(json.dumps(shown(batch)) + "\n")
            kept.write_bytes(iterator.state())


@pytest.mark.parametrize("rank", range(WORLD))
def test_a_killed_run_goes_on_as_if_it_had_not_been(rank, tmp_path):
    write_texts(tmp_path)
    whole = [shown(batch) for batch in training(tmp_path).iterate(epoch=EPOCH, shard=(rank, WORLD))]
    code = "import pathlib, sys; from tests.test_texts_in_buckets import train; "
    for killed_at in (len(whole) // 3, len(whole) // 4, -1):
        call = code + f"train(pathlib.Path(sys.argv[1]), {rank}, {killed_at})"
        done = subprocess.run([sys.executable, "-c", call, tmp_path], cwd=ROOT, timeout=120)
        assert done.returncode == (0 if killed_at < 0 else -signal.SIGKILL)
    kept = [json.loads(line) for line in (tmp_path / f"rank{rank}.jsonl").read_text().splitlines()]
    assert kept == whole


def test_each_text_comes_once_and_the_sets_two_to_one(tmp_path):
    write_texts(tmp_path)
    ranks = [list(training(tmp_path).iterate(epoch=EPOCH, shard=(rank, WORLD))) for rank in range(WORLD)]
    lines = [line for batches in ranks for batch in batches for line in batch["line"]]
    written = [line for name in ("web", "books") for line in (tmp_path / f"{name}.txt").read_text().splitlines()]
    assert sorted(lines) == sorted(written)
    for batches in ranks:
        assert all(len({line.startswith("web") for line in batch["line"]}) == 1 for batch in batches)
        assert all(batch["x"].shape[1] < 16 or len(batch["x"]) <= 2 for batch in batches)
