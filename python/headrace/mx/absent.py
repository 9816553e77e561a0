"""Advice for error messages: what to write instead of MXNet's names that do not exist here."""

import numpy as np

__all__ = ["no_name"]

_NO_MODELS = "models are trained with another library, from the NumPy arrays that iterators here give"

_ADVICE = {
    "headrace.mx": {
        "gluon": "write headrace.from_dataset(dataset) for a Dataset of Gluon, and headrace.ImageRecord or "
        "headrace.RecordFile for its datasets of records",
        **dict.fromkeys(("autograd", "init", "metric", "mod", "module", "optimizer", "sym", "symbol"), _NO_MODELS),
        "np": "write numpy",
        "test_utils": "write numpy.testing",
    },
    "headrace.mx.io": {
        "ImageRecordIter_v1": "write ImageRecordIter, which has its parameters",
        "ImageRecordUInt8Iter_v1": "write ImageRecordUInt8Iter, which has its parameters",
        "MXDataIter": "each iterator is a class of its own; DataIter is what all of them are",
    },
    "headrace.mx.rnn": dict.fromkeys(
        ("BidirectionalCell", "FusedRNNCell", "GRUCell", "LSTMCell", "RNNCell", "SequentialRNNCell"), _NO_MODELS
    ),
}


def no_name(module: str, name: str) -> AttributeError:
    """The error for a name that a module of this package lacks."""
    advice = _ADVICE.get(module, {}).get(name)
    if module == "headrace.mx.nd" and name in np.__all__:
        advice = f"write numpy.{name}, and mx.nd.array(…) of what it gives where an NDArray is needed"
    text = f"module {module!r} has no attribute {name!r}" + ("" if advice is None else f"; {advice}")
    return AttributeError(text)
