"""Limits on time and space, which CONTRIBUTING.md has with the day when they were measured.

limits.py NAME SECONDS says if that command took longer than its limit. Needs Python's standard library alone.
"""

import dataclasses
import sys
from collections.abc import Sequence


@dataclasses.dataclass(frozen=True)
class Limit:
    """`name`: as in CONTRIBUTING.md."""

    name: str
    minutes: float


QUICKSTART = Limit("./quickstart", 6)
TEST = Limit("./test", 22)
QUICK = Limit("./test --quick after one edit", 3)
CI_NOTHING = Limit("./test --ci after no edit", 4)
CI_KERNEL = Limit("./test --ci after an edit of one kernel", 10)
CI = Limit("./test --ci after an edit of a header of core/", 50)
LIMITS = (QUICKSTART, TEST, QUICK, CI_NOTHING, CI_KERNEL, CI)
# Bazel's outputs and its cache.
LARGEST_GB = 12


def of_ci(changed: Sequence[str]) -> Limit:
    """The limit of `./test --ci` after edits in these folders."""
    if not changed:
        return CI_NOTHING
    return CI_KERNEL if list(changed) == ["kernels"] else CI


def warning_of(limit: Limit | None, seconds: float) -> str:
    """What to print if a run took longer than it may, or an empty text."""
    if limit is None or seconds <= 60 * limit.minutes:
        return ""
    return f"limit: {limit.name} took {seconds / 60:.1f} minutes, and CONTRIBUTING.md says at most {limit.minutes:g}"


def warning_of_bytes(found: int) -> str:
    if found <= LARGEST_GB * 1e9:
        return ""
    return (
        f"limit: Bazel's outputs and its cache have {found / 1e9:.1f} GB, and CONTRIBUTING.md says at most {LARGEST_GB}"
    )


def main() -> int:
    name, seconds = sys.argv[1:]
    limit = next(limit for limit in LIMITS if limit.name == name)
    if warning := warning_of(limit, float(seconds)):
        print(warning, file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
