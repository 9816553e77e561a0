"""The command line."""

import json
import subprocess
import sys

import numpy as np
import pytest

import headrace as hr
from headrace import _engine
from headrace.__main__ import main
from headrace._commands import version_command
from headrace._operators import class_text
from tests import example_plugins

OPERATORS = json.loads(_engine.declarations())["operators"]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "headrace", *arguments], capture_output=True, text=True, timeout=60)


def test_version(capsys):
    assert main(["version"]) == 0
    assert capsys.readouterr().out.strip() == f"headrace {hr.__version__}"
    assert run("version").stdout.strip() == f"headrace {hr.__version__}"
    assert run("--version").stdout.strip() == f"headrace {hr.__version__}"


def test_version_of_a_build_from_sources_lists_no_parts(capsys):
    assert main(["version", "--all"]) == 0
    first, about, *rest = capsys.readouterr().out.strip().splitlines()
    assert first == f"headrace {hr.__version__}" and f"NumPy {np.__version__}" in about
    assert rest[0].startswith("Files behind a network: ") and ("curl " in rest[0] or "./quickstart --far" in rest[0])
    assert rest[-1].startswith("Built from sources")


def test_version_lists_the_parts_of_a_wheel(tmp_path):
    bill = version_command.bill_of_materials("1.0", tmp_path)
    bill.parent.mkdir(parents=True)
    shared = {
        "name": "libz.so.1",
        "version": "1:1.2.13",
        "licenses": [{"expression": "Zlib"}],
        "properties": [{"name": "headrace:source", "value": "zlib"}],
    }
    digest = "ab" * 32
    inside = {"name": "headrace:file", "value": "headrace/_engine.so"}
    far = {"name": "headrace:file", "value": "headrace/libheadrace_far.so"}
    parts = [
        {**shared, "hashes": [{"alg": "SHA-256", "content": digest}]},
        {**shared, "name": "inside", "properties": [*shared["properties"], inside]},
        {**shared, "name": "far", "properties": [*shared["properties"], far]},
    ]
    bill.write_text(json.dumps({"components": parts}))
    lines = [line.split() for line in version_command.describe_all("1.0", tmp_path)]
    assert ["libz.so.1", "1:1.2.13", "Zlib", "zlib", digest] in lines
    assert ["inside", "1:1.2.13", "Zlib", "zlib", *"in the engine module".split()] in lines
    assert ["far", "1:1.2.13", "Zlib", "zlib", "in", "libheadrace_far.so"] in lines
    assert str(bill) in lines[-2] and str(tmp_path / "headrace-1.0.dist-info/licenses") in lines[-1]


def test_ops_lists_every_operator(capsys):
    assert main(["ops"]) == 0
    listed = capsys.readouterr().out
    for name in ("hr.ImageFolder", "ds.batch", "V.Resize", "T.TypeCast"):
        assert name in listed


@pytest.mark.parametrize("name", ["Resize", "V.Resize", "batch", "ds.batch", "hr.Range"])
def test_ops_shows_one(capsys, name):
    assert main(["ops", name]) == 0
    shown = capsys.readouterr().out
    assert "Arguments:" in shown and "Example:" in shown


@pytest.mark.parametrize(
    ("name", "called", "arguments"),
    [
        ("bucket_by_length", "ds.bucket_by_length(column, boundaries, batch_sizes, ", ["length", "pad: Literal["]),
        ("batch", "ds.batch(size, drop_remainder=False, ", ["function", "output", "types", "pad: bool = False"]),
        ("ds.zip", "ds.zip(*others)", []),
    ],
)
def test_ops_shows_the_arguments_of_the_method(capsys, name, called, arguments):
    """As docs/reference does, and nothing else that only graphs have."""
    assert main(["ops", name]) == 0
    shown = capsys.readouterr().out
    assert called in shown and not any(hidden in shown for hidden in ("mark_padding", "ragged_columns"))
    for argument in arguments:
        assert f"\n  {argument}" in shown
    method = class_text.arguments(next(op for op in OPERATORS if op["name"] == name.rpartition(".")[2]))
    assert all(f"\n      {argument.text}\n" in shown for argument in method)


def test_ops_shows_the_arguments_of_a_plugins_format(capsys):
    library = example_plugins.library_of("gauge")
    assert main(["ops", "suite_gauge.Readings", "--plugin", str(library)]) == 0
    shown = capsys.readouterr().out
    assert "suite_gauge.Readings(patterns, " in shown and "\n  window: int = 16384\n" in shown


def test_ops_suggests(capsys):
    assert main(["ops", "Reszie"]) == 1
    assert "did you mean Resize?" in capsys.readouterr().err


def test_passes_are_listed_as_they_run(capsys):
    assert main(["passes"]) == 0
    listed = [line.partition(": ") for line in capsys.readouterr().out.splitlines()]
    names = [name for name, _, doc in listed if doc]
    assert len(names) == len(listed)
    first = ["fold_constants", "inline_branches", "remove_identities", "split_maps", "push_down", "commute_shuffle"]
    assert names[: len(first)] == first


def test_passes_shows_one(capsys):
    assert main(["passes", "push_down"]) == 0
    shown = capsys.readouterr().out
    assert "towards the source" in shown and "ranks" in shown and 'disabled_passes=["push_down"]' in shown
    assert main(["passes", "push_dwon"]) == 1
    assert "did you mean push_down?" in capsys.readouterr().err


def test_explain(capsys, tmp_path):
    path = tmp_path / "g.hrg"
    hr.Range(10).shuffle(3).batch(2).save(path)
    assert main(["explain", str(path)]) == 0
    assert "shuffle" in capsys.readouterr().out
    assert main(["explain", str(path), "--passes"]) == 0
    assert "merge_maps" in capsys.readouterr().out
    hr.Range(10).map(lambda x: x, "value").save(path)
    assert main(["explain", str(path)]) == 0
    assert "<lambda>" in capsys.readouterr().out


def test_explain_of_what_is_no_graph(capsys, tmp_path):
    assert main(["explain", str(tmp_path / "none.hrg")]) == 1
    assert "none.hrg" in capsys.readouterr().err
    (tmp_path / "bad.hrg").write_bytes(b"not a graph")
    assert main(["explain", str(tmp_path / "bad.hrg")]) == 1
    assert "bad.hrg" in capsys.readouterr().err


def test_no_command_shows_the_usage():
    done = run()
    assert done.returncode == 2 and "usage: headrace" in done.stderr
