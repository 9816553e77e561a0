import sys

import pytest

from headrace._runs import listing_progress


def test_says_how_far_a_listing_is(capsys: pytest.CaptureFixture[str]) -> None:
    listing_progress.show("s3://bucket/a\nb", 1_200_000, 12.3, False)
    listing_progress.show("s3://bucket/a", 1_300_000, 14.0, True)
    assert capsys.readouterr().err.splitlines() == [
        "headrace: listing s3://bucket/a\\nb: 1,200,000 names after 12 s",
        "headrace: listed s3://bucket/a: 1,300,000 names after 14 s",
    ]


def test_says_nothing_without_stderr(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    listing_progress.show("s3://bucket/a", 1, 6.0, False)
    assert capsys.readouterr().out == ""
