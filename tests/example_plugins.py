"""The plugins of examples/plugin, under names of their own: the examples of the documentation load them in the same process."""

import contextlib
import functools
import hashlib
import os
import pathlib
import subprocess
import tempfile
import types

import headrace as hr

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "examples/plugin"

SOURCES = {"frames": "vignette.cc", "gauge": "gauge.cc"}


def build_all() -> None:
    for plugin in SOURCES:
        library_of(plugin)


@functools.cache
def library_of(plugin: str) -> pathlib.Path:
    """A library in which the plugin is called suite_PLUGIN; compiled once for all processes."""
    text = (
        (FOLDER / SOURCES[plugin])
        .read_text()
        .replace(f'HEADRACE_PLUGIN("{plugin}"', f'HEADRACE_PLUGIN("suite_{plugin}"')
    )
    headers = [path.read_text() for path in sorted(pathlib.Path(hr.plugin_include()).glob("*.h*"))]
    version = hashlib.blake2b("".join([text, *headers]).encode(), digest_size=8).hexdigest()
    folder = pathlib.Path(tempfile.gettempdir()) / f"headrace-plugins-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    library = folder / f"libsuite_{plugin}-{version}.so"
    if not library.exists():
        draft = folder / f"{plugin}.{os.getpid()}.so"
        command = ["g++", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", f"-I{hr.plugin_include()}", "-xc++", "-"]
        subprocess.run([*command, "-o", str(draft)], input=text, text=True, check=True, timeout=120)
        # Where another process has made it, and loaded it, that one stays.
        with contextlib.suppress(FileExistsError):
            library.hardlink_to(draft)
        draft.unlink()
    return library


def frames() -> types.ModuleType:
    """Vignette, a kernel."""
    return hr.load_plugin(library_of("frames"))


def gauge() -> types.ModuleType:
    """Waves, a source, and Readings, a format."""
    return hr.load_plugin(library_of("gauge"))
