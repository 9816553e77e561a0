"""The last lines of a run: the slowest tests, a line for each stage, what was left out, and the numbers."""

import collections
from collections.abc import Sequence

from tools.check.marks import Mark
from tools.check.stages import Line

# The number of slowest tests that are printed for each stage.
SLOWEST = 10
ALWAYS_COUNTED = ("variants", "schedules", "fuzz")


def heading(title: str) -> str:
    return f"\n\033[1m== {title}\033[0m"


def slowest(lines: Sequence[Line]) -> list[str]:
    text: list[str] = []
    for line in lines:
        if line.result.times:
            text.append(heading(f"slowest of {line.stage}"))
            text += [f"{seconds:>8.1f} s  {test}" for seconds, test in sorted(line.result.times)[: -SLOWEST - 1 : -1]]
    return text


def of_stage(line: Line) -> str:
    result = line.result
    state = "FAILED" if result.failed else "ok"
    numbers = f"{result.passed} passed" + (f", {result.failed} failed" if result.failed else "")
    note = f" ({result.note})" if result.note else ""
    return f"{state:>6}  {line.stage}: {numbers}{note}, {line.seconds:.0f} s"


def unchanged(parts: Sequence[tuple[str, Mark]]) -> list[str]:
    """A line for each part that was not run, but one for all of a kind, as rooms under a sanitizer are."""
    kinds: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for name, mark in parts:
        kind, _, rest = name.partition(".")
        kinds.setdefault((kind, mark.commit), []).append((rest, mark.tests))
    return [
        f"{'-':>6}  {named(kind, [rest for rest, _ in of])}: unchanged since {commit}, {sum(n for _, n in of):,} tests"
        for (kind, commit), of in kinds.items()
    ]


def named(kind: str, rests: Sequence[str]) -> str:
    """asan (core, io) for asan.core and asan.io; pack for pack alone."""
    given = [rest for rest in rests if rest]
    return f"{kind} ({', '.join(given)})" if given else kind


def counts(lines: Sequence[Line]) -> str:
    total: collections.Counter[str] = collections.Counter({kind: 0 for kind in ALWAYS_COUNTED})
    for line in lines:
        total.update(line.result.counts)
    return "; ".join(f"{kind}: {number:,}" for kind, number in total.items())


def closing(lines: Sequence[Line]) -> list[str]:
    """The suspects, if there are some, and at the very end a line of the form `N passed, N failed`."""
    suspects = [name for line in lines for name in line.result.suspects]
    text = (
        [f"{len(suspects)} suspect, which failed once and passed twice alone: {', '.join(suspects)}"]
        if suspects
        else []
    )
    passed = sum(line.result.passed for line in lines)
    failed = sum(line.result.failed for line in lines)
    return [*text, f"{passed} passed, {failed} failed"]


def text_of(lines: Sequence[Line], skipped: Sequence[tuple[str, Mark]], notes: Sequence[str]) -> str:
    """`notes`: what is owed, what is left to longer runs, and limits that were passed."""
    ran = sum(line.result.passed + line.result.failed for line in lines)
    text = [*slowest(lines), heading("summary"), *map(of_stage, lines), *unchanged(skipped), *notes]
    text += [f"ran {ran:,} tests; {counts(lines)}", *closing(lines)]
    return "\n".join(text)
