"""`FirstExample` is the first Python block of the README with the output shown after it, and runs it where nothing else is."""

import dataclasses
import pathlib
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence

_LINES = r"((?:(?!```).*\n)*)"
_BLOCKS = re.compile(rf"^```python\n{_LINES}```\n\n```text\n{_LINES}```$", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class FirstExample:
    code: str
    output: str

    @classmethod
    def of(cls, readme: pathlib.Path) -> "FirstExample":
        text = readme.read_text("utf-8")
        found = _BLOCKS.search(text)
        if found is None or found.start() != text.find("```python"):
            raise ValueError(f"the first Python block of {readme} has no output after it")
        return cls(found.group(1), found.group(2))

    def complaints(self, python: Sequence[str], environment: Mapping[str, str] | None = None) -> list[str]:
        """How a run of it, pasted into a file in an empty folder, differs from what the README shows."""
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "first.py").write_text(self.code, "utf-8")
            done = subprocess.run(
                [*python, "first.py"], cwd=folder, env=environment, capture_output=True, text=True, check=False
            )
        if done.returncode:
            return [f"it ends with status {done.returncode}: {done.stderr}"]
        if done.stderr:
            return [f"it warns: {done.stderr}"]
        return [] if done.stdout == self.output else [f"it prints\n{done.stdout}but the README shows\n{self.output}"]
