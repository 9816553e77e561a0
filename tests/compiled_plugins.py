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
def library_of(name: str, text: str, *options: str, language: str = "c++") -> pathlib.Path:
    """The library of a source in C++, or in C with "c"."""
    headers = [path.read_text() for path in sorted(pathlib.Path(hr.plugin_include()).glob("*.h*"))]
    version = hashlib.blake2b("\0".join([text, language, *options, *headers]).encode(), digest_size=8).hexdigest()
    folder = pathlib.Path(tempfile.gettempdir()) / f"headrace-plugins-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    library = folder / f"lib{name}-{version}.so"
    if not library.exists():
        draft = folder / f"{name}.{os.getpid()}.so"
        compiler = ["g++" if language == "c++" else "gcc", f"-x{language}", "-"]
        command = [*compiler, "-shared", "-fPIC", "-fvisibility=hidden", f"-I{hr.plugin_include()}", *options]
        subprocess.run([*command, "-o", str(draft)], input=text, text=True, check=True, timeout=300)
        # Where another process has made it, and loaded it, that one stays.
        with contextlib.suppress(FileExistsError):
            library.hardlink_to(draft)
        draft.unlink()
    return library
