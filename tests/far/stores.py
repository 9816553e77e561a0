"""Small stores that pipelines read from: each with its address for Headrace, its settings, and its servers to count and to break."""

import dataclasses
import functools
import pathlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import headrace as hr
from tests.far.certificates import Certificates
from tests.far.http_server import HttpServer
from tests.far.s3_server import ACCESS_KEY, REGION, SECRET_KEY, S3Server
from tests.far.small_server import SmallServer
from tests.far.webhdfs_server import WebHdfsCluster

BUCKET = "data"


class FarFolder(str):
    """The URL of a folder, joined by `/` as paths are, so that it can stand where pipelines are given a folder. `used`
    counts the joins."""

    used: list[str]

    def __new__(cls, url: str, used: list[str] | None = None) -> "FarFolder":
        made = super().__new__(cls, url.rstrip("/"))
        made.used = [] if used is None else used
        return made

    def __truediv__(self, name: object) -> "FarFolder":
        self.used.append(str(name))
        return FarFolder(f"{self}/{name}", self.used)


@dataclasses.dataclass
class Store:
    """`root`: the URL of its folder. `storage`: the settings for it. `reads`: what its servers call requests for bytes
    of files, and `lists` those for listings; empty if it lists nothing. `put(name, data)` places a file in the folder.
    """

    kind: str
    root: str
    storage: dict[str, dict[str, Any]]
    servers: list[SmallServer]
    put: Callable[[str, bytes], None]
    remove: Callable[[str], None]
    data: Callable[[str], bytes]
    reads: tuple[str, ...]
    lists: tuple[str, ...] = ()
    # One request for a file is answered by a redirect first, which has no bytes.
    cluster: WebHdfsCluster | None = None

    @property
    def folder(self) -> FarFolder:
        return FarFolder(self.root)

    def url(self, name: str) -> str:
        return f"{self.root}/{name}"

    @property
    def giver(self) -> SmallServer:
        """The server that gives the bytes of files."""
        return self.servers[-1]

    def put_folder(self, folder: pathlib.Path) -> None:
        for path in sorted(each for each in folder.rglob("*") if each.is_file()):
            self.put(str(path.relative_to(folder)), path.read_bytes())

    def counts(self) -> dict[str, int]:
        return dict(functools.reduce(lambda one, two: one + two, (server.counts() for server in self.servers)))

    def sent(self) -> int:
        """Bytes of files that went out."""
        return sum(server.sent(*self.reads) for server in self.servers)

    def forget(self) -> None:
        for server in self.servers:
            server.forget()

    def open(self) -> int:
        return sum(server.open for server in self.servers)


def s3_storage(server: S3Server, **settings: Any) -> dict[str, dict[str, Any]]:
    own = {"endpoint": server.url, "region": REGION, "access_key": ACCESS_KEY, "secret_key": SECRET_KEY}
    return {"s3": own | settings}


def s3_store(server: S3Server, folder: str = "set", **settings: Any) -> Store:
    server.buckets.setdefault(BUCKET, {})
    return Store(
        "s3",
        f"s3://{BUCKET}/{folder}",
        s3_storage(server, **settings),
        [server],
        lambda name, data: server.put(BUCKET, f"{folder}/{name}", data),
        lambda name: server.remove(BUCKET, f"{folder}/{name}"),
        lambda name: server.data(BUCKET, f"{folder}/{name}"),
        ("get",),
        ("list",),
    )


def http_store(server: HttpServer, **settings: Any) -> Store:
    scheme = "https" if server.tls else "http"
    return Store(
        scheme,
        f"{server.url}/set",
        {scheme: settings},
        [server],
        lambda name, data: server.put(f"/set/{name}", data),
        lambda name: server.remove(f"/set/{name}"),
        lambda name: server.files[f"/set/{name}"].data,
        ("get",),
    )


def hdfs_store(cluster: WebHdfsCluster, **settings: Any) -> Store:
    tls = cluster.name_node.tls is not None
    scheme = "swebhdfs" if tls else "webhdfs"
    return Store(
        scheme,
        f"{scheme}://{cluster.address}/set",
        {scheme: {"user": "tester"} | settings},
        list(cluster.servers),
        lambda name, data: cluster.put(f"/set/{name}", data),
        lambda name: cluster.tree.files.pop(f"/set/{name}") and None,
        lambda name: cluster.data(f"/set/{name}"),
        ("open",),
        ("liststatus", "liststatus_batch"),
        cluster,
    )


# Without TLS and with it.
KINDS = ("s3", "s3 over TLS", "hdfs", "http", "https")
# Of those, what can list.
LISTING_KINDS = ("s3", "hdfs")


@contextmanager
def opened(kind: str, certificates: Certificates | None = None, **settings: Any) -> Iterator[Store]:
    """A new, empty store."""
    tls = None
    if kind in ("s3 over TLS", "https"):
        assert certificates is not None
        tls = certificates.server()
        settings = {"ca_file": str(certificates.ca)} | settings
    with ExitStack() as stack:
        if kind.startswith("s3"):
            yield s3_store(stack.enter_context(S3Server(tls)), **settings)
        elif kind == "hdfs":
            yield hdfs_store(stack.enter_context(WebHdfsCluster()), **settings)
        else:
            yield http_store(stack.enter_context(HttpServer(tls)), **settings)


@functools.cache
def lacking() -> str:
    """Why this engine reads nothing far, in one line; empty if it does."""
    if not hasattr(hr, "storage"):
        return "this build of Headrace has no far files"
    with HttpServer() as server:
        server.put("/file", b"far")
        try:
            (row,) = hr.Files([f"{server.url}/file"])
        except hr.UnsupportedError as error:
            return f"far files need their library (./quickstart --far): {str(error).splitlines()[0]}"
        assert bytes(row["data"]) == b"far"
    return ""
