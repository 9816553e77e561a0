"""The documentation: its examples run and print what it shows, quoted code is in its file, its links exist.

A page's ```python blocks run one after the other in one namespace and one temporary folder, as one script `train.py`.
A ```text block shows what the block before it prints; `…` in it matches anything. Words after the language are options:
```python no-run is not run, ```python with the name of a library only where that is installed (LIBRARIES), ```python far only
where the engine reads far files, over a small store with the photographs in the bucket `data`; ```text varies is not
compared. A ```cpp block names its file in its first line.
"""

import ast
import contextlib
import dataclasses
import functools
import gc
import importlib.util
import io
import itertools
import pathlib
import re
import shutil
import subprocess
import tomllib
import urllib.parse
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import headrace as hr
from headrace import transforms, vision
from tests.far import stores
from tests.far.s3_server import ACCESS_KEY, REGION, SECRET_KEY, S3Server
from tools.check.tree import matches

ROOT = pathlib.Path(__file__).resolve().parents[1]
# The reference is generated; its examples are tested with the declarations they come from.
REFERENCE = [ROOT / "docs/ops.md", *sorted((ROOT / "docs/reference").glob("*.md"))]
PAGES = sorted(set((ROOT / "docs").rglob("*.md")) - set(REFERENCE)) + [ROOT / "README.md"]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
SECTIONS = ["Tutorial", "How to", "Reference", "Explanation", "Moving here", "Project"]
SCRIPT = "train.py"
# Words of blocks that are run only where the library of that name is installed.
LIBRARIES = (
    "accelerate",
    "albumentations",
    "datasets",
    "grain",
    "lightning",
    "pyarrow",
    "ray",
    "tensorboard",
    "torch",
    "transformers",
    "webdataset",
)
FAR = "far"


# Those that ./test --ci installs for a stage of their own.
OF_TORCH = {"accelerate", "lightning", "torch", "transformers"}
OF_RAY = {"ray"}


def absent() -> set[str]:
    """Words of blocks that are left out."""
    missing = {name for name in LIBRARIES if importlib.util.find_spec(name) is None}
    return missing | ({FAR} if stores.lacking() else set())


@dataclasses.dataclass
class Block:
    language: str
    words: list[str]
    text: str
    line: int


def blocks_of(markdown: str) -> list[Block]:
    blocks: list[Block] = []
    opened: Block | None = None
    for number, line in enumerate(markdown.splitlines(), 1):
        if not line.startswith("```"):
            if opened is not None:
                opened.text += line + "\n"
        elif opened is None:
            language, *words = line[3:].split() or [""]
            opened = Block(language, words, "", number + 1)
        else:
            blocks.append(opened)
            opened = None
    assert opened is None, f"the block that begins in line {opened and opened.line} has no end"
    return blocks


def is_run(block: Block) -> bool:
    return block.language == "python" and "no-run" not in block.words


def run_block(block: Block, namespace: dict[str, object]) -> str:
    """Runs it as lines of the script, numbered as in the page; returns what it prints."""
    tree = ast.parse(block.text)
    ast.increment_lineno(tree, block.line - 1)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, SCRIPT, "exec"), namespace)
    return printed.getvalue()


def shows(shown: str, printed: str) -> bool:
    """Whether they agree, except for `…`, line numbers of the script and trailing blanks."""

    def plain(text: str) -> str:
        lines = [line.rstrip() for line in text.strip("\n").splitlines()]
        return re.sub(rf"\b{re.escape(SCRIPT)}:\d+", f"{SCRIPT}:0", "\n".join(lines))

    pattern = ".*".join(re.escape(part) for part in plain(shown).split("…"))
    return re.fullmatch(pattern, plain(printed), re.DOTALL) is not None


@pytest.fixture
def folder(tmp_path: pathlib.Path, photos: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """A working folder with the files of the examples: `photos`, `masks` of the same names, `corpus`, and the sources of plugins."""
    from PIL import Image

    for photo in sorted(photos.glob("*/*.jpg")):
        copy = tmp_path / "photos" / photo.relative_to(photos)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(photo, copy)
        mask = (tmp_path / "masks" / photo.relative_to(photos)).with_suffix(".png")
        mask.parent.mkdir(parents=True, exist_ok=True)
        with Image.open(photo) as image:
            Image.fromarray((np.asarray(image.convert("L")) > 127).astype(np.uint8)).save(mask)
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus/a.txt").write_text("A headrace brings water to a wheel.\n\nThe wheel turns.\n")
    (tmp_path / "corpus/b.txt").write_text("The tailrace takes the water away.\n")
    for name in ("vignette.cc", "gauge.cc"):
        shutil.copyfile(ROOT / "examples/plugin" / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def store(page: pathlib.Path, folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """For pages with far files a store with the photographs, to which the environment leads."""
    if not any(FAR in block.words for block in blocks_of(page.read_text())) or FAR in absent():
        yield
        return
    with S3Server() as server:
        for photo in (folder / "photos").rglob("*.jpg"):
            server.put("data", str(photo.relative_to(folder)), photo.read_bytes())
        variables = {
            "ENDPOINT_URL": server.url,
            "ACCESS_KEY_ID": ACCESS_KEY,
            "SECRET_ACCESS_KEY": SECRET_KEY,
            "REGION": REGION,
        }
        for name, value in variables.items():
            monkeypatch.setenv(f"AWS_{name}", value)
        yield


@pytest.fixture
def own_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages that start Ray have one of their own beside clusters of other tests."""
    monkeypatch.setenv("RAY_ADDRESS", "local")


def with_libraries(page: pathlib.Path) -> list[Any]:
    """The page without what is installed late, and once more with it, if it has blocks that need it."""
    name = str(page.relative_to(ROOT))
    words = {word for block in blocks_of(page.read_text()) for word in block.words}
    needed = [
        (libraries, mark)
        for libraries, mark in ((OF_TORCH, pytest.mark.torch), (OF_RAY, pytest.mark.small_ray))
        if libraries & words
    ]
    late = [
        pytest.param(page, id=f"{name} with {', '.join(sorted(libraries & words))}", marks=mark)
        for libraries, mark in needed
    ]
    return [pytest.param(page, id=name), *late]


def test_pages_with_late_libraries_are_seen_by_their_stages() -> None:
    seen = tomllib.loads((ROOT / "tools/check/groups.toml").read_text())["markers"]
    for page in PAGES:
        for param in with_libraries(page)[1:]:
            (mark,) = param.marks
            path = str(page.relative_to(ROOT))
            assert matches(path, seen[mark.name]), f"{path} is not among the files of the stage {mark.name}"


@pytest.mark.usefixtures("own_ray")
@pytest.mark.parametrize("page", [param for page in PAGES for param in with_libraries(page)])
def test_examples_run_and_print_what_is_shown(page: pathlib.Path, folder: pathlib.Path, store: None) -> None:
    assert pathlib.Path.cwd() == folder
    namespace: dict[str, object] = {"__name__": "__main__"}
    try:
        run_page(page, namespace)
    finally:  # a failure's traceback keeps the namespace, and with it the iterators
        namespace.clear()
        gc.collect()


def run_page(page: pathlib.Path, namespace: dict[str, object]) -> None:
    printed: str | None = None
    left_out = False
    ran = compared = 0
    for block in blocks_of(page.read_text()):
        where = f"{page.relative_to(ROOT)}:{block.line}"
        if block.language == "python":
            left_out = not absent().isdisjoint(block.words)
        if left_out:
            continue
        if is_run(block):
            try:
                printed = run_block(block, namespace)
            except Exception as error:
                pytest.fail(f"{where}: {type(error).__name__}: {error}")
            ran += 1
        elif block.language == "text" and "varies" not in block.words:
            assert printed is not None, f"{where}: no block before it printed anything"
            assert shows(block.text, printed), f"{where} shows\n{block.text}\nbut this is printed:\n{printed}"
            compared += 1
    print(f"HEADRACE-COUNT examples={ran} outputs={compared}")


def test_a_difference_is_seen() -> None:
    assert shows("a\nrow 3\n", "a \nrow 3\n\n")
    assert shows("took … ms\n  written at: train.py:12", "took 31 ms\n  written at: train.py:99")
    assert shows("first\n…\nlast", "first\n2\n3\nlast")
    assert not shows("a\nb", "a\nc")
    assert not shows("a\n", "a\nmore")
    assert not shows("took … ms", "took 31 s")


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_quoted_code_stands_in_its_file(page: pathlib.Path) -> None:
    for block in blocks_of(page.read_text()):
        if block.language != "cpp":
            continue
        name, _, quoted = block.text.partition("\n")
        file = ROOT / name.removeprefix("// ")
        where = f"{page.relative_to(ROOT)}:{block.line}"
        assert file.is_file(), f"{where}: the first line must name a file, not {name!r}"
        code = file.read_text()
        for part in quoted.split("…\n"):
            assert part.strip("\n") in code, f"{where}: this is not in {name}:\n{part}"


# Whatever a reader of the repository may open: links and anchors are checked here, examples only in PAGES.
LINKED = PAGES + sorted(ROOT.glob("C*.md")) + [ROOT / "benchmarks/README.md"]
LINKED_NAMES = [str(page.relative_to(ROOT)) for page in LINKED]
LINK = re.compile(r"\]\((?!https?://)([^)#\s]*)(#[^)]*)?\)")
PATH = re.compile(r"`((?:[\w.-]+/)+[\w.-]+\.(?:h|cc|py|proto|md|txt|bzl))`")


def prose_of(markdown: str) -> str:
    return re.sub(r"^```.*?^```$", "", markdown, flags=re.DOTALL | re.MULTILINE)


@functools.cache
def anchors_of(markdown: str) -> set[str]:
    """The anchors of its headings, as GitHub makes them, and those that it names."""
    anchors = set(re.findall(r'<a id="([^"]+)"></a>', markdown))
    for heading in re.findall(r"^#+ (.+)$", prose_of(markdown), re.MULTILINE):
        shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        base = re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")
        repeats = (f"{base}-{number}" for number in itertools.count(1))
        anchors.add(next(name for name in itertools.chain([base], repeats) if name not in anchors))
    return anchors


def leads_nowhere(page: pathlib.Path, path: str, anchor: str) -> bool:
    target = page.parent / path if path else page
    if not target.exists():
        return True
    return bool(anchor) and anchor.removeprefix("#") not in anchors_of(target.read_text())


@pytest.mark.parametrize("page", LINKED, ids=LINKED_NAMES)
def test_links_and_anchors_lead_somewhere(page: pathlib.Path) -> None:
    links = LINK.findall(prose_of(page.read_text()))
    assert [path + anchor for path, anchor in links if leads_nowhere(page, path, anchor)] == []


def test_links_and_anchors_of_the_reference_lead_somewhere() -> None:
    dead = {}
    for page in REFERENCE:
        links = set(LINK.findall(prose_of(page.read_text())))
        dead[page.name] = [path + anchor for path, anchor in links if leads_nowhere(page, path, anchor)]
    assert {name: links for name, links in dead.items() if links} == {}


URL = re.compile(r"\]\((https?:[^)\s]*)\)")


@pytest.mark.parametrize("page", LINKED, ids=LINKED_NAMES)
def test_links_to_elsewhere_are_urls_of_hosts(page: pathlib.Path) -> None:
    urls = [urllib.parse.urlsplit(url) for url in URL.findall(prose_of(page.read_text()))]
    assert [url.geturl() for url in urls if "." not in (url.hostname or "")] == []


def test_a_dead_anchor_is_seen(tmp_path: pathlib.Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        '# Python\'s side\n\n<a id="named"></a>\n\n## `a` of [b](c.md)\n\n## Twice\n\n## Twice\n\n```sh\n# no heading\n```\n'
    )
    assert anchors_of(page.read_text()) == {"named", "pythons-side", "a-of-b", "twice", "twice-1"}
    assert not leads_nowhere(page, "", "#twice-1")
    assert leads_nowhere(page, "", "#no-heading")
    assert leads_nowhere(page, "other.md", "")


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_paths_lead_somewhere(page: pathlib.Path) -> None:
    assert [path for path in PATH.findall(page.read_text()) if not (ROOT / path).exists()] == []


NAME = re.compile(r"`[^`\n]*?\b((?:hr\.datasets|hr|V|T)\.[A-Za-z_]\w*)")
# What stands for any name.
ANY_NAME = {"hr.name", "hr.Name"}


def is_there(name: str) -> bool:
    module, *rest = name.split(".")
    found: object = {"hr": hr, "V": vision, "T": transforms}[module]
    for each in rest:
        found = getattr(found, each, None)
    return found is not None


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_names_in_prose_are_those_of_the_package(page: pathlib.Path) -> None:
    names = set(NAME.findall(prose_of(page.read_text()))) - ANY_NAME
    assert sorted(name for name in names if not is_there(name)) == []


def test_every_page_is_in_one_section_of_the_navigation() -> None:
    sections = tomllib.loads((ROOT / "docs/pages.toml").read_text())["sections"]
    assert [section["title"] for section in sections] == SECTIONS
    listed = [path for section in sections for path, _ in section["pages"]]
    assert [path for path in set(listed) if listed.count(path) > 1] == []
    # The index of a folder of pages on GitHub is none of the site's.
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in PAGES + REFERENCE[:1] if page.parent != ROOT}
    missing = sorted(pages - {*listed, "README.md"})
    assert not missing, f"in no section of docs/pages.toml: {', '.join(missing)}"
    gone = sorted(set(listed) - pages)
    assert not gone, f"docs/pages.toml lists what docs/ does not have: {', '.join(gone)}"


def test_a_page_that_says_how_to_is_run() -> None:
    sections = tomllib.loads((ROOT / "docs/pages.toml").read_text())["sections"]
    pages = [ROOT / "docs" / path for section in sections[:2] for path, _ in section["pages"]]
    assert set(pages) <= set(PAGES)
    ran = {page for page in pages for block in blocks_of(page.read_text()) if is_run(block)}
    assert [page.name for page in pages if page not in ran] == []


def test_the_version_to_cite_is_the_version() -> None:
    for file, form in (
        ("CITATION.cff", "version: {}\n"),
        ("docs/citation.md", "version = {{{}}}"),
        ("docs/stability.md", "=={}`"),
    ):
        assert form.format(hr.__version__) in (ROOT / file).read_text(), file


def test_titles_of_the_navigation_are_short_and_differ() -> None:
    sections = tomllib.loads((ROOT / "docs/pages.toml").read_text())["sections"]
    titles = [title for section in sections for _, title in section["pages"]]
    assert [title for title in titles if len(title) > 40 or titles.count(title) > 1] == []


def test_every_page_of_semantics_is_in_its_contents() -> None:
    folder = ROOT / "docs/semantics"
    contents = (folder / "README.md").read_text()
    names = sorted(page.name for page in folder.glob("*.md") if page.name != "README.md")
    assert names == sorted(re.findall(r"^\| \[[^\]]+\]\(([\w-]+\.md)\)", contents, re.MULTILINE))


def rooms_of_the_product() -> list[str]:
    """Folders with a BUILD file of their own, but for those of tests, tools and examples."""
    command = ["git", "ls-files", "core", "ir", "kernels", "io", "engine", "ops", "plugin", "capi", "python"]
    files = map(
        pathlib.Path, subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    )
    rooms = {str(file.parent) for file in files if file.name == "BUILD"}
    return sorted(room for room in rooms if not {"testing", "testdata"} & set(room.split("/")))


def alternatives(path: str) -> list[str]:
    """a/b and a/c for a/{b,c}."""
    start, brace, rest = path.partition("{")
    names, _, end = rest.partition("}")
    return [f"{start}{name.strip()}{end}" for name in names.split(",")] if brace else [path]


def rooms_of_row(folder: str, holds: str) -> set[str]:
    """The folder of a row, and what it holds: names below the folder, or below the one after the word below."""
    found, base = {folder}, folder
    for below, name in re.findall(r"(below )?`([^`]+)`", holds):
        if below and name.endswith("/"):
            base = f"{folder}/{name.removesuffix('/')}"
        else:
            found |= {f"{base}/{each}" for each in alternatives(name)}
    return found


@functools.cache
def rooms_of_the_architecture() -> set[str]:
    """The paths that the table of rooms names, or the text below it in full, and the folders above them."""
    page = (ROOT / "docs/architecture.md").read_text()
    text = page[page.index("## Rooms") : page.index("Where something new goes")]
    found = set(re.findall(r"`(\w+(?:/\w+)+)`", text))
    for folder, holds in re.findall(r"^\| `([\w/]+)/` \| (.*?) \|", text, re.MULTILINE):
        found |= rooms_of_row(folder, holds)
    return found | {str(above) for path in found for above in pathlib.PurePath(path).parents}


@pytest.mark.parametrize("room", rooms_of_the_product())
def test_the_architecture_names_each_room(room: str) -> None:
    assert room in rooms_of_the_architecture(), f"docs/architecture.md's table of rooms lacks {room}/"


def test_the_name_of_a_room_elsewhere_names_no_room() -> None:
    assert rooms_of_row("a", "`b`, `c/{d,d/e}`, and below `f/`: `g`") == {"a", "a/b", "a/c/d", "a/c/d/e", "a/f/g"}
    assert not {"io/formats/arrays", "engine/image", "kernels/memory"} & rooms_of_the_architecture()
