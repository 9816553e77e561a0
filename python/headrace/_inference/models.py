"""`inference_of` opens the inference graph that travels with a model."""

from __future__ import annotations

import os

from headrace import _engine
from headrace._arguments.options import file_path, flag
from headrace._inference import model_file
from headrace._inference.inference_graph import InferenceGraph
from headrace._inference.self_check import SelfCheck
from headrace.errors import Error

__all__ = ["inference_of"]


def inference_of(path: str | os.PathLike[str], verify: bool = False) -> InferenceGraph:
    """The inference graph in the file of a model, where `graph.attach` put it, or beside it in MODEL.hrg.

    Reads ONNX, safetensors, TorchScript and .pt2, and OpenVINO's .xml that was made of ONNX; of other models the file
    beside it, which may also be given itself; and what `InferenceGraph.save` wrote. GraphError if there is no graph.

    Args:
        path: The model, or the file.
        verify: Also run the example that came with the graph, as `graph.verify()` does: an UnsupportedError tells where this
            machine would prepare an input otherwise than the one where the graph was attached.
    """
    path = file_path("path", path, "inference_of")
    verify = flag("verify", verify, "inference_of")
    entries = model_file.read_entries(path, "inference_of")
    data = model_file.graph_bytes(entries, path)
    try:
        graph = InferenceGraph.from_bytes(data)
    except Error as error:
        error._reword(f"{_engine.printable(path)}: {error}")
        error.file = path
        raise
    if model_file.CHECK in entries:
        graph._check = SelfCheck(entries[model_file.CHECK], path)
    if verify:
        graph.verify()
    return graph
