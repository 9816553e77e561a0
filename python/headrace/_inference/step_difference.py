"""`step_differences` runs two inference graphs on one input, and compares what their steps make, step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from headrace._arguments.late_numpy import np
from headrace._inference.inference_graph import InferenceGraph

__all__ = ["Made", "StepDifference", "parting", "step_differences"]


class Made(NamedTuple):
    """What a step makes."""

    step: str
    """With its attributes."""
    column: str
    value: Any

    @property
    def kernel(self) -> str:
        return self.step.partition("(")[0]


class StepDifference(NamedTuple):
    """Steps of both graphs that do the same work; None: one of them has no such step."""

    first: Made | None
    second: Made | None

    @property
    def numbers(self) -> tuple[float, float] | None:
        """The mean and the greatest difference of two values; None: they cannot be compared."""
        if self.first is None or self.second is None:
            return None
        one, other = self.first.value, self.second.value
        if isinstance(one, (bytes, str)) or isinstance(other, (bytes, str)):
            return (0.0, 0.0) if type(one) is type(other) and one == other else None
        one, other = np.asarray(one), np.asarray(other)
        if one.shape != other.shape or one.dtype.kind not in "biuf" or other.dtype.kind not in "biuf":
            return None
        if one.size == 0:
            return 0.0, 0.0
        one, other = one.astype(np.float64), other.astype(np.float64)
        # Of infinities and NaN those are equal that are the same.
        same = (one == other) | (np.isnan(one) & np.isnan(other))
        apart = np.abs(np.subtract(one, other, out=np.zeros_like(one), where=~same))
        return float(apart.mean()), float(apart.max())

    @property
    def is_equal(self) -> bool:
        if self.first is None or self.second is None:
            return False
        one_dtype = np.asarray(self.first.value).dtype == np.asarray(self.second.value).dtype
        return self.numbers == (0.0, 0.0) and bool(one_dtype or isinstance(self.first.value, (bytes, str)))


def step_differences(
    first: InferenceGraph, second: InferenceGraph, values: tuple[tuple[Any, ...], tuple[Any, ...]]
) -> list[StepDifference]:
    """`values`: the inputs of each. Steps are set beside each other by their kernels, in their order."""
    ones, others = (list(_made(graph, given)) for graph, given in zip((first, second), values, strict=True))
    matcher = SequenceMatcher(None, [each.kernel for each in ones], [each.kernel for each in others], autojunk=False)
    found: list[StepDifference] = []
    for tag, begin, end, other_begin, other_end in matcher.get_opcodes():
        if tag == "equal":
            found += map(StepDifference, ones[begin:end], others[other_begin:other_end])
        else:
            found += [StepDifference(each, None) for each in ones[begin:end]]
            found += [StepDifference(None, each) for each in others[other_begin:other_end]]
    return found


def _made(graph: InferenceGraph, values: tuple[Any, ...]) -> Iterator[Made]:
    for (_, column, value), text in zip(graph.trace(*values), _texts(graph), strict=True):
        yield Made(text, column, value)


def _texts(graph: InferenceGraph) -> Iterator[str]:
    """The step with its attributes, for each column that it writes."""
    for node, _ in graph._graph.nodes:
        for text, (_, _, outputs) in zip(node.steps, node.columns_of_steps, strict=True):
            yield from [text] * len(outputs)


def parting(differences: Sequence[StepDifference]) -> StepDifference | None:
    """Where two graphs part: the first steps whose values differ, or that one of them has alone."""
    return next((each for each in differences if not each.is_equal), None)
