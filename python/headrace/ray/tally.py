"""`Tally` counts what makers did for a feed, and writes it as a table."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["MakerTally", "Tally"]


@dataclass
class MakerTally:
    """Of one maker."""

    place: str = "starting"
    batches: int = 0
    bytes: int = 0
    seconds: float = 0.0
    lost: str = ""


@dataclass
class Tally:
    """Of one feed.

    Attributes:
        waited: Seconds for which the loop waited for batches.
        longest_wait: The longest of these waits.
        given: Batches that the loop was given.
        recomputed: Batches that were asked for again.
        errors: Errors of runs that were made again elsewhere.
    """

    waited: float = 0.0
    longest_wait: float = 0.0
    given: int = 0
    recomputed: int = 0
    errors: int = 0
    makers: dict[int, MakerTally] = field(default_factory=dict)

    def wait(self, seconds: float) -> None:
        self.waited += seconds
        self.longest_wait = max(self.longest_wait, seconds)

    def text(self, heading: str) -> str:
        rows = [("maker", "where", "batches", "MB", "busy", "")]
        for number, maker in sorted(self.makers.items()):
            made = (f"{maker.batches}", f"{maker.bytes / 1e6:.1f}", f"{maker.seconds:.1f} s")
            rows.append((str(number), maker.place, *made, maker.lost))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        said = f"{self.given} batches given, {self.recomputed} asked for again, {self.errors} errors of rows met"
        waits = f"the loop waited {self.waited:.1f} s for batches, {self.longest_wait:.2f} s at most"
        return "\n".join([heading, f"  {said}", f"  {waits}", *(f"  {line}" for line in lines)]) + "\n"

    def report(self) -> dict[str, object]:
        made = {number: dict(maker.__dict__) for number, maker in self.makers.items()}
        return {**{name: value for name, value in self.__dict__.items() if name != "makers"}, "makers": made}
