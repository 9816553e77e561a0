"""The plugins of examples/plugin, under names of their own: the examples of the documentation load them in the same process."""

import pathlib
import types

import headrace as hr
from tests import compiled_plugins

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "examples/plugin"

SOURCES = {"frames": "vignette.cc", "gauge": "gauge.cc"}


def build_all() -> None:
    for plugin in SOURCES:
        library_of(plugin)


def library_of(plugin: str) -> pathlib.Path:
    """A library in which the plugin is called suite_PLUGIN."""
    text = (FOLDER / SOURCES[plugin]).read_text()
    return compiled_plugins.library_of(
        f"suite_{plugin}", text.replace(f'HEADRACE_PLUGIN("{plugin}"', f'HEADRACE_PLUGIN("suite_{plugin}"')
    )


def frames() -> types.ModuleType:
    """Vignette, a kernel."""
    return hr.load_plugin(library_of("frames"))


def gauge() -> types.ModuleType:
    """Waves, a source, and Readings, a format."""
    return hr.load_plugin(library_of("gauge"))
