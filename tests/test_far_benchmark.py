"""The server of the benchmarks of far files gives the files of a folder: whole, in ranges, listed, late, refused, over TLS."""

import http.client
import pathlib
import ssl
import subprocess
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.conftest import ROOT
from tests.far.certificates import Certificates

SOURCE = ROOT / "benchmarks/far/file_server.cc"
CONTENTS = {"a.bin": bytes(range(200)), "b/c d.bin": b"second" * 50_000, "empty.bin": b""}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    if not pathlib.Path("/usr/include/openssl/ssl.h").exists():
        pytest.skip("OpenSSL's headers are not installed: tools/setup/setup --far")
    made = tmp_path_factory.mktemp("server") / "file_server"
    libraries = ["-lssl", "-lcrypto", "-lpthread"]
    subprocess.run(
        ["g++", "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", SOURCE, "-o", made, *libraries], check=True
    )
    return made


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    for name, data in CONTENTS.items():
        path = tmp_path / "files" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return tmp_path / "files"


@contextmanager
def served(program: pathlib.Path, folder: pathlib.Path, *options: object) -> Iterator[int]:
    with subprocess.Popen([program, folder, *map(str, options)], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield int(server.stdout.readline())
        finally:
            server.kill()


def ask(
    connection: http.client.HTTPConnection, path: str, method: str = "GET", **headers: str
) -> tuple[int, http.client.HTTPMessage, bytes]:
    connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    reply = connection.getresponse()
    return reply.status, reply.headers, reply.read()


@pytest.fixture
def connection(program: pathlib.Path, folder: pathlib.Path) -> Iterator[http.client.HTTPConnection]:
    with served(program, folder) as port:
        made = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        yield made
        made.close()


def test_files_are_given_whole_and_in_ranges(connection: http.client.HTTPConnection) -> None:
    status, headers, body = ask(connection, "/bucket/b/c%20d.bin")
    assert (status, body) == (200, CONTENTS["b/c d.bin"])
    etag = headers["ETag"]
    status, headers, body = ask(connection, "/bucket/a.bin", Range="bytes=10-19")
    assert (status, body, headers["Content-Range"]) == (206, CONTENTS["a.bin"][10:20], "bytes 10-19/200")
    assert ask(connection, "/bucket/a.bin", Range="bytes=190-500")[2] == CONTENTS["a.bin"][190:]
    assert ask(connection, "/bucket/a.bin", Range="bytes=200-")[0] == 416
    assert ask(connection, "/bucket/a.bin", If_Match=etag)[0] == 412
    status, headers, body = ask(connection, "/bucket/a.bin", "HEAD")
    assert (status, headers["Content-Length"], body) == (200, "200", b"")
    assert ask(connection, "/bucket/empty.bin")[2] == b"" and ask(connection, "/bucket/none")[0] == 404
    assert ask(connection, "/bucket/a.bin", "PUT")[0] == 405


def test_listings_have_pages(program: pathlib.Path, tmp_path: pathlib.Path) -> None:
    many = tmp_path / "many"
    many.mkdir()
    for number in range(1001):
        (many / f"{number:04} &.bin").write_bytes(b"x")
    with served(program, many) as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        found, token = [], ""
        for size in (1000, 1):
            _, _, body = ask(connection, f"/bucket?list-type=2&prefix=&continuation-token={token}")
            root = ElementTree.fromstring(body)
            keys = [each.text or "" for each in root.iter() if each.tag.endswith("}Key")]
            assert len(keys) == size
            found += keys
            token = next((each.text or "" for each in root.iter() if each.tag.endswith("}NextContinuationToken")), "")
        connection.close()
    assert token == "" and found == sorted(found) and found[0] == "0000%20%26.bin"


def test_a_share_is_refused(program: pathlib.Path, folder: pathlib.Path) -> None:
    with served(program, folder, "--fail", 0.5) as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        statuses = [ask(connection, "/bucket/a.bin")[0] for _ in range(100)]
        connection.close()
    assert set(statuses) == {200, 503} and 25 < statuses.count(503) < 75


def test_replies_wait(program: pathlib.Path, folder: pathlib.Path) -> None:
    with served(program, folder, "--delay", 100) as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        started = time.monotonic()
        assert ask(connection, "/bucket/a.bin")[2] == CONTENTS["a.bin"]
        assert time.monotonic() - started >= 0.1
        connection.close()


def test_files_are_given_over_tls(program: pathlib.Path, folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    certificates = Certificates.make(tmp_path)
    certificates.server()
    (pem,) = tmp_path.glob("authority-*.pem")
    client = ssl.create_default_context(cafile=str(certificates.ca))
    with served(program, folder, "--certificate", pem, "--key", pem.with_suffix(".key")) as port:
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=10, context=client)
        for _ in range(3):
            assert ask(connection, "/bucket/b/c%20d.bin")[2] == CONTENTS["b/c d.bin"]
        connection.close()
