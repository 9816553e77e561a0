"""Operators that are registered while the process runs have classes like those that were there from the start."""

import inspect
import json

import pytest
from conftest import run_python, values

import headrace as hr
from headrace import _engine
from headrace import transforms as T
from headrace import vision as V
from headrace._kernels.kernel import Kernel
from headrace._operators import class_text, late_classes
from tests.front import front_of

NAME = "AddedLate"


# Once a process, whose registry keeps the kernel: a module's tests may run in two turns.
@pytest.fixture(scope="session", autouse=True)
def registered():
    assert not hasattr(T, NAME)
    _engine.register_late_kernel(NAME)


def test_the_class_of_a_kernel_registered_at_run_time():
    added = T.AddedLate
    assert issubclass(added, Kernel)
    assert (added.__name__, added.__module__) == (NAME, "headrace.transforms")
    assert T.AddedLate is added
    assert (
        str(inspect.signature(added))
        == """(number: 'int | Parameter', mode: "Literal['up', 'down']" = 'up') -> 'None'"""
    )
    assert "What is added (at least 0)." in added.__doc__
    assert repr(added(3)) == "AddedLate(number=3, mode='up')"


def test_it_runs_is_saved_and_is_checked(tmp_path):
    pipeline = hr.Range(4).map(T.AddedLate(10), "value").batch(2)
    assert values(pipeline) == [10, 11, 12, 13]
    pipeline.save(tmp_path / "late.hrg")
    assert values(hr.load(tmp_path / "late.hrg")) == [10, 11, 12, 13]
    with pytest.raises(hr.GraphError, match="number is -1; it must be at least 0") as caught:
        list(hr.Range(4).map(T.AddedLate(-1), "value"))
    assert "test_late_classes.py" in str(caught.value)
    with pytest.raises(hr.GraphError, match="mode is 'upp'; did you mean \"up\""):
        list(hr.Range(4).map(T.AddedLate(1, mode="upp"), "value"))
    with pytest.raises(TypeError, match="number"):
        T.AddedLate()


def test_a_name_is_registered_once():
    for name in (NAME, "Resize", "map"):
        with pytest.raises(hr.GraphError, match=f"the declaration of {name} occurs twice"):
            _engine.register_late_kernel(name)
    assert issubclass(V.Resize, Kernel)


def test_unknown_names_stay_unknown():
    for module, home in ((hr, "headrace"), (V, "headrace.vision"), (T, "headrace.transforms")):
        with pytest.raises(AttributeError, match=f"module '{home}' has no attribute 'Nothing'"):
            module.Nothing  # noqa: B018
    assert not hasattr(V, NAME)
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


def test_operators_are_registered_while_pipelines_run():
    code = """
import threading
import headrace as hr
from headrace import _engine, transforms as T

def register():
    for i in range(100):
        _engine.register_late_kernel(f"Late{i}")

thread = threading.Thread(target=register)
thread.start()
for _ in range(30):
    assert sum(int(row["value"]) for row in hr.Range(20).map(T.TypeCast("int32"), "value")) == 190
thread.join()
assert [int(row["value"]) for row in hr.Range(3).map([T.Late0(1), T.Late99(2)], "value")] == [3, 4, 5]
"""
    done = run_python(code)
    assert done.returncode == 0, done.stderr
