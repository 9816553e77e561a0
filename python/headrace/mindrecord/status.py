"""The values that MindSpore's methods return: errors are exceptions, so it is always SUCCESS."""

import enum

__all__ = ["FAILED", "MSRStatus", "SUCCESS"]


class MSRStatus(enum.IntEnum):
    """What a method returns."""

    SUCCESS = 0
    FAILED = 1


SUCCESS = MSRStatus.SUCCESS
FAILED = MSRStatus.FAILED
