"""`ConfigFields` reads the fields of a config, checks each one's kind, and refuses those that nothing has read."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from headrace._arguments.options import shown, whole
from headrace._arguments.suggestions import did_you_mean
from headrace.errors import GraphError, UnsupportedError

__all__ = ["MOST_SIDE", "OF", "ConfigFields", "refused", "scaled_side"]

# What messages begin with.
OF = "from_processor"
# The most pixels of a side that the kernels take.
MOST_SIDE = 65_535


def refused(name: str, value: Any, why: str) -> UnsupportedError:
    return UnsupportedError(f"{OF}: {name} is {shown(value)}: {why}")


def scaled_side(side: float, scale: float) -> int:
    """What a side becomes where a crop is that share of it; fractions are cut off."""
    return whole("size / crop_pct", int(min(side / scale, 1e9)), 1, OF, MOST_SIDE)


class ConfigFields:
    """A config with the defaults of its class: a field that is missing, or None, has its default."""

    def __init__(self, config: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
        self._given = {name: value for name, value in config.items() if value is not None}
        self._defaults = defaults
        self._read: set[str] = set()

    def value(self, name: str) -> Any:
        self._read.add(name)
        return self._given.get(name, self._defaults.get(name))

    def flag(self, name: str) -> bool:
        value = self.value(name)
        if value is None or isinstance(value, bool):
            return bool(value)
        raise self._wrong(name, value, "True or False")

    def number(self, name: str) -> float:
        value = self.value(name)
        if _is_finite(value):
            return float(value)
        raise self._wrong(name, value, "a finite number")

    def positive(self, name: str) -> float:
        number = self.number(name)
        if number > 0:
            return number
        raise self._wrong(name, number, "above 0")

    def whole(self, name: str, least: int = 1) -> int:
        return whole(name, self.value(name), least, OF, MOST_SIDE)

    def colors(self, name: str, positive: bool = False) -> tuple[float, ...]:
        """One number for all channels, or one for each of three."""
        value = self.value(name)
        # Of a tensor or an array.
        plain = value.tolist() if hasattr(value, "tolist") else value
        listed = list(plain) if isinstance(plain, (list, tuple)) else [plain]
        if len(listed) not in (1, 3):
            raise refused(name, value, "images have 3 channels, red, green and blue; give 3 numbers or one")
        for each in listed:
            if not _is_finite(each) or (positive and each <= 0):
                raise self._wrong(name, value, "numbers above 0" if positive else "finite numbers")
        return tuple(float(each) for each in listed)

    def refuse(self, name: str, why: str) -> UnsupportedError:
        return refused(name, self.value(name), why)

    def check_all_read(self, without_effect: Iterable[str]) -> None:
        known = {*self._read, *without_effect}
        for name, value in self._given.items():
            if name not in known:
                raise refused(
                    str(name),
                    value,
                    "this field is not known here, so it cannot be told whether it changes pixels; leave it out if it "
                    f"changes none{did_you_mean(str(name), known)}",
                )

    def _wrong(self, name: str, value: Any, must_be: str) -> GraphError:
        return GraphError(f"{OF}: {name} is {shown(value)}; it must be {must_be}")


def _is_finite(value: Any) -> bool:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False
