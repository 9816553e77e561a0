"""Ray as the tests use it: it reports nothing, and asks its own processes for no token."""

import os
from typing import Any

import pytest


def import_ray() -> Any:
    """For each test that starts Ray: a process reads these settings with its first cluster, and later clusters fail under others."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["RAY_AUTH_MODE"] = "disabled"
    return pytest.importorskip("ray")
