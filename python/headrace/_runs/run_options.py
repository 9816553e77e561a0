"""The options of a run: what `iterate` takes besides epoch and state, and `options` keeps with a dataset."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypedDict

from headrace._arguments import options
from headrace._arguments.other_libraries import unknown_keyword
from headrace._arguments.source_location import SourceLocation
from headrace._arguments.storage import Storage, shown_storage, storage_table
from headrace._runs import callback
from headrace._runs.callback import Callback
from headrace._runs.tuple_batches import check_form, given_columns
from headrace.errors import GraphError

__all__ = ["RunOptions", "RunParameters"]


class RunParameters(TypedDict, total=False):
    """As `Dataset.iterate` describes them."""

    seed: int | None
    shard: tuple[int, int] | None
    even: Literal["off", "drop", "pad"] | None
    as_: Literal["numpy", "torch", "dlpack", "arrow"] | None
    as_tuple: bool | Sequence[str] | None
    bytes_as: Literal["bytes", "memoryview"] | None
    optimize: bool | None
    executor: Literal["threads", "pull"] | None
    workers: int | None
    window: int | None
    group: int | None
    memory: int | str | None
    cache: str | os.PathLike[str] | None
    device: str | None
    device_depth: int | None
    device_memory: int | str | None
    disabled_passes: str | Sequence[str] | None
    stall_warning: float | None
    profile: str | os.PathLike[str] | None
    profile_events: int | None
    callbacks: Sequence[Callback] | None
    storage: Storage | None


def _choice(*choices: str) -> Callable[[str, Any, str], str]:
    return lambda name, value, of: options.choice(name, value, choices, of)


_FORMS = ("numpy", "torch", "dlpack", "arrow")
# What other libraries call them, or what takes them.
_OTHER_FORMS = {
    **dict.fromkeys(["pt", "pytorch", "tensor", "tensors"], "torch"),
    **dict.fromkeys(["np", "ndarray", "array"], "numpy"),
    **dict.fromkeys(["pyarrow", "pandas", "pd", "polars", "pl"], "arrow"),
    **dict.fromkeys(["jax", "jnp", "tf", "tensorflow", "cupy"], "dlpack"),
}


def _form(name: str, value: Any, of: str) -> Any:
    meant = _OTHER_FORMS.get(value.lower()) if isinstance(value, str) else None
    if meant is not None:
        raise GraphError(f'{of}: {name} is {options.shown(value)}; write "{meant}"')
    return options.choice(name, value, _FORMS, of)


# From an option's name to the function that checks its value, and gives it in one form.
_CHECKS: dict[str, Callable[[str, Any, str], Any]] = {
    "seed": lambda name, value, of: options.whole(name, value, of=of),
    "shard": lambda name, value, of: options.shard(value, of),
    "even": _choice("off", "drop", "pad"),
    "as_": _form,
    "as_tuple": given_columns,
    "bytes_as": _choice("bytes", "memoryview"),
    "optimize": options.flag,
    "executor": _choice("threads", "pull"),
    "workers": options.at_once,
    "window": options.at_once,
    "group": options.at_once,
    "memory": lambda name, value, of: options.memory_bytes(value, of),
    "cache": options.local_path,
    "device": options.device,
    "device_depth": options.at_once,
    "device_memory": lambda name, value, of: options.memory_bytes(value, of, name),
    "disabled_passes": options.texts,
    "stall_warning": options.seconds,
    "profile": lambda _, value, __: options.own_path("the path", value, "profile"),
    "profile_events": lambda name, value, of: options.whole(name, value, 1, of),
    "callbacks": callback.checked,
    "storage": lambda _, value, of: storage_table(value, of),
}

# What means nothing without a device.
_OF_DEVICE = ("device_depth", "device_memory")

# Not given by name: see `in_page_locked`.
_PAGE_LOCKED_OF = "page_locked_of"

_DEFAULTS: dict[str, Any] = {
    "as_": "numpy",
    "as_tuple": False,
    "bytes_as": "bytes",
    "optimize": True,
    "executor": "threads",
    "memory": 2 << 30,
    "disabled_passes": [],
    "stall_warning": 60.0,
    "profile_events": 65536,
    "callbacks": (),
}


class _Given(NamedTuple):
    value: Any
    shown: str
    location: SourceLocation | None
    """Where it was given to be kept; None: for one run."""


class RunOptions:
    """Those given; all others have their defaults. Immutable."""

    __slots__ = ("_given",)

    def __init__(self, given: Mapping[str, _Given] | None = None) -> None:
        self._given: dict[str, _Given] = dict(given or {})

    def changed(self, given: Mapping[str, Any], of: str, location: SourceLocation | None = None) -> "RunOptions":
        """With these in addition, or in place of those it has. None gives an option back its default."""
        after = dict(self._given)
        for name, value in given.items():
            if name not in _CHECKS:
                raise unknown_keyword(
                    of, name, [*_CHECKS, *(("epoch", "state", "start", "stop") if of == "iterate" else ())]
                )
            after.pop(name, None)
            if value is not None:
                # Values of settings are never shown.
                shown = shown_storage(value) if name == "storage" else options.shown(value)
                after[name] = _Given(_CHECKS[name](name, value, of), shown, location)
        for name in _OF_DEVICE:
            if "device" in after or name not in after:
                continue
            if given.get(name) is not None:
                raise GraphError(f"{of}: {name} is {after[name].shown}, and there is no device: give device= too")
            # The device that it was given with is taken back.
            del after[name]
        changed = RunOptions(after)
        check_form(changed["as_tuple"], changed["as_"], of)
        return changed

    @classmethod
    def joined(cls, several: "Sequence[RunOptions]", of: str) -> "RunOptions":
        """Those of several datasets that `of` joins; refuses two values of one option."""
        joined: dict[str, _Given] = {}
        for each in several:
            for name, given in each._given.items():
                known = joined.setdefault(name, given)
                if known.value != given.value:
                    raise GraphError(
                        f"{of}: the datasets have different options: {name} is {known.shown} at {_line(known)} and "
                        f"{given.shown} at {_line(given)}; give it once, after {of}"
                    )
        return cls(joined)

    def __contains__(self, name: str) -> bool:
        """Whether it is given."""
        return name in self._given

    def __getitem__(self, name: str) -> Any:
        given = self._given.get(name)
        return _DEFAULTS.get(name) if given is None else given.value

    def in_page_locked(self, device: int) -> "RunOptions":
        """With rows in memory that the GPU of this number copies from by itself, if the process uses that already."""
        return RunOptions({**self._given, _PAGE_LOCKED_OF: _Given(device, options.shown(device), None)})

    def for_engine(self) -> dict[str, Any]:
        """In the form that the engine's module takes."""
        given: dict[str, Any] = {
            "optimize": self["optimize"],
            "lend": self["as_"] in ("torch", "dlpack"),
            "arrow": self["as_"] == "arrow",
            "view_bytes": self["bytes_as"] == "memoryview",
            "pull": self["executor"] == "pull",
            "memory": self["memory"],
            "disabled_passes": self["disabled_passes"],
        }
        for name in (
            "even",
            "seed",
            "workers",
            "window",
            "group",
            "device",
            "device_depth",
            "device_memory",
            "storage",
        ):
            if self[name] is not None:
                given[name] = self[name]
        # A batch that is sent to a device is made in its memory.
        if _PAGE_LOCKED_OF in self and "device" not in given:
            given[_PAGE_LOCKED_OF] = self[_PAGE_LOCKED_OF]
        if self["shard"] is not None:
            given["rank"], given["world"] = self["shard"]
        if self["cache"] is not None:
            given["cache_folder"] = os.fsencode(self["cache"])
        return given

    def text(self) -> str:
        """A line for `explain()` with those that are kept, and where they were given; empty: there are none."""
        lines: dict[str, list[str]] = {}
        for name, given in self._given.items():
            if given.location is not None:
                lines.setdefault(_line(given), []).append(f"{name}={given.shown}")
        kept = "; ".join(f"{', '.join(named)} ({line})" for line, named in lines.items())
        return f"Options: {kept}\n" if kept else ""


def _line(given: _Given) -> str:
    return "iterate" if given.location is None else f"{given.location[0]}:{given.location[1]}"
