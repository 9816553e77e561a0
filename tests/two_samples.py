"""The test of Kolmogorov and Smirnov: whether two sets of numbers may be draws of one distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

# How likely draws of one distribution are refused: tests have some fifty comparisons, of draws that no seed decides.
_REFUSED = 1e-6


def check_alike(mine: Any, other: Any, name: object) -> None:
    """Raises AssertionError if the samples are of two distributions, or do not vary, or have numbers that are none."""
    one, two = (np.sort(np.asarray(sample, np.float64)) for sample in (mine, other))
    assert np.isfinite(one).all() and np.isfinite(two).all(), name
    assert one[0] < one[-1] and two[0] < two[-1], f"{name} does not vary"
    places = np.concatenate([one, two])
    shares = [np.searchsorted(sample, places, "right") / len(sample) for sample in (one, two)]
    apart = np.abs(shares[0] - shares[1]).max()
    limit = math.sqrt(-math.log(_REFUSED / 2) / 2 * (1 / len(one) + 1 / len(two)))
    assert apart < limit, f"{name}: {apart:.3f} apart, more than {limit:.3f}; means {one.mean():.3f}, {two.mean():.3f}"
