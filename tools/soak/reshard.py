"""One epoch shared by ranks whose number changes: all ranks read the same number of batches, the state of one of them
serves the next world, and over all worlds each row comes once.
"""

import base64
import collections
import itertools
import json
import pathlib
import random
from typing import Any

import numpy as np

from tools.soak.chain import Difference, Report, write
from tools.soak.drawn import resharded, way

EPOCH = 1


class Reshard:
    def __init__(self, root: pathlib.Path, folder: pathlib.Path, seed: int) -> None:
        self._cache = root / "cache"
        self._progress_file = folder / "progress.json"
        self.progress: dict[str, Any] = {"generation": 0, "given": [], "state": None}
        if self._progress_file.exists():
            self.progress = json.loads(self._progress_file.read_text())
        self._name = f"{seed} {folder.name} {self.progress['generation']}"
        self._dataset = resharded(random.Random(self._name).randrange(1 << 40))

    def leg(self, rng: random.Random) -> Report:
        """Reads the rest in a new world, and changes the world again after a few batches."""
        world, steps = rng.randrange(1, 5), rng.choice([1, 2, 5, 20])
        state = base64.b64decode(self.progress["state"]) if self.progress["state"] else None
        begun, rests, states = list(self.progress["given"]), [], []
        for rank in range(world):
            options = way(rng, self._cache) | ({} if state else {"epoch": EPOCH})
            with self._dataset.iterate(shard=(rank, world), state=state, **options) as iterator:
                begun += _values(itertools.islice(iterator, steps))
                states.append(iterator.state())
                rests.append(_values(iterator))
        self._check(begun + sum(rests, []), world)
        report = {"legs": 1, "reshards": int(state is not None), "rows": len(begun)}
        if all(rests):
            self.progress |= {"given": begun, "state": base64.b64encode(rng.choice(states)).decode()}
        else:
            self.progress = {"generation": self.progress["generation"] + 1, "given": [], "state": None}
            report["chains"] = 1
        write(self._progress_file, self.progress)
        return report

    def _check(self, found: list[int], world: int) -> None:
        expected = _values(self._dataset.iterate(epoch=EPOCH, executor="pull", optimize=False))
        if collections.Counter(found) != collections.Counter(expected):
            raise Difference(f"reshard {self._name}: {len(found)} rows over {world} ranks, expected {len(expected)}")


def _values(batches: Any) -> list[int]:
    return [int(value) for batch in batches for value in np.ravel(batch["value"])]
