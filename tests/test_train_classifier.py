"""The example that trains a network: killed in mid-epoch and started again, it reaches the same losses, bit for bit."""

import importlib.util
import pathlib
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import headrace as hr
from headrace import vision as V

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
torch = pytest.importorskip("torch")


@pytest.fixture
def script() -> Any:
    spec = importlib.util.spec_from_file_location("train_classifier", SCRIPT)
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


@pytest.fixture
def train(script: Any, capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[..., str]]:
    """Runs the script in this process, which has imported torch already; returns what it prints."""
    threads = torch.get_num_threads()

    def run(*arguments: str) -> str:
        script.train(script.parsed(list(arguments)))
        return capsys.readouterr().out

    yield run
    torch.set_num_threads(threads)


def run_apart(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=240)


def losses(output: str) -> dict[int, str]:
    return {int(step): line for line, step in re.findall(r"^(epoch \d+ step (\d+) loss \S+)$", output, re.MULTILINE)}


def test_goes_on_with_the_very_next_batch_after_a_kill(tmp_path: pathlib.Path, train: Callable[..., str]) -> None:
    whole = train(*SMALL)
    expected = losses(whole)
    assert sorted(expected) == list(range(1, 19)) and len({line.split()[-1] for line in expected.values()}) == 18
    assert "the step waited" in whole and "the loop waited" in whole

    checkpoint = f"--checkpoint={tmp_path / 'checkpoint.pt'}"
    killed = run_apart("-c", KILLED, str(SCRIPT), "epoch 1 step 9 ", *SMALL, checkpoint)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    again = train(*SMALL, checkpoint)
    assert "goes on after step 8, in epoch 1" in again
    assert losses(killed.stdout) == {step: expected[step] for step in range(1, 10)}
    assert losses(again) == {step: expected[step] for step in range(9, 19)}


def test_a_step_of_more_images_than_there_are_is_an_error(train: Callable[..., str]) -> None:
    for loader in ("headrace", "torch"):
        with pytest.raises(SystemExit, match=r"fewer images than the 1000 of a step\. Give a smaller --batch\."):
            train("--batch=1000", "--device=cpu", f"--loader={loader}")


def test_its_pipeline_prepares_the_pictures_of_a_server(script: Any, photos: pathlib.Path) -> None:
    """The network that it trains takes what the graph gives, out of the file where torch keeps both."""
    options = script.parsed([str(photos), "--size=16"])
    classes = script.class_names(photos)
    train = script.training_images(photos, classes, options)
    crop = [V.Resize(20), V.CenterCrop(16)]
    prepare = hr.inference(train, "image", {"RandomResizedCrop": crop, "RandomHorizontalFlip": []})
    pictures = [path.read_bytes() for path in sorted(photos.rglob("*.jpg"))]
    batch = prepare.batch(pictures)
    scores = script.network(len(classes))(torch.from_numpy(batch))
    assert scores.shape == (len(pictures), len(classes))
    by_hand = hr.compose([V.Decode(), *crop, V.Normalize(script.MEAN, script.STD), V.HWC2CHW()])
    assert all((row == by_hand(picture)).all() for row, picture in zip(batch, pictures, strict=True))


def test_its_network_is_served_by_a_program_in_c_plus_plus(
    script: Any, train: Callable[..., str], photos: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    """From training to serving: the trained network as ONNX, with its preparation inside, and a server without Python."""
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    checkpoint = tmp_path / "checkpoint.pt"
    train(str(photos), *SMALL, f"--checkpoint={checkpoint}")
    classes = script.class_names(photos)
    network = script.network(len(classes))
    network.load_state_dict(torch.load(checkpoint)["model"])
    network.eval()
    model = tmp_path / "classifier.onnx"
    torch.onnx.export(network, (torch.zeros(1, 3, 16, 16),), str(model), dynamo=False)

    images = script.training_images(photos, classes, script.parsed([str(photos), "--size=16"]))
    replaced = {"RandomResizedCrop": [V.Resize(20), V.CenterCrop(16)], "RandomHorizontalFlip": []}
    prepare = hr.inference(images, "image", replaced)
    prepare.attach(model)

    (library,) = (pathlib.Path(runtime.__file__).parent / "capi").glob("libonnxruntime.so.*")
    folder = tmp_path / "build"
    found = [f"-DCMAKE_PREFIX_PATH={pathlib.Path(hr.library_dir()).parent}", f"-DONNXRUNTIME={library}"]
    for step in (["-S", str(ROOT / "examples/serve/cpp"), "-B", str(folder), *found], ["--build", str(folder)]):
        subprocess.run(["cmake", *step], check=True, capture_output=True)
    pictures = sorted(photos.rglob("*.jpg"))
    served = subprocess.run([folder / "classify", model, *pictures], check=True, capture_output=True, text=True).stdout
    with torch.no_grad():
        scores = network(torch.from_numpy(prepare.batch([path.read_bytes() for path in pictures])))
    for line, picture, row in zip(served.splitlines(), pictures, scores, strict=True):
        said, _, numbers = line.partition(": class ")
        best, *given = numbers.split()
        assert said == str(picture)
        torch.testing.assert_close(torch.tensor([float(each) for each in given]), row)
        assert int(best) == int(row.argmax())


def test_trains_over_a_data_loader_to_compare() -> None:
    done = run_apart(str(SCRIPT), *SMALL[1:], "--epochs=1", "--loader=torch")
    assert done.returncode == 0, done.stderr
    assert sorted(losses(done.stdout)) == list(range(1, 7)) and "the step waited" in done.stdout
