"""docs/from-torch.md: a row for each parameter of torch's DataLoader."""

import inspect
import pathlib

import pytest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/from-torch.md"

pytestmark = pytest.mark.torch


def test_each_parameter_of_a_data_loader_is_named():
    data = pytest.importorskip("torch.utils.data")
    text = PAGE.read_text()
    missing = [name for name in inspect.signature(data.DataLoader).parameters if f"`{name}=" not in text]
    assert missing == ["dataset"]  # It has a row of its own.
