"""Plugins of the tests, each compiled by one line, once for all processes and sessions."""

import contextlib
import functools
import hashlib
import os
import pathlib
import subprocess
import tempfile

import headrace as hr


@functools.cache
def library_of(name: str, text: str, *options: str) -> pathlib.Path:
    """The library of a source in C++."""
    headers = [path.read_text() for path in sorted(pathlib.Path(hr.plugin_include()).glob("*.h*"))]
    version = hashlib.blake2b("\0".join([text, *options, *headers]).encode(), digest_size=8).hexdigest()
    folder = pathlib.Path(tempfile.gettempdir()) / f"headrace-plugins-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    library = folder / f"lib{name}-{version}.so"
    if not library.exists():
        draft = folder / f"{name}.{os.getpid()}.so"
        command = ["g++", "-shared", "-fPIC", "-fvisibility=hidden", f"-I{hr.plugin_include()}", *options, "-xc++", "-"]
        subprocess.run([*command, "-o", str(draft)], input=text, text=True, check=True, timeout=300)
        # Where another process has made it, and loaded it, that one stays.
        with contextlib.suppress(FileExistsError):
            library.hardlink_to(draft)
        draft.unlink()
    return library
