"""One epoch shared by ranks whose number changes on the way: all ranks give as many batches, the state of one of them
serves the next world, and with every world each row comes once.
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
        self._place = folder / "place.json"
        self.place: dict[str, Any] = {"generation": 0, "given": [], "state": None}
        if self._place.exists():
            self.place = json.loads(self._place.read_text())
        self._name = f"{seed} {folder.name} {self.place['generation']}"
        self._dataset = resharded(random.Random(self._name).randrange(1 << 40))

    def leg(self, rng: random.Random) -> Report:
        """Reads what is left in a new world, and goes on after a few batches of it."""
        world, steps = rng.randrange(1, 5), rng.choice([1, 2, 5, 20])
        state = base64.b64decode(self.place["state"]) if self.place["state"] else None
        begun, rests, states = list(self.place["given"]), [], []
        for rank in range(world):
            options = way(rng, self._cache) | ({} if state else {"epoch": EPOCH})
            with self._dataset.iterate(shard=(rank, world), state=state, **options) as iterator:
                begun += _values(itertools.islice(iterator, steps))
                states.append(iterator.state())
                rests.append(_values(iterator))
        self._check(begun + sum(rests, []), world)
        report = {"legs": 1, "reshards": int(state is not None), "rows": len(begun)}
        if all(rests):
            self.place |= {"given": begun, "state": base64.b64encode(rng.choice(states)).decode()}
        else:
            self.place = {"generation": self.place["generation"] + 1, "given": [], "state": None}
            report["chains"] = 1
        write(self._place, self.place)
        return report

    def _check(self, found: list[int], world: int) -> None:
        expected = _values(self._dataset.iterate(epoch=EPOCH, executor="pull", optimize=False))
        if collections.Counter(found) != collections.Counter(expected):
            raise Difference(f"reshard {self._name}: {len(found)} rows over {world} ranks, expected {len(expected)}")


def _values(batches: Any) -> list[int]:
    return [int(value) for batch in batches for value in np.ravel(batch["value"])]
