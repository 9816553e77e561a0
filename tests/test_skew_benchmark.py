"""benchmarks/skew.py: its reference is what Pillow gives, and its tables stand on the page."""

import importlib.util
import pathlib
from typing import Any

import numpy as np
import pytest

from headrace import vision as V

ROOT = pathlib.Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def skew() -> Any:
    spec = importlib.util.spec_from_file_location("skew", ROOT / "benchmarks/skew.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def pictures(photos: pathlib.Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(photos.rglob("*.jpg"))][:4]


def numbers(lines: list[str]) -> dict[str, list[str]]:
    return {
        name.strip(): [each.strip() for each in rest] for _, name, *rest, _ in (line.split("|") for line in lines[2:])
    }


def test_ours_is_pillows(skew, pictures):
    decoded, prepared = map(numbers, skew.page(pictures))
    assert decoded["Pillow, `Image.open`"] == ["0.00", "0", "0.0%"]
    assert prepared["Pillow, bilinear"] == ["0.00", "0", "0.0%"]
    assert float(prepared["Headrace, `Resize(antialias=False)`"][0]) > 1
    assert {len(each) for each in prepared.values()} == {3}


def test_the_picture_is_a_row_of_three(skew, photos):
    drawn = V.Decode()(skew.drawn((photos / skew.PHOTO).read_bytes()))
    side = skew.CROP * skew.ENLARGED
    assert drawn.shape == (side, 3 * side, 3) and drawn[:, 2 * side :].any()


def test_a_difference_is_counted(skew):
    wanted = [np.zeros((2, 2, 3), np.uint8)]
    found = np.zeros((2, 2, 3), np.uint8)
    found[0, 0] = [9, 8, 1]
    assert skew.differences(lambda data: found, wanted, [b""]) == (18 / 12, 9, 1 / 12)


def test_the_page_has_the_tables_of_the_benchmark(skew):
    page = (ROOT / "docs/skew.md").read_text()
    decoded, prepared = (part.split("\n\n")[0].splitlines() for part in page.split("| prepared by |")[1:])
    named = {line.split("|")[1].strip() for line in [*decoded, *prepared] if line.startswith("| ")}
    ways = skew.DECODERS | skew.preparations()
    # Only what has a library of its own may be missing where the page was made.
    assert {name for name, (needed, _) in ways.items() if "torchvision" not in needed} <= named <= set(ways)
    tables = (["| prepared by | first |", "|---|"], ["| prepared by | second |", "|---|"])
    again = skew.replaced(page, tables)
    assert again.count("| prepared by |") == 2 and "| first |" in again and "Headrace, bicubic" not in again
    assert again.partition("## What to do")[2] == page.partition("## What to do")[2]
