"""`storage`: how far stores are reached, for the block of code within it. Values of settings are never shown."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from typing import Any

from headrace import _engine
from headrace._arguments.options import memory_bytes
from headrace.errors import GraphError

__all__ = ["GuardedStorage", "Storage", "guarded", "shown_storage", "storage", "storage_table", "within"]


class GuardedStorage:
    """Settings that were checked, and how they are shown. Frames of a traceback, which some tools print with all that they
    hold, have it in place of what was given."""

    __slots__ = ("shown", "table")

    def __init__(self, table: _engine.StorageTable, shown: str) -> None:
        self.table = table
        self.shown = shown

    def __repr__(self) -> str:
        return self.shown


Storage = Mapping[str, Mapping[str, Any]] | GuardedStorage

_EXAMPLE = '{"s3": {"endpoint": "https://minio.lan:9000"}}'
# Paths of this machine.
_LOCAL = ("ca_file", "object_cache")
_URL_EXAMPLE = '"s3" or "s3://bucket/"'


def storage(settings: Storage) -> contextlib.AbstractContextManager[None]:
    """Settings of far stores for all that happens within a `with` block: runs that begin in it, and what opens files before
    any run, such as `hr.open`, `len`, `hr.load` and writers.

        with hr.storage({"s3": {"endpoint": "https://minio.lan:9000"}}):
            ds = hr.open("s3://photos/train/")
            ds.write_tar("s3://packed/train.tar")

    They hold for this thread, or this task of asyncio, over those of an outer block; `iterate(storage=…)` and
    `options(storage=…)` hold over them. They are never part of a graph, a state, a profile or an error.

    Args:
        settings: From a scheme, "s3", or the beginning of URLs, "s3://bucket/", of which the longest that fits counts, to a
            dict of: endpoint, region, profile, anonymous, access_key, secret_key, token, ca_file, proxy, timeout (seconds),
            connections, user, object_cache (a folder of this machine) and object_cache_bytes. What is not given the store
            finds by its own rules, such as the variables AWS_*.
    """
    try:
        table = storage_table(settings, "storage")
    except GraphError as error:
        said = str(error)
    else:
        return within(table)
    # The frames of this error hold no settings.
    del settings
    raise GraphError(said)


@contextlib.contextmanager
def within(table: _engine.StorageTable | None) -> Iterator[None]:
    """As `storage`, of settings that were checked; None: changes nothing."""
    if table is None:
        yield
        return
    outer = _engine.storage_variable.get(None)
    token = _engine.storage_variable.set(table if outer is None else table.over(outer))
    try:
        yield
    finally:
        _engine.storage_variable.reset(token)


def guarded(given: Any, of: str) -> GuardedStorage:
    """Raises GraphError from a frame without the settings."""
    if isinstance(given, GuardedStorage):
        return given
    try:
        return GuardedStorage(storage_table(given, of), shown_storage(given))
    except GraphError as error:
        said = str(error)
    del given
    raise GraphError(said)


def storage_table(given: Any, of: str) -> _engine.StorageTable:
    if isinstance(given, GuardedStorage):
        return given.table
    if not isinstance(given, Mapping):
        raise GraphError(
            f"{of}: storage is a {type(given).__name__}; it must be a dict from a scheme or the beginning of URLs to "
            f"settings, such as {_EXAMPLE}"
        )
    table = {_beginning(name, of): _settings(name, settings, of) for name, settings in given.items()}
    try:
        return _engine.StorageTable(table)
    except GraphError as error:
        raise GraphError(f"{of}: {error}") from None


def shown_storage(given: Any) -> str:
    """What it is for, without any value."""
    if isinstance(given, GuardedStorage):
        return given.shown
    return "{" + ", ".join(f"{_shown_name(name)}: …" for name in given) + "}" if isinstance(given, Mapping) else "…"


def _shown_name(name: Any) -> str:
    """A URL may begin with a user's name and password."""
    scheme, end, rest = str(name).partition("://")
    return repr(f"{scheme}{end}{rest.rpartition('@')[2]}")


def _beginning(name: Any, of: str) -> str:
    if not isinstance(name, str) or not name or "\0" in name:
        raise GraphError(f"{of}: a name in storage is no scheme and no beginning of a URL, such as {_URL_EXAMPLE}")
    return name


def _settings(name: str, given: Any, of: str) -> dict[str, bool | int | float | str]:
    if not isinstance(given, Mapping):
        raise GraphError(
            f"{of}: storage has a {type(given).__name__} for {_shown_name(name)}; it must be a dict of settings, "
            f"such as {_EXAMPLE}"
        )
    return {str(key): _value(str(key), value, of) for key, value in given.items() if value is not None}


def _value(key: str, value: Any, of: str) -> bool | int | float | str:
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, bytes) and key in _LOCAL:
        value = os.fsdecode(value)
    if key in _LOCAL and isinstance(value, str) and value:
        if "://" in value:
            raise GraphError(f"{of}: storage's {key} is a URL; it must be a path of this machine")
        return os.path.abspath(os.path.expanduser(value))
    if key == "object_cache_bytes":
        return memory_bytes(value, of, f"storage's {key}")
    if key == "timeout" and type(value) is int:
        return float(value)
    if not isinstance(value, (bool, int, float, str)):
        raise GraphError(
            f"{of}: storage's {key} is a {type(value).__name__}; it must be a text, a number, or True or False"
        )
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        raise GraphError(f"{of}: storage's {key} is a number beyond 64 bits")
    return value
