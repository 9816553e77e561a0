"""What runs say to the logger `headrace`."""

import logging
import re
import subprocess
import sys
import types

import pytest

import headrace as hr
from tests.conftest import ROOT


def fails_at_3(value):
    if value == 3:
        raise ValueError("unlucky")
    return value


def test_rows_left_out_and_caches_are_logged_at_the_end(caplog):
    caplog.set_level(logging.INFO, "headrace")
    dataset = hr.Range(8).map(fails_at_3, "value").on_error("skip").cache("1MiB")
    assert len(list(dataset)) == 7
    (skipped,) = (each for each in caplog.records if each.levelno == logging.WARNING)
    assert skipped.name == "headrace"
    assert "1 row failed and left out: record 3: fails_at_3 raised ValueError: unlucky" in skipped.getMessage()
    assert any("cache[2]: 7 of 8 rows" in each.getMessage() and each.levelno == logging.INFO for each in caplog.records)


@pytest.mark.timing
def test_stalls_are_logged(caplog):
    import time

    def slow(value):
        time.sleep(0.8 if value == 2 else 0)
        return value

    list(hr.Range(4).map(slow, "value").iterate(stall_warning=0.2))
    (told,) = (each.getMessage() for each in caplog.records)
    assert told.startswith("nothing delivered for 0.2 s; at work:\n") and "slow) has worked" in told


@pytest.mark.parametrize("imported", ["", "import logging\n"])
def test_without_a_handler_nothing_is_printed(imported):
    code = (
        imported + "import headrace as hr\n"
        "def fails(x): return 1 // int(x)\n"
        "print(len(list(hr.Range(3).map(fails, 'value').on_error('skip'))))\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (ran.stdout, ran.stderr) == ("2\n", "")


def test_the_callbacks_of_the_docs_log_batches_and_epochs(monkeypatch):
    text = (ROOT / "docs/logging.md").read_text()
    blocks = re.findall(r"```python no-run\n(.*?)```", text, re.DOTALL)
    scalars, logged = [], []
    writer = types.SimpleNamespace(add_scalar=lambda *given: scalars.append(given))
    board = types.SimpleNamespace(SummaryWriter=lambda folder: writer)
    torch = types.SimpleNamespace(utils=types.SimpleNamespace(tensorboard=board))
    run = types.SimpleNamespace(log=lambda values, commit=True: logged.append((values, commit)))
    wandb = types.SimpleNamespace(init=lambda project: run)
    for block in blocks:
        namespace = {"hr": hr, "train": hr.Range(6).batch(2), "torch": torch, "wandb": wandb}
        exec(block, namespace)
        assert len(block.splitlines()) <= 14
        assert len(list(namespace["train"])) == 3
    assert [(name, step) for name, _, step in scalars] == [
        *(("data/waited_s", step) for step in range(3)),
        ("data/batches_per_s", 0),
    ]
    assert [(sorted(values), commit) for values, commit in logged] == [
        *((["data/waited_s"], False) for _ in range(3)),
        (["data/batches_per_s", "data/waited_in_epoch_s"], True),
    ]
