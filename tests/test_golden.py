"""The kernels' golden data equal the output of the scripts beside the tests."""

import filecmp
import pathlib

import pytest

from kernels.testdata import golden
from tests.conftest import ROOT


def test_the_scripts_make_the_golden_data(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(golden, "OUT", tmp_path)
    golden.main()
    made = {path.name for path in tmp_path.iterdir()}
    kept = {path.name for path in (ROOT / "kernels/testdata").iterdir() if path.suffix in (".npy", ".jpg", ".png")}
    assert made == kept
    _, differing, missing = filecmp.cmpfiles(tmp_path, ROOT / "kernels/testdata", made, shallow=False)
    assert not differing and not missing
