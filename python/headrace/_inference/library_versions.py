"""`library_versions` names the libraries, and the decoder of JPEGs, that decide the bits of a result, with their versions."""

from __future__ import annotations

from headrace import _engine

__all__ = ["library_versions"]


def library_versions() -> dict[str, str]:
    return dict(_engine.library_versions())
