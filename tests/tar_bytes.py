"""`tar_bytes` makes tar archives by Python's tarfile."""

import io
import tarfile
from collections.abc import Iterable

__all__ = ["tar_bytes"]


def tar_bytes(members: Iterable[tuple[str, bytes]], kind: int = tarfile.USTAR_FORMAT) -> bytes:
    """Of files, by their names and bytes."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=kind) as archive:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return written.getvalue()
