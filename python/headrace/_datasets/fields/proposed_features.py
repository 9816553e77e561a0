"""`proposed_features` says what `features=` of TFRecord may be for files that nobody has described."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from headrace import _engine
from headrace._datasets.base import source

__all__ = ["ProposedFeatures", "proposed_features"]


@dataclass
class ProposedFeatures:
    """Types that read the records which were looked at. Later ones may have others."""

    features: dict[str, Any]
    """As TFRecord takes them."""
    refused: dict[str, str]
    """Names that cannot be read, and why."""
    records: int
    """How many were looked at."""

    def text(self) -> str:
        """What to write."""
        types = (f'"{name}": {_type_text(given)}' for name, given in self.features.items())
        return f"features={{{', '.join(types)}}}"


def proposed_features(
    paths: Any, look: int = 100, compression: str = "auto", damage: Literal["error", "skip"] = "error"
) -> ProposedFeatures:
    """Of the first `look` records; "skip" leaves out those that are damaged. DataError: one of them is not a
    tf.train.Example or SequenceExample."""
    survey = _engine.FeatureSurvey()
    records = source("TFRecord", {"paths": paths, "compression": compression, "damage": damage}).take(look)
    for row in records.options(as_=None, as_tuple=None, bytes_as="memoryview").iterate(workers=1, window=2):
        survey.add(row["record"])
    features: dict[str, Any] = {}
    refused: dict[str, str] = {}
    for name, dtype, shape, refusal in survey.proposals():
        if refusal is None:
            features[name] = (dtype, shape) if shape else dtype
        else:
            refused[name] = refusal
    return ProposedFeatures(features, refused, survey.records)


def _type_text(given: Any) -> str:
    if isinstance(given, str):
        return f'"{given}"'
    dtype, shape = given
    return f'("{dtype}", ({", ".join(map(str, shape))}{"," * (len(shape) == 1)}))'
