"""`register_filesystem`: URLs of a scheme are served by a file system of fsspec's."""

from __future__ import annotations

import contextlib
import datetime
import importlib
import io
import os
import posixpath
import re
from typing import Any

from headrace import _engine
from headrace._files.opened_file import open_spool
from headrace.errors import GraphError, UnsupportedError

__all__ = ["HostFiles", "register_filesystem"]

_SCHEME = re.compile("[a-zA-Z][a-zA-Z0-9+.-]*")
# Paths of this machine are the engine's own.
_OWN = "file"
_NEEDED = ("info", "ls", "cat_file", "open", "rm_file")
_FILE, _FOLDER, _OTHER = range(3)
# Keys of info(), the surest first: what changes with the bytes, then with the time of writing.
_VERSIONS = ("etag", "ETag", "generation", "version_id", "VersionId", "content_md5", "md5Hash")
_TIMES = ("mtime", "LastModified", "last_modified", "updated", "modified", "timeModified", "created")
_COPIED = 1 << 20


def register_filesystem(scheme: str, filesystem: Any, **options: Any) -> None:
    """Serves URLs of a scheme by a file system of fsspec's from now on: wherever a path may stand, `gs://bucket/a.jpg` may.

        hr.register_filesystem("gs", gcsfs.GCSFileSystem(token="anon"))
        hr.register_filesystem("az", "abfs", account_name="photos")
        ds = hr.Files("gs://photos/train/*.jpg")

    Its functions are called on up to 16 threads of their own, and what they raise is the cause of the error that the loop
    gets. Versions of files are those of `info()`: an ETag, a generation, or else the time of their last change. It belongs
    to this process: register it in each. Runs that have begun keep the file system that they began with.

    Args:
        scheme: What comes before "://", such as "gs".
        filesystem: An object of fsspec's AbstractFileSystem; or the name of one, which fsspec.filesystem(name, **options)
            makes.
        options: Of that call.
    """
    if not isinstance(scheme, str) or not _SCHEME.fullmatch(scheme):
        raise GraphError(
            f"register_filesystem: scheme is {_shown(scheme)}; it must be what comes before :// in a URL, such as 'gs'"
        )
    if scheme.lower() == _OWN:
        raise GraphError("register_filesystem: file:// names files of this machine, which the engine reads itself")
    files = _made(filesystem, options) if isinstance(filesystem, str) else filesystem
    if isinstance(files, type):
        raise GraphError(
            f"register_filesystem: filesystem is the class {files.__name__}; give an object of it, {files.__name__}()"
        )
    missing = [name for name in _NEEDED if not callable(getattr(files, name, None))]
    if missing:
        raise GraphError(
            f"register_filesystem: filesystem is a {type(files).__name__} without {', '.join(missing)}; give an object of "
            "fsspec's AbstractFileSystem, or its name"
        )
    if files is filesystem and options:
        raise GraphError(
            f"register_filesystem: {', '.join(options)} belong to a file system given by its name; this one has its options"
        )
    _engine.register_filesystem(scheme, HostFiles(scheme, files))


def _made(name: str, options: dict[str, Any]) -> Any:
    try:
        fsspec = importlib.import_module("fsspec")
    except ModuleNotFoundError:
        raise UnsupportedError(
            "register_filesystem needs fsspec for a file system given by its name: pip install fsspec"
        ) from None
    try:
        return fsspec.filesystem(name, **options)
    except ImportError as error:
        # Its text says which package to install.
        raise UnsupportedError(f"register_filesystem: the file system {name!r} needs a package: {error}") from error
    except ValueError as error:
        raise GraphError(
            f"register_filesystem: fsspec makes no file system {name!r} of these options: {error}"
        ) from error


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, str) else f"a {type(value).__name__}"


class HostFiles:
    """What the engine calls (python/binding/host/host_file_system.cc). URLs are texts as of os.fsdecode; names of entries
    are bytes. Raises what the file system raises. Used by any thread."""

    def __init__(self, scheme: str, files: Any) -> None:
        self._begin = f"{scheme}://"
        self._files = files
        protocols = getattr(files, "protocol", ())
        # A file system of this scheme may need the whole URL, as that of https does.
        self._knows = scheme in ((protocols,) if isinstance(protocols, str) else tuple(protocols))

    def stat(self, url: str) -> tuple[int, int, bytes]:
        """Type, size and version. FileNotFoundError: there is nothing."""
        path = self._path(url)
        self._forget(path)
        found = self._files.info(path)
        return _type(found), _size(found), _version(found)

    def entries(self, url: str) -> list[tuple[bytes, int, int, bytes]]:
        """Name, type, size and version of what is in a folder."""
        path = self._path(url)
        self._forget(path)
        made = []
        for found in self._files.ls(path, detail=True):
            name = posixpath.basename(str(found["name"]).rstrip("/"))
            # Some list the folder itself: as an empty object, or because it is a file.
            if name and not self._is_same(found["name"], path):
                made.append((os.fsencode(name), _type(found), _size(found), _version(found)))
        return made

    def tree(self, url: str) -> list[tuple[bytes, int, int, bytes]]:
        """The files below a folder, by names relative to it."""
        path = self._path(url)
        self._forget(path)
        base = self._plain(path)
        base = f"{base}/" if base else ""
        found = self._files.find(path, detail=True, withdirs=False)
        if not found:
            # Whether there is such a folder.
            self._files.info(path)
        made = []
        for name, each in found.items():
            plain = self._plain(name)
            if plain.startswith(base) and len(plain) > len(base):
                made.append((os.fsencode(plain[len(base) :]), _type(each), _size(each), _version(each)))
        return made

    def read(self, url: str) -> bytes:
        return _as_bytes(self._files.cat_file(self._path(url)))

    def read_range(self, url: str, begin: int, end: int) -> bytes:
        return _as_bytes(self._files.cat_file(self._path(url), start=begin, end=end))

    def create(self, url: str) -> Draft:
        return Draft(self._files, self._path(url))

    def remove(self, url: str) -> None:
        path = self._path(url)
        with contextlib.suppress(FileNotFoundError):
            self._files.rm_file(path)
        self._forget(path)

    def _path(self, url: str) -> str:
        return str(self._files._strip_protocol(url)) if self._knows else url.removeprefix(self._begin)

    def _plain(self, path: str) -> str:
        """In the form in which names of one listing can be compared."""
        strip = getattr(self._files, "_strip_protocol", None)
        return (str(strip(path)) if strip else path).strip("/")

    def _is_same(self, name: Any, path: str) -> bool:
        return self._plain(str(name)) == self._plain(path)

    def _forget(self, path: str) -> None:
        """What it keeps of listings: the engine keeps its own, and asks to learn of changes."""
        forget = getattr(self._files, "invalidate_cache", None)
        if forget is not None:
            forget(posixpath.dirname(path.rstrip("/")))
            forget(path)


class Draft:
    """A file that is written on this machine, and goes to the file system by `commit`: what its `open` begins to write may
    take the place of an older file at once. Used by one thread at a time."""

    def __init__(self, files: Any, path: str) -> None:
        self._files = files
        self._path = path
        self._spool = open_spool()

    def append(self, data: bytes) -> None:
        self._spool.write(data)

    def rewrite(self, offset: int, data: bytes) -> None:
        self._spool.seek(offset)
        self._spool.write(data)
        self._spool.seek(0, io.SEEK_END)

    def commit(self) -> None:
        with self._spool:
            target = self._opened()
            try:
                self._spool.seek(0)
                while piece := self._spool.read(_COPIED):
                    target.write(piece)
                target.close()
                target.commit()
            except BaseException:
                # What is left of it must not hide the error.
                with contextlib.suppress(Exception):
                    target.discard()
                raise

    def discard(self) -> None:
        self._spool.close()

    def _opened(self) -> Any:
        parent = posixpath.dirname(self._path)
        if parent:
            # Stores without folders need none, and what is missing the next call says.
            with contextlib.suppress(Exception):
                self._files.makedirs(parent, exist_ok=True)
        return self._files.open(self._path, "wb", autocommit=False)


def _as_bytes(given: Any) -> bytes:
    # Of a number bytes() would make so many zeros.
    return given if type(given) is bytes else bytes(memoryview(given))


def _type(found: dict[str, Any]) -> int:
    return {"file": _FILE, "directory": _FOLDER}.get(str(found.get("type")), _OTHER)


def _size(found: dict[str, Any]) -> int:
    size = found.get("size")
    return -1 if size is None else int(size)


def _version(found: dict[str, Any]) -> bytes:
    """Empty: it has none."""
    for key in _VERSIONS:
        value = found.get(key)
        # A weak ETag says that two contents mean the same, not that they are.
        if value and not str(value).startswith("W/"):
            return f"{key.lower()} {value}".encode()
    for key in _TIMES:
        value = found.get(key)
        if value:
            # info() and ls() may give one time in two forms.
            return f"time {value.timestamp() if isinstance(value, datetime.datetime) else value}".encode()
    return b""
