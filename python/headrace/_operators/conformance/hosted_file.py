"""A file as a host gives it to a format: bytes in memory, of which every read is seen."""

import itertools
import random
import time

_numbers = itertools.count(1)


class HostedFile:
    """One format reader at a time uses it. `cut` is where reads fail although the size says more, as of a file that
    became shorter; with `delays`, reads take up to so many seconds."""

    def __init__(self, contents: bytes, cut: int | None = None, delays: float = 0.0) -> None:
        self.contents = contents
        self.size = len(contents)
        # What stands for its address.
        self.number = next(_numbers)
        self.reads = 0
        self._end = self.size if cut is None else cut
        self._delays = delays
        self._random = random.Random(self.number)

    def read(self, offset: int, size: int) -> bytes | None:
        """None: it ends before."""
        if self._delays:
            time.sleep(self._random.random() * self._delays)
        if offset + size > self._end:
            return None
        self.reads += 1
        return self.contents[offset : offset + size]
