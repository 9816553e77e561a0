"""benchmarks/ray_simulation.py: its figures follow from its inputs, and those stand on the page."""

import dataclasses
import importlib.util
import pathlib
import sys
from typing import Any

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def simulation() -> Any:
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        spec = importlib.util.spec_from_file_location("ray_simulation", ROOT / "benchmarks/ray_simulation.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["ray_simulation"] = module
        spec.loader.exec_module(module)
    finally:
        sys.path.pop(0)
    return module


def run(simulation: Any, makers: int, gbit: float, **given: Any) -> Any:
    cluster = simulation.Cluster(makers, gbit, **{"seconds": 20.0, "window": 32, **given})
    return simulation.Simulation(cluster, simulation.Inputs(picture_ms=2.0)).run()


def test_few_makers_are_limited_by_their_cores(simulation):
    assert run(simulation, 16, 100.0).pictures_s == pytest.approx(16 * 500, rel=0.05)
    assert run(simulation, 2, 100.0).pictures_s == pytest.approx(2 * 500, rel=0.1)


def test_many_makers_are_limited_by_the_network(simulation):
    carried = 10e9 / 8 / simulation.Inputs().picture_bytes
    assert run(simulation, 128, 10.0).pictures_s == pytest.approx(carried, rel=0.05)


def test_trainers_take_no_more_than_their_steps(simulation):
    found = run(simulation, 64, 100.0, step_ms=200.0)
    assert found.pictures_s == pytest.approx(8 * 256 / 0.2, rel=0.05) and found.waiting < 0.05
    assert run(simulation, 64, 100.0, step_ms=200.0, window=1).waiting > 0.5


def test_lost_makers_are_replaced(simulation):
    lossy = {"lost_after_s": 20.0, "step_ms": 400.0}
    found = run(simulation, 32, 100.0, **lossy)
    assert found.lost > 5 and found.recomputed > 0
    assert found.pictures_s == pytest.approx(8 * 256 / 0.4, rel=0.2)
    assert found == run(simulation, 32, 100.0, **lossy)


def test_lost_hosts_are_replaced_and_silent_ones_cost_a_wait_of_the_due_batch(simulation):
    given = {"step_ms": 400.0, "host_lost_after_s": 30.0, "seconds": 60.0}
    found = run(simulation, 64, 100.0, **given)
    assert found.lost >= 16 and found.lost % 16 == 0 and found.recomputed > 0
    assert found.pictures_s == pytest.approx(8 * 256 / 0.4, rel=0.2)
    assert found == run(simulation, 64, 100.0, **given)
    silent = run(simulation, 64, 100.0, host_noticed_s=30.0, **given)
    assert silent.pictures_s > 0.3 * found.pictures_s
    assert silent.longest_wait_s > 1.0


def test_the_inputs_stand_on_the_page(simulation):
    page = (ROOT / "docs/ray-at-scale.md").read_text()
    inputs = dataclasses.asdict(simulation.Inputs())
    for name, shown in (
        ("picture_ms", "| {:g} ms of a core |"),
        ("call_ms", "| {:g} ms |"),
        ("transfer_gb_s", "| {:g} GB/s, each object |"),
        ("copy_gb_s", "| {:g} GB/s |"),
        ("noticed_s", "| {:g} s |"),
        ("start_s", "| {:g} s |"),
    ):
        assert shown.format(inputs[name]) in page
