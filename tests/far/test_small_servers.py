"""The small servers by themselves: signatures by the published example, forms of replies, faults, counts."""

import http.client
import json
import socket
import ssl
import urllib.parse
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator

import pytest

from tests.conftest import eventually
from tests.far import signature
from tests.far.faults import Fault, Rule, throttled
from tests.far.http_server import HttpServer
from tests.far.s3_client import S3Client
from tests.far.s3_server import ACCESS_KEY, NAMESPACE, REGION, SECRET_KEY, S3Server
from tests.far.signature import Key, Refusal, check
from tests.far.webhdfs_server import WebHdfsCluster


def test_the_published_example_of_a_signature_is_good() -> None:
    """The GET of an object with a Range, as Amazon's documentation of version 4 has it."""
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    headers = {
        "host": "examplebucket.s3.amazonaws.com",
        "range": "bytes=0-9",
        "x-amz-content-sha256": empty,
        "x-amz-date": "20130524T000000Z",
        "authorization": "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
        "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
        "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
    }
    keys = {"AKIAIOSFODNN7EXAMPLE": Key("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")}
    now = signature.seconds_of("20130524T000000Z")
    assert check("GET", "/test.txt", [], headers, b"", keys, now + 60) == "AKIAIOSFODNN7EXAMPLE"
    for changed, code in (
        ({"range": "bytes=0-8"}, "SignatureDoesNotMatch"),
        ({"x-amz-content-sha256": "0" * 64}, "XAmzContentSHA256Mismatch"),
        ({"x-amz-acl": "private"}, "AccessDenied"),
        ({"x-amz-security-token": "t"}, "InvalidToken"),
        ({"authorization": ""}, "AccessDenied"),
    ):
        with pytest.raises(Refusal) as refused:
            check("GET", "/test.txt", [], headers | changed, b"", keys, now)
        assert refused.value.code == code
    with pytest.raises(Refusal) as refused:
        check("GET", "/test.txt", [], headers, b"", keys, now + 1000)
    assert refused.value.code == "RequestTimeTooSkewed"


def ask(
    server: S3Server, method: str, path: str, query: str = "", body: bytes = b"", **headers: str
) -> tuple[int, dict[str, str], bytes]:
    client = S3Client(f"127.0.0.1:{server.port}", ACCESS_KEY, SECRET_KEY, REGION)
    return client.ask(method, path, query, body, {name.replace("_", "-"): value for name, value in headers.items()})


@pytest.fixture
def s3_server() -> Iterator[S3Server]:
    with S3Server() as server:
        server.put("b", "k", b"0123456789")
        yield server


def code_of(body: bytes) -> str | None:
    return ElementTree.fromstring(body).findtext("Code")


def test_objects_are_read_whole_and_in_ranges(s3_server: S3Server) -> None:
    status, headers, body = ask(s3_server, "GET", "/b/k")
    assert (status, body) == (200, b"0123456789")
    status, headers, body = ask(s3_server, "GET", "/b/k", range="bytes=3-99", if_match=headers["etag"])
    assert (status, body, headers["content-range"]) == (206, b"3456789", "bytes 3-9/10")
    assert ask(s3_server, "GET", "/b/k", range="bytes=10-")[0] == 416
    assert ask(s3_server, "GET", "/b/k", if_match='"other"')[0] == 412
    status, headers, body = ask(s3_server, "HEAD", "/b/k")
    assert (status, headers["content-length"], body) == (200, "10", b"")
    assert ask(s3_server, "GET", "/b/none")[0] == ask(s3_server, "GET", "/none/k")[0] == 404
    assert [(each.kind, each.key, each.range, each.status, each.sent) for each in s3_server.seen[:2]] == [
        ("get", "k", None, 200, 10),
        ("get", "k", (3, 99), 206, 7),
    ]


def test_requests_that_are_not_signed_are_refused(s3_server: S3Server) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", s3_server.port, timeout=10)
    connection.request("GET", "/b/k")
    reply = connection.getresponse()
    assert reply.status == 403 and code_of(reply.read()) == "AccessDenied"
    s3_server.public.add("b")
    connection.request("GET", "/b/k")
    assert connection.getresponse().read() == b"0123456789"
    connection.close()
    s3_server.clock = 1200
    assert code_of(ask(s3_server, "GET", "/b/k")[2]) == "RequestTimeTooSkewed"


@pytest.mark.parametrize("number", [0, 1, 6, 7, 8])
def test_listings_have_pages(s3_server: S3Server, number: int) -> None:
    names = [f"p/{i:02} ü&<" for i in range(number)]
    for name in names:
        s3_server.put("b", name, b"x")
    s3_server.page = 7
    token, found = "", []
    while True:
        query = "encoding-type=url&list-type=2&prefix=p%2F" + (f"&continuation-token={token}" if token else "")
        status, _, body = ask(s3_server, "GET", "/b", "&".join(sorted(query.split("&"))))
        assert status == 200
        root = ElementTree.fromstring(body)
        found += [urllib.parse.unquote(each.text or "") for each in root.iter(f"{{{NAMESPACE}}}Key")]
        token = urllib.parse.quote(root.findtext(f"{{{NAMESPACE}}}NextContinuationToken", ""), safe="")
        if not token:
            break
    assert found == names


def test_prefixes_stand_for_what_is_below(s3_server: S3Server) -> None:
    for name in ("a/1", "a/2", "a0", "c/1"):
        s3_server.put("b", name, b"x")
    assert s3_server.page_of("b", "", "/", "", 9) == (["a/", "a0", "c/", "k"], False)
    assert s3_server.page_of("b", "", "/", "", 2) == (["a/", "a0"], True)
    assert s3_server.page_of("b", "", "/", "a0", 9) == (["c/", "k"], False)
    assert s3_server.page_of("b", "a/", "/", "a/1", 9) == (["a/2"], False)


def text_of(body: bytes, name: str) -> str:
    return ElementTree.fromstring(body).findtext(f"{{{NAMESPACE}}}{name}", "")


def test_an_upload_in_parts_is_seen_when_it_is_complete(s3_server: S3Server) -> None:
    s3_server.smallest_part = 3
    number = urllib.parse.quote(text_of(ask(s3_server, "POST", "/b/new", "uploads=")[2], "UploadId"), safe="")
    etags = [
        ask(s3_server, "PUT", "/b/new", f"partNumber={part}&uploadId={number}", data)[1]["etag"]
        for part, data in ((1, b"abc"), (2, b"d"))
    ]
    assert "new" not in s3_server.names("b")
    parts = "".join(f"<Part><PartNumber>{i + 1}</PartNumber><ETag>{tag}</ETag></Part>" for i, tag in enumerate(etags))
    body = f"<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>".encode()
    status, _, said = ask(s3_server, "POST", "/b/new", f"uploadId={number}", body)
    assert (status, text_of(said, "ETag").endswith('-2"'), s3_server.data("b", "new")) == (200, True, b"abcd")
    assert code_of(ask(s3_server, "POST", "/b/new", f"uploadId={number}", body)[2]) == "NoSuchUpload"
    assert ask(s3_server, "PUT", "/b/new", "", b"x", if_none_match="*")[0] == 412
    assert ask(s3_server, "DELETE", "/b/new")[0] == 204


@pytest.fixture
def pages() -> Iterator[HttpServer]:
    with HttpServer() as server:
        server.put("/a", bytes(range(100)))
        yield server


def fetched(server: HttpServer, path: str = "/a", timeout: float = 5.0) -> bytes:
    connection = http.client.HTTPConnection(server.host, server.port, timeout=timeout)
    try:
        connection.request("GET", path)
        return connection.getresponse().read()
    finally:
        connection.close()


def test_bodies_are_cut_reset_and_stalled(pages: HttpServer) -> None:
    pages.faults.add(Fault(cut=40), times=1)
    with pytest.raises(http.client.IncompleteRead) as cut:
        fetched(pages)
    assert len(cut.value.partial) == 40
    pages.faults.add(Fault(reset=-1), times=1)
    with pytest.raises(ConnectionResetError):
        fetched(pages)
    pages.faults.add(Fault(cut=-1), times=1)
    with pytest.raises(http.client.RemoteDisconnected):
        fetched(pages)
    for fault in (Fault(stalled=0), Fault(stalled=-1), Fault(stalled=9), Fault(trickle=0.5)):
        pages.faults.add(fault, times=1)
        with pytest.raises(TimeoutError):
            fetched(pages, timeout=0.2)
    assert fetched(pages) == bytes(range(100))


def test_replies_are_replaced_and_counted(pages: HttpServer) -> None:
    pages.faults.add(throttled(7), "get", "/a", after=1, times=1)
    connection = http.client.HTTPConnection(pages.host, pages.port, timeout=5)
    found = []
    for _ in range(3):
        connection.request("GET", "/a", headers={"Range": "bytes=1-2"})
        reply = connection.getresponse()
        found.append((reply.status, reply.getheader("Retry-After"), len(reply.read())))
    assert [each[:2] for each in found] == [(206, None), (503, "7"), (206, None)]
    assert (pages.opened, pages.open, len(pages.requests("get", key="/a"))) == (1, 1, 3)
    for fault, expected in ((Fault(whole=True), (200, None)), (Fault(shifted=3), (206, "bytes 4-5/100"))):
        pages.faults.add(fault, times=1)
        connection.request("GET", "/a", headers={"Range": "bytes=1-2"})
        reply = connection.getresponse()
        reply.read()
        assert (reply.status, reply.getheader("Content-Range")) == expected
    connection.close()
    assert eventually(lambda: pages.open == 0)


def test_a_share_of_requests_is_drawn_the_same_each_time() -> None:
    draws = [[rule.meets("get", "k") for _ in range(1000)] for rule in (Rule(Fault(500), share=0.1) for _ in range(2))]
    assert draws[0] == draws[1] and 60 < sum(draws[0]) < 140


def test_tls_shows_the_certificate_that_was_made(certificates) -> None:
    client = ssl.create_default_context(cafile=str(certificates.ca))
    with HttpServer(certificates.server()) as server:
        server.put("/a", b"tls")
        connection = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=5, context=client)
        connection.request("GET", "/a")
        assert connection.getresponse().read() == b"tls"
        connection.close()
    for context in (certificates.server("DNS:elsewhere.test"), certificates.server(days=-1)):
        with HttpServer(context) as server, pytest.raises(ssl.SSLCertVerificationError):
            client.wrap_socket(socket.create_connection(("127.0.0.1", server.port)), server_hostname="127.0.0.1")


def asked(address: str, method: str, target: str, body: bytes | None = None) -> tuple[int, str, bytes]:
    host, _, port = address.partition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=5)
    connection.request(method, f"/webhdfs/v1{target}", body)
    reply = connection.getresponse()
    found = reply.status, reply.getheader("Location", ""), reply.read()
    connection.close()
    return found


def followed(location: str, method: str = "GET", body: bytes | None = None) -> tuple[int, str, bytes]:
    place = urllib.parse.urlsplit(location)
    return asked(place.netloc, method, f"{place.path.removeprefix('/webhdfs/v1')}?{place.query}", body)


def test_a_cluster_redirects_and_lists() -> None:
    with WebHdfsCluster() as cluster:
        cluster.put("/d/a", bytes(range(100)))
        cluster.put("/d/b", b"b")
        status, location, _ = asked(cluster.address, "GET", "/d/a?op=OPEN&offset=10&length=5")
        assert status == 307 and followed(location)[2] == bytes(range(10, 15))
        node = urllib.parse.urlsplit(location).netloc
        other = asked(cluster.address, "GET", f"/d/a?op=OPEN&excludedatanodes={node}")[1]
        assert node not in other and followed(other)[2] == bytes(range(100))
        nodes = ",".join(each.address for each in cluster.data_nodes)
        assert asked(cluster.address, "GET", f"/d/a?op=OPEN&excludedatanodes={nodes}")[0] == 403
        assert asked(cluster.address, "GET", "/d/a?op=OPEN&offset=100")[0] == 403
        cluster.page = 1
        first = json.loads(asked(cluster.address, "GET", "/d?op=LISTSTATUS_BATCH")[2])["DirectoryListing"]
        assert first["remainingEntries"] == 1
        assert first["partialListing"]["FileStatuses"]["FileStatus"][0]["pathSuffix"] == "a"
        rest = json.loads(asked(cluster.address, "GET", "/d?op=LISTSTATUS_BATCH&startAfter=a")[2])["DirectoryListing"]
        assert rest["partialListing"]["FileStatuses"]["FileStatus"][0]["length"] == 1
        assert len(json.loads(asked(cluster.address, "GET", "/d?op=LISTSTATUS")[2])["FileStatuses"]["FileStatus"]) == 2
        cluster.batches = False
        assert asked(cluster.address, "GET", "/d?op=LISTSTATUS_BATCH")[0] == 400


def test_a_cluster_takes_files_and_gives_them_names() -> None:
    with WebHdfsCluster() as cluster:
        for httpfs in (False, True):
            cluster.httpfs = httpfs
            status, location, _ = asked(cluster.address, "PUT", "/d/x?op=CREATE&overwrite=true")
            assert status == 307 and followed(location, "PUT", b"abc")[0] == 201
            assert cluster.data("/d/x") == b"abc"
        cluster.put("/d/y", b"old")
        renamed = asked(cluster.address, "PUT", "/d/x?op=RENAME&destination=/d/y")
        assert renamed[::2] == (200, b'{"boolean": false}')
        assert asked(cluster.address, "PUT", "/d/x?op=RENAME&destination=/d/y&renameoptions=OVERWRITE")[0] == 200
        assert cluster.data("/d/y") == b"abc" and "/d/x" not in cluster.tree.files
        assert asked(cluster.address, "DELETE", "/d?op=DELETE")[0] == 403
        assert asked(cluster.address, "DELETE", "/d?op=DELETE&recursive=true")[2] == b'{"boolean": true}'
        cluster.tokens = {"t"}
        assert [asked(cluster.address, "GET", f"/?op=LISTSTATUS{more}")[0] for more in ("", "&delegation=u", "&delegation=t")] == [401, 403, 200]  # fmt: skip
        cluster.standby = True
        assert b"StandbyException" in asked(cluster.address, "GET", "/?op=LISTSTATUS&delegation=t")[2]
