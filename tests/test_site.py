"""The documentation's site: built from this clone, and opened in a real browser from its folder, wide and narrow, light and
dark; ./test --ci installs what this needs."""

import json
import pathlib
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser import CONTRAST, Browser
from tests.conftest import ROOT

pytestmark = [pytest.mark.site, pytest.mark.timeout(1200)]

ENVIRONMENT = ROOT / ".cache/site/installed"
# Where two colours of a text and what is behind it are told apart well (contrast as WCAG 2 defines it, from 1 to 21).
READABLE = 4.5
FAINT = """
selector => {
CONTRAST
  return [...document.querySelectorAll(selector)].filter(element => element.checkVisibility()).map(element => {
    return [contrast(element, "color"), element.textContent.slice(0, 60)];
  }).filter(([contrast]) => contrast < LEAST);
}
""".replace("LEAST", str(READABLE)).replace("CONTRAST", CONTRAST)
# What stands over the right edge though nothing around it scrolls.
OVER_THE_EDGE = """
(() => {
  const scrolls = element => {
    for (; element && element !== document.body; element = element.parentElement)
      if (["auto", "scroll", "hidden"].includes(getComputedStyle(element).overflowX)) return true;
    return false;
  };
  return [...document.querySelectorAll("article *")]
    .filter(element => element.getBoundingClientRect().right > innerWidth + 1 && !scrolls(element))
    .map(element => element.outerHTML.slice(0, 80));
})()
"""
FOUND = """
new Promise(resolve => {
  const look = () => {
    const found = [...document.querySelectorAll("#search-results li a")].map(each => [each.textContent, each.href]);
    found.length ? resolve(found) : setTimeout(look, 10);
  };
  look();
})
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    if not ENVIRONMENT.exists():
        pytest.skip("what builds the site is not installed: tools/site/build --install")
    out = tmp_path_factory.mktemp("built") / "site"
    done = subprocess.run([str(ROOT / "tools/site/build"), str(out)], capture_output=True, text=True, timeout=1000)
    assert done.returncode == 0, done.stderr[-4000:]
    return out


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if shutil.which("chromium") is None:
        pytest.skip("Chromium is not installed")
    with Browser() as opened:
        yield opened


def sections() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads((ROOT / "docs/pages.toml").read_text())["sections"]
    return found


def page_of(site: pathlib.Path, source: str) -> pathlib.Path:
    return (site / source).with_suffix(".html")


def listed(site: pathlib.Path) -> list[pathlib.Path]:
    """The pages of the navigation."""
    return [page_of(site, f"docs/{path}") for section in sections() for path, _ in section["pages"]]


def test_every_page_of_the_documentation_is_there(site: pathlib.Path) -> None:
    sources = [path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")]
    assert [source for source in sources if not page_of(site, source).is_file()] == []
    assert (site / "index.html").is_file()


def test_nothing_in_it_loads_a_script_a_style_or_an_image_from_elsewhere(site: pathlib.Path) -> None:
    loads = re.compile(r"""<(?:script|img|iframe|source|link)\b[^>]*\b(?:src|href|srcset)="(?:https?:)?//[^"]*""")
    pages = list(site.rglob("*.html"))
    assert len(pages) > 300
    assert {page.name: loads.findall(page.read_text()) for page in pages if loads.search(page.read_text())} == {}
    styles = [*site.rglob("*.css")]
    assert [
        style.name for style in styles if re.search(r"""url\(["']?(?:https?:)?//|@import""", style.read_text())
    ] == []


def test_every_link_within_it_leads_to_a_page_and_an_anchor(site: pathlib.Path) -> None:
    texts = {page: page.read_text() for page in site.rglob("*.html")}
    anchors = {page: set(re.findall(r'\bid="([^"]+)"', text)) for page, text in texts.items()}
    dead = []
    for page, text in texts.items():
        for path, anchor in set(re.findall(r'<a\b[^>]*\bhref="(?!\w+:)([^"#?]*)#?([^"]*)"', text)):
            target = (page.parent / path).resolve() if path else page
            if not target.exists() or (anchor and target in anchors and anchor not in anchors[target]):
                dead.append(f"{page.relative_to(site)}: {path}#{anchor}")
    assert dead == []


def test_notebooks_are_pages_with_their_cells_and_outputs(site: pathlib.Path) -> None:
    for notebook in (ROOT / "docs/notebooks").glob("*.ipynb"):
        page = page_of(site, f"docs/notebooks/{notebook.stem}.md").read_text()
        cells = json.loads(notebook.read_text())["cells"]
        code = [cell for cell in cells if cell["cell_type"] == "code"]
        outputs = [output for cell in code for output in cell["outputs"]]
        pictures = [output for output in outputs if "image/png" in output.get("data", {})]
        assert page.count('class="highlight-python') >= len(code)
        assert page.count('class="highlight-text') >= len(outputs) - len(pictures)
        shown = re.findall(r'<img alt="What the cell shows" src="([^"]+)"', page)
        assert len(set(shown)) == len(pictures)
        for path in shown:
            assert (site / "docs/notebooks" / path).resolve().read_bytes().startswith(b"\x89PNG")
        (kept,) = set(re.findall(r'href="([^"]+/' + notebook.name + ")", page))
        assert (site / "docs/notebooks" / kept).resolve().read_bytes() == notebook.read_bytes()


def test_pages_link_to_the_pages_of_notebooks(browser: Browser, site: pathlib.Path) -> None:
    names = [path.stem for path in (ROOT / "docs/notebooks").glob("*.ipynb")]
    examples = page_of(site, "docs/examples.md").read_text()
    assert [name for name in names if f'href="notebooks/{name}.html"' not in examples] == []
    opened(browser, site / "index.html", 1280, dark=False)
    links = browser.evaluate("[...document.querySelectorAll('.sidebar-tree a')].map(each => each.href)")
    for name in names:
        assert page_of(site, f"docs/notebooks/{name}.md").resolve().as_uri() in links


def opened(browser: Browser, page: pathlib.Path, width: int, dark: bool, query: str = "") -> None:
    browser.requests.clear()
    browser.console.clear()
    browser.open(page, width, dark, query=query)
    assert [url for url in browser.requests if not url.startswith(("file:", "data:"))] == []
    assert browser.console == [], page


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_pages_fit_into_the_window_and_can_be_read(
    browser: Browser, site: pathlib.Path, width: int, dark: bool
) -> None:
    reference = sorted((site / "docs/reference").glob("*.html"))
    # Narrow windows are where something is too wide; the others look at fewer pages.
    every = 1 if width == 400 and not dark else 6
    notebooks = sorted((site / "docs/notebooks").glob("*.html"))
    pages = [
        site / "index.html",
        *listed(site)[::every],
        *notebooks[::every],
        *reference[:: 12 * every],
        page_of(site, "docs/ops.md"),
    ]
    wide, faint = {}, {}
    for page in pages:
        opened(browser, page, width, dark)
        if browser.evaluate("document.documentElement.scrollWidth") > width or browser.evaluate(OVER_THE_EDGE):
            wide[page.name] = browser.evaluate(OVER_THE_EDGE)
        if low := browser.evaluate(
            f"({FAINT})('article p, article h1, article h2, article a, article td, article pre span')"
        ):
            faint[page.name] = low[:3]
    assert wide == {} and faint == {}


def test_a_faint_text_and_a_wide_element_are_noticed(browser: Browser, tmp_path: pathlib.Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(
        "<!DOCTYPE html><article><p style='color: #999'>faint</p><p>clear</p><div style='width: 500px'>wide</div>"
        "<div style='overflow-x: auto'><div style='width: 500px'>scrolls</div></div></article>"
    )
    browser.open(page, 400, dark=False)
    assert [text for _, text in browser.evaluate(f"({FAINT})('p')")] == ["faint"]
    (wide,) = browser.evaluate(OVER_THE_EDGE)
    assert "wide" in wide


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_page_is_as_dark_as_the_system(browser: Browser, site: pathlib.Path, dark: bool) -> None:
    opened(browser, site / "index.html", 1280, dark)
    colour = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    brightness = sum(map(int, re.findall(r"\d+", colour)[:3])) / 3
    assert brightness < 60 if dark else brightness > 240


def test_the_navigation_has_the_sections_and_their_pages(browser: Browser, site: pathlib.Path) -> None:
    opened(browser, site / "index.html", 1280, dark=False)
    captions = browser.evaluate("[...document.querySelectorAll('.sidebar-tree .caption-text')].map(e => e.textContent)")
    assert captions == [section["title"] for section in sections()]
    links = browser.evaluate("[...document.querySelectorAll('.sidebar-tree a')].map(e => [e.textContent, e.href])")
    for title, page in zip(
        (title for section in sections() for _, title in section["pages"]), listed(site), strict=True
    ):
        assert [title, page.resolve().as_uri()] in links


def test_the_navigation_opens_in_a_narrow_window(browser: Browser, site: pathlib.Path) -> None:
    opened(browser, page_of(site, "docs/tutorial.md"), 400, dark=False)
    place = "document.querySelector('.sidebar-drawer').getBoundingClientRect()"
    assert browser.evaluate(f"{place}.right") <= 0
    browser.evaluate(
        "new Promise(done => { document.querySelector('.sidebar-drawer').addEventListener('transitionend', done);"
        " document.querySelector('label[for=__navigation]').click(); }).then(() => null)"
    )
    assert browser.evaluate(f"{place}.left") == 0 and browser.evaluate(f"{place}.right") <= 400


@pytest.mark.parametrize("width", [1280, 400])
def test_the_search_finds_pages(browser: Browser, site: pathlib.Path, width: int) -> None:
    for words, page in (("RandomResizedCrop", "reference/V.RandomResizedCrop.html"), ("mindrecord", "mindrecord.html")):
        opened(browser, site / "search.html", width, dark=False, query=f"?q={words}")
        found = browser.evaluate(FOUND)
        assert page_of(site, f"docs/{page}").resolve().as_uri() in [
            url.partition("?")[0].partition("#")[0] for _, url in found
        ]
        assert [url for url in browser.requests if not url.startswith(("file:", "data:"))] == []
        assert browser.evaluate("document.documentElement.scrollWidth") <= width


def test_a_dead_link_ends_the_build(tmp_path: pathlib.Path) -> None:
    """In a clone with one page, whose build is that of this one."""
    if not ENVIRONMENT.exists():
        pytest.skip("what builds the site is not installed: tools/site/build --install")
    shutil.copytree(ROOT / "tools/site", tmp_path / "tools/site")
    (tmp_path / "tools/setup").mkdir()
    shutil.copy(ROOT / "tools/setup/requirements-site.txt", tmp_path / "tools/setup")
    (tmp_path / ".cache").mkdir()
    (tmp_path / ".cache/site").symlink_to(ENVIRONMENT.parent)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/pages.toml").write_text('[[sections]]\ntitle = "Tutorial"\npages = [["one.md", "One"]]\n')
    (tmp_path / "docs/one.md").write_text("# One\n\n[Back](../README.md)\n\n[Data](../data.txt)\n")
    (tmp_path / "data.txt").write_text("1\n")
    cells = [{"cell_type": "markdown", "source": ["# Two\n", "\n", "[One](one.md)"]}]
    (tmp_path / "docs/two.ipynb").write_text(json.dumps({"cells": cells}))
    (tmp_path / "README.md").write_text("# Home\n\n[One](docs/one.md#one)\n")

    def build() -> subprocess.CompletedProcess[str]:
        command = [str(tmp_path / "tools/site/build"), str(tmp_path / "out")]
        return subprocess.run(command, capture_output=True, text=True, timeout=300)

    done = build()
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "out/docs/one.html").read_text()
    assert '"../index.html' in page and "data.txt" in page
    assert 'href="one.html"' in (tmp_path / "out/docs/two.html").read_text()
    (tmp_path / "README.md").write_text("# Home\n\n[One](docs/one.md#two)\n")
    done = build()
    assert done.returncode != 0 and "two" in done.stderr
    # The site of before is still there.
    assert (tmp_path / "out/docs/one.html").read_text() == page


def test_what_is_no_site_is_not_replaced(tmp_path: pathlib.Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    done = subprocess.run([str(ROOT / "tools/site/build"), str(tmp_path)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "something other than a site" in done.stderr
    assert (tmp_path / "thesis.txt").exists()
