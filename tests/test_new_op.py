"""tools/new_op: its output passes the repository's style checks, and says what is left to write."""

import pathlib
import shutil
import subprocess
import sys

import pytest

from tests.conftest import ROOT


@pytest.fixture
def copy(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools/new_op", tmp_path / "tools/new_op")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for folder in ("vision/color", "tensor", "testdata", "registered"):
        (tmp_path / "kernels" / folder).mkdir(parents=True)
    (tmp_path / "ir").mkdir()
    for path in ("ir/front_module.cc", "kernels/registered/BUILD"):
        shutil.copy(ROOT / path, tmp_path / path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    shutil.copy(ROOT / "kernels/testdata/golden.py", tmp_path / "kernels/testdata")
    return tmp_path


def new_op(root: pathlib.Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(root / "tools/new_op"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    "kernel, room, folder, name, module",
    [
        ("V.ColorJitter", ["--room", "color"], "vision/color", "color_jitter", "vision"),
        ("T.Clip", [], "tensor", "clip", "transforms"),
    ],
)
def test_writes_a_kernel_a_test_and_a_golden_stub(kernel, room, folder, name, module, copy):
    done = new_op(copy, kernel, *room)
    assert done.returncode == 0, done.stderr
    stem = copy / "kernels" / folder / name
    written = [stem.with_name(name + end) for end in (".cc", "_test.cc", "_golden.py")]
    assert sorted(path for path in (copy / "kernels").rglob(f"{name}*")) == sorted(written)
    ruff = [sys.executable, "-m", "ruff"]
    subprocess.run([*ruff, "format", "--check", "-q", str(written[2])], check=True, cwd=copy)
    subprocess.run([*ruff, "check", "-q", str(written[2])], check=True, cwd=copy)
    declaration = written[0].read_text()
    assert f'.name = "{kernel[2:]}"' in declaration and f'.example = "{kernel}()"' in declaration
    assert f'.python_module = "{module}"' in declaration
    # Rooms are compiled together.
    assert f"Infer{kernel[2:]}(" in declaration and f" {name}_registration{{" in declaration
    assert f'InternalError("write me: kernels/{folder}/{name}.cc")' in declaration
    golden = subprocess.run(
        [sys.executable, "-m", f"kernels.{folder.replace('/', '.')}.{name}_golden"],
        capture_output=True,
        text=True,
        cwd=copy,
    )
    assert f"write me: kernels/{folder}/{name}_golden.py" in golden.stderr
    assert f"tools/loop kernels/{folder}/{name}\n" in done.stdout


@pytest.mark.parametrize(
    "arguments, why", [((), "has rooms: give --room"), (("--room", "pixels"), "has no room pixels")]
)
def test_a_kernel_of_images_needs_a_room(arguments, why, copy):
    done = new_op(copy, "V.ColorJitter", *arguments)
    assert done.returncode == 1
    assert f"kernels/vision {why}; it is one of augment, codecs/decode" in done.stderr
    assert not list(copy.rglob("color_jitter*"))


def test_a_row_of_the_table_is_a_new_domain(copy):
    """Of it the row and the room are all that it needs."""
    table = copy / "ir/front_module.cc"
    row = '    {.name = "audio", .prefix = "A.", .title = "headrace.audio", .doc = "Of sound.", .sample = SampleInput::kVector},'
    table.write_text(table.read_text().replace("\n};", f"\n{row}\n}};"))
    linked = copy / "kernels/registered/BUILD"
    linked.write_text(linked.read_text().replace('"//kernels/choosers",', '"//kernels/audio",'))
    (copy / "kernels/audio").mkdir()
    done = new_op(copy, "A.Resample")
    assert done.returncode == 0, done.stderr
    declaration = (copy / "kernels/audio/resample.cc").read_text()
    assert '.python_module = "audio"' in declaration and '.example = "A.Resample()"' in declaration


def test_overwrites_nothing(copy):
    kernel = copy / "kernels/tensor/clip.cc"
    kernel.write_text("mine")
    assert new_op(copy, "T.Clip").returncode == 1
    assert kernel.read_text() == "mine"
    assert not kernel.with_name("clip_test.cc").exists()


@pytest.mark.parametrize("arguments", [(), ("Clip",), ("X.Clip",), ("T.clip",), ("T.Clip", "V.Clip")])
def test_says_how_it_is_used(arguments, copy):
    done = new_op(copy, *arguments)
    assert done.returncode == 2
    assert "usage: tools/new_op V.Name" in done.stderr
