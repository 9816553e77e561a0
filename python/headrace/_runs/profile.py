"""The files of a run's profile: a trace and a page, written when the run ends."""

import os
import pathlib

from headrace import _engine
from headrace._arguments import options
from headrace._files.system_error import saying
from headrace._files.whole_file import write_whole

__all__ = ["ProfileFiles"]


class ProfileFiles:
    """`trace.json` and `report.html` in a folder, which is created; or, for a path that ends in .json or .html, files of
    that name with both endings."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        given = pathlib.Path(options.local_path("the path", path, "profile"))
        if given.suffix in (".json", ".html"):
            self.trace, self.page = given.with_suffix(".json"), given.with_suffix(".html")
        else:
            self.trace, self.page = given / "trace.json", given / "report.html"
        self._what = f"profile: cannot write to {self.trace.parent}"

    def check(self) -> None:
        """Makes the folder and both files, so that a path that cannot be written to is refused before the run."""
        with saying(self._what):
            self.trace.parent.mkdir(parents=True, exist_ok=True)
        for file in (self.trace, self.page):
            write_whole(file, b"", self._what, named=False)

    def write(self, engine: _engine.Iteration, joined: bool) -> None:
        """Writes the profile of a closed engine. `joined`: what it gave are batches of rows."""
        trace, page = engine.profile(joined)
        write_whole(self.trace, trace.encode(), self._what, named=False)
        write_whole(self.page, page.encode(), self._what, named=False)
