"""The page of a profile in a real browser, wide and narrow, light and dark; ./test --ci installs it."""

import io
import pathlib
import shutil
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import headrace as hr
from headrace import vision as V
from tests.browser import CONTRAST, Browser

pytestmark = pytest.mark.browser

# Each element of a selector: its place in the window, its text, and how its colour stands out from what is behind it
# (contrast as WCAG 2 defines it, from 1 to 21).
LOOK = """
(selector, colour) => {
CONTRAST
  return [...document.querySelectorAll(selector)].map(element => {
    const box = element.getBoundingClientRect();
    return {shown: element.checkVisibility({opacityProperty: true, visibilityProperty: true}), left: box.left,
            right: box.right, top: box.top + scrollY, width: box.width, height: box.height,
            text: element.textContent, contrast: contrast(element, colour)};
  });
}
""".replace("CONTRAST", CONTRAST)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, photos: pathlib.Path) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("profile")
    train = (
        hr.ImageFolder(photos, shuffle=True)
        .map([V.Decode(), V.RandomResizedCrop(32), V.RandomHorizontalFlip()], "image")
        .repeat(8)
        .batch(4)
        .to_device("cpu:0")
    )
    with train.profile(folder) as batches:
        for _ in batches:
            pass
    return folder / "report.html"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if shutil.which("chromium") is None:
        pytest.skip("Chromium is not installed")
    with Browser() as opened:
        yield opened


def seen(browser: Browser, selector: str, colour: str = "color") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = browser.evaluate(f"({LOOK})({selector!r}, {colour!r})")
    assert found, f"there is no {selector}"
    for each in found:
        assert each["shown"] and each["width"] > 0 and each["height"] > 0, each
    return found


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_everything_on_it_is_visible(browser: Browser, page: pathlib.Path, width: int, dark: bool) -> None:
    from PIL import Image

    browser.open(page, width, dark)
    assert browser.console == []
    assert browser.evaluate("innerWidth") == width
    # Nothing runs over the edge: what is wider scrolls within its place.
    assert browser.evaluate("document.documentElement.scrollWidth") <= width

    headings = [each["text"] for each in seen(browser, "h2")]
    assert headings[:2] == ["What limits it", "The tree"] and "The device over time" in headings
    advice = seen(browser, "li")
    summary = seen(browser, "p")
    assert "96 rows in 24 batches delivered" in summary[0]["text"] and "rows a second" in summary[0]["text"]
    for each in [*advice, *summary, *seen(browser, "h1, h2, h3")]:
        assert each["left"] >= 0 and each["right"] <= width and each["contrast"] >= 4.5, each

    stages = seen(browser, "td.tree")
    assert [name for name in ("batch", "map", "ImageFolder") if any(name in each["text"] for each in stages)] == [
        "batch",
        "map",
        "ImageFolder",
    ]
    for each in [*stages, *seen(browser, "th")]:
        assert each["contrast"] >= 4.5, each
    # The names of the stages stand in the window before anything is scrolled.
    assert all(0 <= each["left"] and each["right"] <= width for each in stages), stages

    pixels = np.asarray(Image.open(io.BytesIO(browser.screenshot())).convert("RGB")).astype(int)
    charts = seen(browser, "svg:has(polyline)")
    lines = seen(browser, "polyline", "stroke")
    assert len(charts) == len(lines) == 7  # three queues, the memory, and three of the device
    for chart, line in zip(charts, lines, strict=True):
        assert chart["left"] >= 0 and chart["right"] <= width and chart["width"] > width / 2
        assert line["contrast"] >= 3, line
        # In each column of the chart something is drawn on its ground. Its edges may lie between two pixels.
        top, left = round(chart["top"]) + 1, round(chart["left"]) + 1
        drawn = pixels[top : top + round(chart["height"]) - 2, left : left + round(chart["width"]) - 2]
        ground = np.median(drawn.reshape(-1, 3), 0)
        assert (np.abs(drawn - ground).sum(2) > 60).any(0).mean() > 0.9
    for kind in ("busy", "input", "slot"):
        assert all(each["contrast"] >= 1.5 for each in seen(browser, f"svg.key .{kind}", "fill"))
    background = pixels[2, 2].mean()
    assert background < 60 if dark else background > 240


def test_a_fault_of_a_page_is_noticed(browser: Browser, tmp_path: pathlib.Path) -> None:
    (tmp_path / "fault.html").write_text("<!DOCTYPE html><p>x</p><script>no.such()</script>")
    browser.open(tmp_path / "fault.html", 400, dark=False)
    assert len(browser.console) == 1 and "ReferenceError" in browser.console.pop()
