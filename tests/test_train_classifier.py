"""The example that trains a network: killed in mid-epoch and started again, it reaches the same losses, bit for bit."""

import pathlib
import re
import signal
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "examples/train_classifier.py"
# Six steps an epoch.
SMALL = ["--epochs=3", "--batch=2", "--size=16", "--threads=1", "--device=cpu", "--every=2"]

# Dies by SIGKILL when it has printed the line of a step: no time to save anything.
KILLED = """
import os, runpy, signal, sys

class Killing:
    def __init__(self, out, at): self.out, self.at = out, at
    def write(self, text):
        self.out.write(text)
        if self.at in text:
            self.out.flush()
            os.kill(os.getpid(), signal.SIGKILL)
    def flush(self): self.out.flush()

sys.stdout = Killing(sys.stdout, sys.argv[2])
sys.argv = sys.argv[1:2] + sys.argv[3:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""

pytestmark = pytest.mark.torch
pytest.importorskip("torch")


def run(*arguments: str, killed_at: str | None = None) -> subprocess.CompletedProcess[str]:
    command = [str(SCRIPT)] if killed_at is None else ["-c", KILLED, str(SCRIPT), killed_at]
    return subprocess.run([sys.executable, *command, *arguments], capture_output=True, text=True, timeout=240)


def losses(output: str) -> dict[int, str]:
    return {int(step): line for line, step in re.findall(r"^(epoch \d+ step (\d+) loss \S+)$", output, re.MULTILINE)}


def test_goes_on_with_the_very_next_batch_after_a_kill(tmp_path: pathlib.Path) -> None:
    whole = run(*SMALL)
    assert whole.returncode == 0, whole.stderr
    expected = losses(whole.stdout)
    assert sorted(expected) == list(range(1, 19)) and len(set(expected.values())) == 18
    assert "the step waited" in whole.stdout and "the loop waited" in whole.stdout

    checkpoint = f"--checkpoint={tmp_path / 'checkpoint.pt'}"
    killed = run(*SMALL, checkpoint, killed_at="epoch 1 step 9 ")
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    again = run(*SMALL, checkpoint)
    assert again.returncode == 0, again.stderr
    assert "goes on after step 8, in epoch 1" in again.stdout
    assert losses(killed.stdout) == {step: expected[step] for step in range(1, 10)}
    assert losses(again.stdout) == {step: expected[step] for step in range(9, 19)}


def test_trains_over_a_data_loader_to_compare() -> None:
    done = run(*SMALL[1:], "--epochs=1", "--loader=torch")
    assert done.returncode == 0, done.stderr
    assert sorted(losses(done.stdout)) == list(range(1, 7)) and "the step waited" in done.stdout
