"""`example_values` gives an inference graph something to prepare: a small picture, or what the user gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headrace import vision as V
from headrace._arguments.late_numpy import np
from headrace.errors import Error, GraphError

if TYPE_CHECKING:
    from headrace._inference.inference_graph import InferenceGraph

__all__ = ["example_picture", "example_values"]

# Odd, so that chroma is not cut evenly, and wider than it is high, so that axes are not mixed up.
_HEIGHT, _WIDTH = 53, 67
_CHANNELS = 3
_QUALITY = 90


def example_values(graph: InferenceGraph, example: Any) -> dict[str, Any]:
    """By name, in the order of the inputs. GraphError if an example is needed, or the graph fails on it."""
    names = [name for name, _, _ in graph._engine.inputs]
    if example is not None:
        given = (example,) if not isinstance(example, Mapping) else ()
        values = graph._row(given, example if isinstance(example, Mapping) else {})
        return dict(zip(names, values, strict=True))
    made = {name: _made(name, dtype, shape) for name, dtype, shape in graph._engine.inputs}
    try:
        graph._engine.run(tuple(made.values()))
    except Error as error:
        raise GraphError(
            f"the graph does not take the example picture; give example=, values that it takes: {error}"
        ) from error
    return made


def _made(name: str, dtype: str, shape: tuple[int | None, ...] | None) -> Any:
    if dtype == "bytes" and not shape:
        return _encoded()
    if dtype == "uint8" and shape is not None and len(shape) in (2, 3):
        usual = (_HEIGHT, _WIDTH, _CHANNELS)
        height, width, channels = (
            length if length is not None else usual[axis] for axis, length in enumerate((*shape, 1)[:3])
        )
        return example_picture(height, width, channels).reshape((height, width, channels)[: len(shape)])
    kind = f"{dtype} of any shape" if shape is None else f"{dtype} {shape}"
    raise GraphError(f'the input "{name}" is {kind}, for which no example is made; give example=, values that it takes')


def _encoded() -> bytes:
    """As a JPEG, so that its decoding is a part of the check."""
    data: bytes = V.EncodeJpeg(_QUALITY)(example_picture(_HEIGHT, _WIDTH, _CHANNELS))
    return data


def example_picture(height: int, width: int, channels: int) -> np.ndarray:
    """Slopes with edges on them, computed with whole numbers: the same everywhere."""
    y = np.arange(height, dtype=np.int64)[:, None, None]
    x = np.arange(width, dtype=np.int64)[None, :, None]
    c = np.arange(channels, dtype=np.int64)[None, None, :]
    slopes = 3 * x + 2 * y + 60 * c
    edges = 90 * ((x // 9 + y // 7) % 2) + (x * y * (c + 1)) % 31
    return ((slopes + edges) % 256).astype(np.uint8)
