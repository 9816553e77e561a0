"""`HttpServer` gives files over plain HTTP in the ways that servers differ: ranges or none, ETags strong, weak or none."""

import dataclasses
import hashlib
import ssl

from tests.far.small_server import Reply, Request, SmallServer, with_range


@dataclasses.dataclass
class Page:
    data: bytes
    etag: str


class HttpServer(SmallServer):
    """`files`: by path as it is decoded, with the query. `ranges`: False answers every range with the whole. `heads`:
    False refuses HEAD. `etags`: "strong", "weak" or "none". `moved`: where a path has gone, with the status of redirects.
    """

    def __init__(self, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1") -> None:
        self.files: dict[str, Page] = {}
        self.ranges = True
        self.heads = True
        self.etags = "strong"
        self.moved: dict[str, str] = {}
        self.redirect_status = 302
        # The headers of requests, in the order that they came.
        self.headers_seen: list[dict[str, str]] = []
        super().__init__(tls, host)

    def put(self, path: str, data: bytes) -> None:
        """`path` with its slash, and with the query if it has one."""
        with self.lock:
            self.files[path] = Page(data, hashlib.sha1(data).hexdigest())

    def remove(self, path: str) -> None:
        with self.lock:
            del self.files[path]

    def target(self, request: Request) -> str:
        query = "&".join(f"{name}={value}" for name, value in request.query)
        return f"{request.plain_path}?{query}" if query else request.plain_path

    def describe(self, request: Request) -> tuple[str, str]:
        return request.method.lower(), self.target(request)

    def serve(self, request: Request) -> Reply:
        target = self.target(request)
        with self.lock:
            self.headers_seen.append(dict(request.headers))
            found = self.files.get(target)
        if target in self.moved:
            return Reply(self.redirect_status, {"Location": self.moved[target]})
        if found is None:
            return Reply(404, {}, b"not here")
        if request.method == "HEAD" and not self.heads:
            return Reply(405, {"Allow": "GET"})
        if request.method not in ("GET", "HEAD"):
            return Reply(405, {"Allow": "GET, HEAD"})
        headers = self.headers_of(found)
        if not self.matches(request.headers.get("if-match"), headers.get("ETag", "")):
            return Reply(412)
        if request.method == "HEAD":
            return Reply(200, headers, length=len(found.data))
        if not self.ranges:
            return Reply(200, headers, found.data)
        return with_range(request, found.data, headers | {"Accept-Ranges": "bytes"})

    def matches(self, wanted: str | None, etag: str) -> bool:
        """Weak ETags never match."""
        return wanted in (None, "*") or (wanted == etag and not etag.startswith("W/"))

    def headers_of(self, page: Page) -> dict[str, str]:
        """Weak ETags stay as they are when contents change, as those made of times do within a second."""
        if self.etags == "none":
            return {}
        return {"ETag": f'"{page.etag}"' if self.etags == "strong" else 'W/"1"'}
