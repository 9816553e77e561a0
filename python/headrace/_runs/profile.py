"""The files of a run's profile: a trace and a page, written when the run ends."""

import os

from headrace import _engine
from headrace._arguments import options
from headrace._arguments.storage import within
from headrace._files.places import is_far
from headrace._files.system_error import saying
from headrace._files.whole_file import write_whole

__all__ = ["ProfileFiles"]


class ProfileFiles:
    """`trace.json` and `report.html` in a folder, which is created; or, for a path that ends in .json or .html, files of
    that name with both endings."""

    def __init__(self, path: str | os.PathLike[str], storage: _engine.StorageTable | None) -> None:
        """`storage`: settings of the run's own."""
        given = options.file_path("the path", path, "profile")
        outer = _engine.storage_variable.get(None)
        self._storage = outer if storage is None else storage if outer is None else storage.over(outer)
        stem, ending = os.path.splitext(given)
        if ending in (".json", ".html"):
            self.trace, self.page = f"{stem}.json", f"{stem}.html"
        else:
            self.trace, self.page = os.path.join(given, "trace.json"), os.path.join(given, "report.html")
        self._folder = os.path.dirname(self.trace) or "."
        self._what = f"profile: cannot write to {self._folder}"

    def check(self) -> None:
        """Makes the folder and both files, so that a path that cannot be written to is refused before the run."""
        if not is_far(self._folder):
            with saying(self._what):
                os.makedirs(self._folder, exist_ok=True)
        self._write(b"", b"")

    def write(self, engine: _engine.Iteration, joined: bool) -> None:
        """Writes the profile of a closed engine. `joined`: what it gave are batches of rows."""
        trace, page = engine.profile(joined)
        self._write(trace.encode(), page.encode())

    def _write(self, trace: bytes, page: bytes) -> None:
        # The block of settings in which the run began may have ended.
        with within(self._storage):
            write_whole(self.trace, trace, self._what, named=False)
            write_whole(self.page, page, self._what, named=False)
