"""benchmarks/augment.py: its work and its tables, without the peers that are not installed here."""

import argparse
import importlib
import itertools
import multiprocessing
import pathlib
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from PIL import Image

from headrace import vision as V

ROOT = pathlib.Path(__file__).resolve().parents[1]
COMPARE_PEERS = ROOT / "benchmarks/compare/peers"


@pytest.fixture
def augment(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for folder in ("benchmarks/compare", "benchmarks"):
        monkeypatch.syspath_prepend(str(ROOT / folder))
    path = list(sys.path)
    yield importlib.import_module("augment")
    for name in (*sys.modules,):
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(ROOT / "benchmarks")):
            sys.modules.pop(name)
    sys.path[:] = path


@pytest.mark.parametrize(
    ("side", "recipe"),
    [
        *itertools.product(["headrace", "pillow_simd"], ["jitter", "trivial", "simclr"]),
        *itertools.product(["headrace_no_antialias"], ["jitter", "trivial"]),
    ],
)
def test_each_recipe_makes_batches(
    augment: Any, photos: pathlib.Path, tmp_path: pathlib.Path, side: str, recipe: str
) -> None:
    importlib.import_module("compare").link_images(photos, tmp_path)
    before = multiprocessing.active_children()
    batches = augment.load_peers()[side].batches(recipe, str(tmp_path), 2)
    for views in itertools.islice(batches, 3):
        augment.augment_recipes.check_batch(recipe, views)
        assert len(views) == (2 if recipe == "simclr" else 1)
        assert len(views) == 1 or not np.array_equal(*views)
    batches.close()
    assert multiprocessing.active_children() == before


def test_batches_of_other_work_are_refused(augment: Any) -> None:
    recipes = augment.augment_recipes
    zeros = np.zeros((32, 3, 224, 224), np.float32)
    good = zeros.copy()
    good[0, 0, 0, 0] = 1
    recipes.check_batch("simclr", [good, good])
    for views, said in (
        ([good], "1 views, not 2"),
        ([good, good[:31]], "shape"),
        ([good, good.astype(np.float64)], "float64"),
        ([good, good * 255], "from 0.000 to 255.000"),
        ([good, zeros], "from 0.000 to 0.000"),
    ):
        with pytest.raises(recipes.BatchError, match=said):
            recipes.check_batch("simclr", views)


def test_the_loop_by_hand_has_the_pixels_of_our_kernels(augment: Any, photos: pathlib.Path) -> None:
    """They are those of Pillow, whose functions torchvision calls."""
    pillow = importlib.import_module("pillow_augment")
    image = Image.open(augment.IMAGE).convert("RGB")
    posterized, solarized = pillow.UNDIRECTED[1:3]
    for found, kernel in (
        (pillow.turned(image, 0.1), V.AdjustHue(0.1)),
        (pillow.DIRECTED[4](image, -1), V.Rotate(-135)),
        (pillow.DIRECTED[6](image, 1), V.AdjustSaturation(1.99)),
        (posterized(image, 1), V.Posterize(2)),
        (solarized(image, 0.6), V.Solarize(102)),
    ):
        assert np.array_equal(np.asarray(found), kernel(np.asarray(image))), kernel


def test_every_peer_says_what_the_readme_asks_for(augment: Any) -> None:
    peers = augment.load_peers()
    assert list(peers) == ["headrace", "dali", "headrace_no_antialias", "mindspore", "pil", "pillow_simd", "tensor"]
    assert augment.of_recipe("simclr", peers) == ["headrace", "dali", "mindspore", "pil", "pillow_simd", "tensor"]
    assert augment.of_recipe("jitter", peers) == list(peers)
    others = {file.stem: augment.peer_module(str(file.parent), file.stem) for file in COMPARE_PEERS.glob("*.py")}
    for peer in peers.values():
        assert peer.TITLE and peer.SETUP and not peer.SETUP.endswith(".") and callable(peer.batches)
        assert all("==" in peer.REQUIREMENTS[0] for _ in peer.REQUIREMENTS)
        assert getattr(peer, "LIKE", "headrace") in peers
        assert set(peer.DIFFERS) <= set(augment.augment_recipes.RECIPES)
        # Peers that share an environment would install it anew in turns.
        assert peer.VENV not in others or others[peer.VENV].REQUIREMENTS == peer.REQUIREMENTS
    assert list(augment.load_peers(["pil", "dali"])) == ["headrace", "pil", "dali"]
    with pytest.raises(SystemExit, match="no peer 'dalli'; there are: dali, headrace"):
        augment.load_peers(["dalli"])


def test_a_peer_that_fails_ends_the_run_and_says_why(augment: Any, tmp_path: pathlib.Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("raise OSError('no such codec')")
    with pytest.raises(SystemExit, match=r"(?s)script.py --measure side.*no such codec"):
        augment.measuring.in_alternation(str(script), {"side": sys.executable}, 1)


def test_a_peer_that_cannot_be_installed_says_what_it_needs(augment: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    compare = importlib.import_module("compare")
    peer, made = augment.load_peers()["pillow_simd"], []

    def refuse(*arguments: Any) -> None:
        made.append(arguments)
        raise compare.PeerError("no jpeglib.h")

    monkeypatch.setattr(compare, "make_environment", refuse)
    with pytest.raises(SystemExit, match=r"peers-pillow-simd: no jpeglib.h \(it needs Debian's gcc.* libjpeg-dev"):
        augment.install(peer, pathlib.Path("venvs"))
    assert made == [(pathlib.Path("venvs/peers-pillow-simd"), peer.REQUIREMENTS, {"CC": "cc -mavx2"})]


def test_each_kernel_of_the_table_is_called(augment: Any) -> None:
    kernels = augment.augment_kernels
    calls = kernels.headrace_calls(str(augment.IMAGE))
    assert set(calls) == set(kernels.LIBRARIES)
    found = kernels.nanoseconds(calls, 0)
    assert set(found) == set(calls) and all(value > 0 for value in found.values())


def test_the_table_has_the_slowest_first(augment: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(augment.augment_kernels, "LIBRARIES", {"Invert": "Pillow", "Pad": "Pillow"})
    ours, peers = [{"Invert": 1000.0, "Pad": 4000.0}, {"Invert": 2000.0, "Pad": 4000.0}], [
        {"Invert": 3000.0, "Pad": 2000.0}, {"Invert": 2000.0, "Pad": 2000.0}
    ]  # fmt: skip
    lines = augment.kernel_table({"headrace": ours, "peer": peers}).splitlines()
    assert lines[2:] == [
        "| Pad | Pillow | 4.0 | 2.0 | 0.50 (0.50–0.50) |",
        "| Invert | Pillow | 1.5 | 2.5 | 2.00 (1.00–3.00) |",
    ]


def runs(*rates: float) -> list[dict[str, float]]:
    return [{"a second": rate, "a CPU second": 5.0} for rate in rates]


def test_the_pipelines_have_the_fastest_first_and_what_differs(augment: Any) -> None:
    peers = augment.load_peers(["pil", "dali", "pillow_simd"])
    found = {"headrace": runs(10, 20), "pil": runs(5, 5), "dali": runs(20, 10), "pillow_simd": runs(30, 31)}
    first, second, third, fourth = augment.pipeline_table(peers, {"simclr": found}).splitlines()[2:]
    assert first.startswith("| simclr | Pillow-SIMD, a loop by hand | 30 (30–31) | 5 (5–5) | 0.49 (0.33–0.65) | 1.00")
    assert second == "| simclr | Headrace | 15 (10–20) | 5 (5–5) | – | – | as torchvision's |"
    assert third.endswith(f"| 1.25 (0.50–2.00) | 1.00 (1.00–1.00) | {peers['dali'].DIFFERS['simclr']} |")
    assert fourth.endswith("| 3.00 (2.00–4.00) | 1.00 (1.00–1.00) | as torchvision's |")


def test_a_peer_that_does_the_work_of_another_is_beside_it(augment: Any) -> None:
    peers = augment.load_peers(["headrace_no_antialias", "mindspore"])
    found = {"headrace": runs(10, 20), "headrace_no_antialias": runs(12, 24), "mindspore": runs(8, 12)}
    first = augment.pipeline_table(peers, {"jitter": found}).splitlines()[2]
    assert first == (
        "| jitter | Headrace, antialias=False | 18 (12–24) | 5 (5–5) | 0.83 (0.83–0.83) | 1.00 (1.00–1.00) | near: no antialias; "
        "to MindSpore, which does the same: 1.75 (1.50–2.00) a second, 1.00 (1.00–1.00) a CPU second |"
    )
    del found["mindspore"]
    assert augment.pipeline_table(peers, {"jitter": found}).splitlines()[2].endswith("| near: no antialias |")


def test_the_page_says_how_it_was_measured(augment: Any) -> None:
    options = argparse.Namespace(rounds=2, pictures=64, seconds=0.1, peers=["dali"])
    peers = augment.load_peers(options.peers)
    noisy, quiet = (augment.page("PIPELINES", "KERNELS", peers, "torch 1", load, options) for load in (6.0, 0.1))
    assert "PIPELINES" in noisy and "KERNELS" in noisy and "torch 1" in noisy
    assert "augment.py DIR --rounds=2 --pictures=64 --seconds=0.1 --peers=dali --out docs/benchmarks" in noisy
    assert f"- **NVIDIA DALI, on the CPU**: {peers['dali'].SETUP}." in noisy and "MindSpore" not in noisy
    assert "other processes used the cores meanwhile" in noisy and "other processes" not in quiet
