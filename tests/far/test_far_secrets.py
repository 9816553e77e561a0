"""Keys, tokens and addresses of stores are in no graph, state, profile, report, error or text of an object."""

import contextlib
import logging
import os
import pathlib
import pickle
import re
from collections.abc import Callable
from typing import Any

import pytest

import headrace as hr
from tests.far.faults import Fault
from tests.far.s3_server import S3Server
from tests.far.signature import Key
from tests.far.stores import Store, s3_storage

ACCESS = "AKIDNEVERSHOWN000001"
SECRET = "never/shown+secret=key"
TOKEN = "never-shown-session-token"


@pytest.fixture
def guarded(s3: Store) -> dict[str, dict[str, object]]:
    """The settings of a store that wants these keys."""
    server = s3.giver
    assert isinstance(server, S3Server)
    server.keys = {ACCESS: Key(SECRET, TOKEN)}
    for number in range(20):
        s3.put(f"{number:02}.bin", b"%d" % number)
    return s3_storage(server, access_key=ACCESS, secret_key=SECRET, token=TOKEN)


def check_nothing_shown(text: str | bytes) -> None:
    shown = text if isinstance(text, bytes) else text.encode()
    for secret in (SECRET, TOKEN):
        assert secret.encode() not in shown
    # Neither signatures nor parts of the header.
    assert re.search(rb"Signature=|X-Amz-Signature|aws4_request", shown) is None


def test_graphs_states_and_reports_show_nothing(
    s3: Store, guarded: dict[str, dict[str, object]], tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with hr.storage(guarded):
        files = hr.Files(s3.url("*.bin"), shuffle=True).batch(4)
        files.save(tmp_path / "graph.hrg")
    with files.iterate(storage=guarded, profile=tmp_path / "profile") as rows:
        next(rows)
        texts: list[str | bytes] = [rows.state(), repr(rows), str(rows.report())]
        list(rows)
    texts += [(tmp_path / "graph.hrg").read_bytes(), files.explain(), repr(files), files.to_json(), files.to_text()]
    texts += [path.read_bytes() for path in (tmp_path / "profile").rglob("*") if path.is_file()]
    texts += [*capfd.readouterr()]
    for text in texts:
        check_nothing_shown(text)
        address = f"127.0.0.1:{s3.giver.port}"
        assert address not in (text if isinstance(text, str) else text.decode("latin-1"))


def test_graphs_are_those_without_settings(s3: Store, guarded: dict[str, dict[str, object]]) -> None:
    def graph() -> str:
        return hr.Files(s3.url("*.bin")).to_json()

    plain = graph()
    with hr.storage(guarded):
        assert graph() == plain


@pytest.mark.parametrize(
    "fault", [Fault(403, body=b"<Error><Code>AccessDenied</Code></Error>"), Fault(404), Fault(400)]
)
def test_errors_show_nothing(s3: Store, guarded: dict[str, dict[str, object]], fault: Fault) -> None:
    s3.giver.faults.add(fault)
    with pytest.raises(hr.Error) as raised:
        list(hr.Files([s3.url("01.bin")]).iterate(storage={"s3": guarded["s3"] | {"timeout": 0.5}}))
    check_nothing_shown("".join(map(str, (raised.value, repr(raised.value), vars(raised.value)))))


def test_an_error_about_a_store_that_is_gone_shows_nothing(s3: Store, guarded: dict[str, dict[str, object]]) -> None:
    s3.giver.close()
    with pytest.raises(hr.Error) as raised:
        list(hr.Files([s3.url("01.bin")]).iterate(storage=guarded))
    check_nothing_shown("".join(map(str, (raised.value, repr(raised.value), vars(raised.value)))))


def test_what_a_store_says_back_is_not_shown_with_the_keys(s3: Store, guarded: dict[str, dict[str, object]]) -> None:
    """Some stores answer a bad signature with the string that was signed, and the key's name."""
    body = f"<Error><Code>SignatureDoesNotMatch</Code><Message>no</Message><StringToSign>{SECRET} aws4_request</StringToSign></Error>"
    s3.giver.faults.add(Fault(403, body=body.encode()))
    with pytest.raises(hr.Error, match="SignatureDoesNotMatch") as raised:
        list(hr.Files([s3.url("01.bin")]).iterate(storage=guarded))
    check_nothing_shown(str(raised.value))


@pytest.mark.parametrize(
    "settings",
    [
        {"secret": SECRET},
        {"secret_key": [SECRET]},
        {"timeout": SECRET},
        {"connections": TOKEN},
        {"access_key": ACCESS, "anonymous": TOKEN},
    ],
)
def test_bad_settings_are_errors_without_their_values(settings: dict[str, object], far_library: None) -> None:
    with pytest.raises((hr.Error, TypeError, ValueError)) as raised, hr.storage({"s3": settings}):
        list(hr.Files(["s3://data/a"]))
    check_nothing_shown(str(raised.value) + repr(raised.value))


def held_in_frames(error: BaseException | None) -> str:
    """What tools that print frames with their variables show of Headrace's frames."""
    shown = ""
    while error is not None:
        trace = error.__traceback__
        while trace is not None:
            frame = trace.tb_frame
            if f"{os.sep}headrace{os.sep}" in frame.f_code.co_filename:
                for value in frame.f_locals.values():
                    # Of what is being made there may be no text yet.
                    with contextlib.suppress(AttributeError):
                        shown += repr(value)
            trace = trace.tb_next
        error = error.__cause__ or error.__context__
    return shown


def test_frames_of_errors_hold_no_settings(s3: Store, guarded: dict[str, dict[str, object]]) -> None:
    missing = hr.Files(s3.url("none/*.bin"))
    wrong = {"s3": guarded["s3"] | {"timeout": "soon"}}
    flat: Any = {"s3": SECRET}
    workers: Any = "many"
    unknown: Any = {"worker": 1}
    calls: list[Callable[[], object]] = [
        lambda: list(missing.iterate(storage=guarded)),
        lambda: list(missing.options(storage=guarded)),
        lambda: missing.iterate(storage=guarded, workers=workers),
        lambda: missing.iterate(storage=guarded, **unknown),
        lambda: missing.iterate(storage=wrong),
        lambda: missing.options(storage=flat),
        lambda: list(hr.Files(s3.url("none/*.bin"), storage=guarded)),
        lambda: hr.Files(s3.url("none/*.bin"), storage=wrong),
        lambda: hr.open(s3.url("none.bin"), storage=guarded),
        lambda: hr.open(s3.url("none.bin"), storage=wrong),
        lambda: hr.storage(wrong),
        lambda: hr.storage({"s3": {"secret_key": [SECRET]}}),
    ]
    for number, call in enumerate(calls):
        with pytest.raises((hr.Error, TypeError)) as raised:
            call()
        assert SECRET not in held_in_frames(raised.value), number


def test_settings_show_nothing_of_themselves(guarded: dict[str, dict[str, object]]) -> None:
    with hr.storage(guarded) as scope:
        check_nothing_shown(repr(scope) + repr(hr.storage(guarded)))


def test_datasets_travel_without_settings(s3: Store, guarded: dict[str, dict[str, object]]) -> None:
    with hr.storage(guarded):
        files = hr.Files(s3.url("*.bin"))
        try:
            packed = pickle.dumps(files)
        except (TypeError, pickle.PicklingError):
            packed = b""
    check_nothing_shown(packed)


def test_logs_and_warnings_show_nothing(
    s3: Store, guarded: dict[str, dict[str, object]], caplog: pytest.LogCaptureFixture, recwarn: pytest.WarningsRecorder
) -> None:
    s3.giver.faults.add(Fault(503), "get", times=2)
    with caplog.at_level(logging.DEBUG):
        list(hr.Files(s3.url("*.bin")).iterate(storage=guarded))
    check_nothing_shown(caplog.text + "".join(str(each.message) for each in recwarn))
