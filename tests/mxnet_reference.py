"""Runs MXNet's own iterators for comparison, in a Python that has them: the one that HEADRACE_MXNET_PYTHON names
(mxnet 1.9.1 with numpy 1.23.5 and opencv-python-headless 4.8). CONTRIBUTING.md says how to make one."""

import json
import os
import pathlib
import subprocess
from typing import Any

import numpy as np
import pytest

PYTHON = os.environ.get("HEADRACE_MXNET_PYTHON", "")
needs_mxnet = pytest.mark.skipif(not PYTHON, reason="HEADRACE_MXNET_PYTHON names no Python with MXNet")

_PROGRAM = """
import json, sys
import mxnet as mx, numpy as np
asked = json.load(sys.stdin)
out = {}
for number, one in enumerate(asked["iterators"]):
    kind = getattr(mx.io, one["name"], None) or getattr(mx.image, one["name"])
    given = {k: tuple(v) if isinstance(v, list) and k != "imglist" else v for k, v in one["given"].items()}
    iterator = kind(**{k: np.load(v["array"]) if isinstance(v, dict) else v for k, v in given.items()})
    described = [d if hasattr(d, "layout") else mx.io.DataDesc(*d) for d in iterator.provide_data + iterator.provide_label]
    told = [(str(d.name), list(d.shape), np.dtype(d.dtype).name, d.layout) for d in described]
    epochs = []
    for epoch in range(one["epochs"]):
        pads = []
        for batch in iterator:
            out[f"{number}.{epoch}.{len(pads)}.data"] = batch.data[0].asnumpy()
            out[f"{number}.{epoch}.{len(pads)}.label"] = batch.label[0].asnumpy()
            pads.append(batch.pad)
        epochs.append(pads)
        iterator.reset()
    out[f"{number}.told"] = np.frombuffer(json.dumps([told, epochs]).encode(), np.uint8)
np.savez(asked["to"], **out)
"""


class Given:
    """What an iterator said and gave: `described`, and for each epoch a list of (data, label, pad)."""

    def __init__(self, described: list[Any], epochs: list[list[tuple[np.ndarray, np.ndarray, int]]]) -> None:
        self.described = described
        self.epochs = epochs


def run_mxnet(folder: pathlib.Path, iterators: list[tuple[str, dict[str, Any], int]]) -> list[Given]:
    """What each of MXNet's iterators gives: by its name, its parameters and the number of epochs. A parameter
    {"array": path} is the array in that file of NumPy's."""
    asked = {
        "to": str(folder / "mxnet.npz"),
        "iterators": [{"name": name, "given": given, "epochs": epochs} for name, given, epochs in iterators],
    }
    subprocess.run(
        [PYTHON, "-c", _PROGRAM], input=json.dumps(asked), text=True, check=True, timeout=120, capture_output=True
    )
    results = []
    with np.load(folder / "mxnet.npz") as arrays:
        for number in range(len(iterators)):
            described, pads = json.loads(arrays[f"{number}.told"].tobytes())
            epochs = [
                [
                    (arrays[f"{number}.{epoch}.{i}.data"], arrays[f"{number}.{epoch}.{i}.label"], pad)
                    for i, pad in enumerate(of_epoch)
                ]
                for epoch, of_epoch in enumerate(pads)
            ]
            results.append(Given(described, epochs))
    return results


def run_ours(iterator: Any, epochs: int) -> Given:
    described = [
        [each.name, list(each.shape), np.dtype(each.dtype).name, each.layout]
        for each in iterator.provide_data + iterator.provide_label
    ]
    given = []
    for _ in range(epochs):
        given.append([(batch.data[0].asnumpy(), batch.label[0].asnumpy(), batch.pad) for batch in iterator])
        iterator.reset()
    return Given(described, given)


_NAMES = """
import inspect, json, re, sys
import mxnet as mx
asked = json.load(sys.stdin)
modules = {"io": mx.io, "image": mx.image, "rnn": mx.rnn}
public = sorted({
    name for module in modules.values() for name, each in vars(module).items()
    if not name.startswith("_") and (inspect.isclass(each) or inspect.isfunction(each))
    and each.__module__.startswith(("mxnet.io", "mxnet.image", "mxnet.rnn.io"))
})
parameters = {}
for name in asked:
    each = next(getattr(module, name) for module in modules.values() if hasattr(module, name))
    described = re.findall(r"^(\\w+) : ", each.__doc__ or "", re.M)
    try:
        signed = [p.name for p in inspect.signature(each).parameters.values() if p.kind != p.VAR_KEYWORD]
    except ValueError:
        signed = []
    parameters[name] = [p for p in (described if name not in public or not signed else signed) if p not in ("self", "args")]
print("RESULT" + json.dumps([public, parameters]))
"""


def parameters_of_mxnet(names: list[str]) -> tuple[list[str], dict[str, list[str]]]:
    """The classes and functions of MXNet's modules that load data, and the parameters of those in `names`."""
    ran = subprocess.run(
        [PYTHON, "-c", _NAMES], input=json.dumps(names), text=True, check=True, timeout=120, capture_output=True
    )
    public, parameters = json.loads(ran.stdout[ran.stdout.index("RESULT") + 6 :])
    return public, parameters
