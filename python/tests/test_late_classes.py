"""Operators that the generated modules lack have classes like those that were generated."""

import inspect
import json

import pytest
from conftest import values

import headrace as hr
from headrace import _engine
from headrace import transforms as T
from headrace import vision as V
from headrace._datasets.methods import Methods as Generated
from headrace._kernels.kernel import Kernel
from headrace._operators import class_text, late_classes
from tests.front import front_of


@pytest.fixture
def ungenerated(monkeypatch):
    """As where operators were added to the engine after the modules were generated."""
    monkeypatch.delattr(T, "TypeCast")
    monkeypatch.delattr(hr, "Range")
    monkeypatch.delattr(Generated, "take")
    monkeypatch.setattr(late_classes, "_made", {})


def test_a_kernel_that_the_generated_module_lacks(ungenerated):
    cast = T.TypeCast
    assert issubclass(cast, Kernel)
    assert (cast.__name__, cast.__module__) == ("TypeCast", "headrace.transforms")
    assert T.TypeCast is cast
    assert repr(cast("int32")) == "TypeCast(dtype='int32')" and "dtype" in inspect.signature(cast).parameters


def test_it_runs_is_saved_and_is_checked(ungenerated, tmp_path):
    pipeline = hr.Range(4).map(T.TypeCast("int32"), "value").take(3).batch(2)
    assert values(pipeline) == [0, 1, 2]
    pipeline.save(tmp_path / "late.hrg")
    assert values(hr.load(tmp_path / "late.hrg")) == [0, 1, 2]
    with pytest.raises(hr.GraphError, match="int33") as caught:
        list(hr.Range(4).map(T.TypeCast("int33"), "value"))
    assert "test_late_classes.py" in str(caught.value)
    with pytest.raises(TypeError, match="dtype"):
        T.TypeCast()


def test_unknown_names_stay_unknown():
    for module, home in ((hr, "headrace"), (V, "headrace.vision"), (T, "headrace.transforms")):
        with pytest.raises(AttributeError, match=f"module '{home}' has no attribute 'Nothing'"):
            module.Nothing  # noqa: B018
    assert not hasattr(hr, "Resize")
    assert late_classes.method_of("Nothing") is None


@pytest.mark.parametrize("op", json.loads(_engine.declarations())["operators"], ids=lambda op: op["name"])
def test_classes_made_late_are_those_that_were_generated(op):
    """For every operator: a class made from its declaration now has the signature and the documentation of the generated
    one."""
    module = front_of(op)
    name = op["python_name"]
    if op["python_module"] in ("samplers", "functions"):
        pytest.skip("not made late")
    if module is None or name not in vars(module) and not hasattr(hr.Dataset, name):
        pytest.skip("no class")
    generated = getattr(module, name)
    if op["python_module"] == "dataset":
        made = late_classes.method_of(name)
    else:
        made = late_classes._run(
            class_text.source(op) if op["role"] == "source" else class_text.kernel(op), generated.__module__, name
        )
    assert inspect.signature(made) == inspect.signature(generated)
    assert inspect.cleandoc(made.__doc__) == inspect.cleandoc(generated.__doc__)
