"""The test of Kolmogorov and Smirnov tells distributions apart, and lets draws of one pass."""

import numpy as np
import pytest

from tests.two_samples import check_alike


def test_draws_of_one_distribution_pass():
    draws = np.random.default_rng(0)
    for _ in range(200):
        check_alike(draws.normal(size=800), draws.normal(size=500), "normal")


@pytest.mark.parametrize("other", [lambda x: x + 0.4, lambda x: 3 * x, np.abs, lambda x: np.where(x > 0.5, 9, x)])
def test_another_distribution_is_seen(other):
    draws = np.random.default_rng(0)
    with pytest.raises(AssertionError, match="shifted: .* apart, more than 0.135"):
        check_alike(draws.normal(size=800), other(draws.normal(size=800)), "shifted")


@pytest.mark.parametrize("constant", [np.zeros(800), np.full(800, np.nan)])
def test_what_does_not_vary_is_refused(constant):
    for samples in ((constant, np.arange(800.0)), (np.arange(800.0), constant)):
        with pytest.raises(AssertionError, match="constant"):
            check_alike(*samples, "constant")
