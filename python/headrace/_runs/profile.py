"""The files of a run's profile: a trace and a page, written when the run ends."""

import contextlib
import os
import pathlib
from collections.abc import Iterator

from headrace import _engine
from headrace._arguments import options
from headrace._files.system_error import system_error
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

    def check(self) -> None:
        """Makes the folder and both files, so that a path that cannot be written to is refused before the run."""
        with self._errors():
            self.trace.parent.mkdir(parents=True, exist_ok=True)
            for file in (self.trace, self.page):
                write_whole(file, b"", named=False)

    def write(self, engine: _engine.Iteration, joined: bool) -> None:
        """Writes the profile of a closed engine. `joined`: what it gave are batches of rows."""
        trace, page = engine.profile(joined)
        with self._errors():
            write_whole(self.trace, trace.encode(), named=False)
            write_whole(self.page, page.encode(), named=False)

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise system_error(f"profile: cannot write to {self.trace.parent}", error) from None
