"""Saved graphs, as Dataset.save and Dataset.to_json give them."""

from headrace import _engine
from headrace._datasets.loading import load
from headrace._files.whole_file import read_whole
from headrace._formats.first_bytes import FirstBytes
from headrace._formats.format import Format
from headrace.errors import Error

__all__ = ["SAVED_GRAPH"]

# Larger ones hold rows of numbers, and are known by hr.load alone.
_MOST = 16 << 20


def _is_graph(first: FirstBytes) -> bool:
    if first.kind is not None or first.size > _MOST or first.compression is not None or not first.head:
        return False
    try:
        data = read_whole(first.path)
        graph = _engine.Graph.parse_json(data.decode()) if data[:1] == b"{" else _engine.Graph.parse(data)
        return bool(graph.nodes)
    except (Error, OSError, UnicodeDecodeError):
        return False


SAVED_GRAPH = Format(
    "a saved graph",
    "hr.load",
    # Who opens a file need not know that it is a graph, and may not trust it.
    lambda paths, **options: load(paths, **{"writes": False, **options}),
    recognises=_is_graph,
    takes_patterns=False,
    takes_several=False,
)
