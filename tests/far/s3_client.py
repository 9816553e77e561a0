"""Single signed requests to a store of S3, by code that shares nothing with the engine's: what fills stores and looks into them."""

import dataclasses
import http.client
import time
import urllib.parse

from tests.far import signature


@dataclasses.dataclass(frozen=True)
class S3Client:
    """`address`: "127.0.0.1:7480"."""

    address: str
    access_key: str
    secret_key: str
    region: str = "us-east-1"

    def signed(self, method: str, path: str, query: str) -> dict[str, str]:
        """The headers of a request, with its signature."""
        moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        made = {"host": self.address, "x-amz-content-sha256": signature.UNSIGNED, "x-amz-date": moment}
        scope = f"{moment[:8]}/{self.region}/s3/aws4_request"
        pairs = urllib.parse.parse_qsl(query, keep_blank_values=True)
        canonical = signature.canonical_request(method, path, pairs, made, sorted(made), signature.UNSIGNED)
        text = signature.string_to_sign(moment, scope, canonical)
        digest = signature.signature_of(self.secret_key, moment[:8], self.region, "s3", text)
        made["authorization"] = (
            f"AWS4-HMAC-SHA256 Credential={self.access_key}/{scope}, SignedHeaders={';'.join(sorted(made))}, "
            f"Signature={digest}"
        )
        return made

    def ask(
        self, method: str, path: str, query: str = "", body: bytes = b"", headers: dict[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        """`path` and `query` encoded. Returns status, headers and body."""
        connection = http.client.HTTPConnection(self.address, timeout=30)
        try:
            target = f"{path}?{query}" if query else path
            connection.request(method, target, body, self.signed(method, path, query) | (headers or {}))
            reply = connection.getresponse()
            return reply.status, {name.lower(): value for name, value in reply.getheaders()}, reply.read()
        finally:
            connection.close()

    def make_bucket(self, bucket: str) -> None:
        self.done("PUT", f"/{bucket}")

    def put(self, bucket: str, key: str, data: bytes) -> None:
        self.done("PUT", self.path_of(bucket, key), data)

    def remove(self, bucket: str, key: str) -> None:
        self.done("DELETE", self.path_of(bucket, key))

    def data(self, bucket: str, key: str) -> bytes:
        return self.done("GET", self.path_of(bucket, key))

    def path_of(self, bucket: str, key: str) -> str:
        return f"/{bucket}/{signature.encoded(key, '/')}"

    def done(self, method: str, path: str, body: bytes = b"") -> bytes:
        status, _, said = self.ask(method, path, "", body)
        if status not in (200, 204):
            raise RuntimeError(f"{method} {path}: {status} {said[:300]!r}")
        return said
