"""`S3Server` is a small store with the forms of S3 that Headrace uses: it checks signatures, and lists, reads and writes objects."""

import base64
import dataclasses
import hashlib
import itertools
import re
import ssl
import time
import urllib.parse
import xml.etree.ElementTree as ElementTree
from xml.sax.saxutils import escape

from tests.far.signature import Key, Refusal, check
from tests.far.small_server import Reply, Request, SmallServer, http_date, with_range

ACCESS_KEY = "AKIDSMALLSERVER"
SECRET_KEY = "small/secret+of=the server"
REGION = "far-1"
SMALLEST_PART = 5 << 20
NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"


@dataclasses.dataclass
class Object:
    data: bytes
    etag: str
    changed: float


@dataclasses.dataclass
class Upload:
    bucket: str
    key: str
    parts: dict[int, Object] = dataclasses.field(default_factory=dict)


def etag_of(data: bytes) -> str:
    return f'"{hashlib.md5(data).hexdigest()}"'


def xml_reply(status: int, text: str) -> Reply:
    body = f'<?xml version="1.0" encoding="UTF-8"?>\n{text}'.encode()
    return Reply(status, {"Content-Type": "application/xml"}, body)


def error_reply(refusal: Refusal, request: Request) -> Reply:
    resource = escape(request.plain_path)
    return xml_reply(
        refusal.status,
        f"<Error><Code>{refusal.code}</Code><Message>{escape(refusal.message)}</Message>"
        f"<Resource>{resource}</Resource><RequestId>small-1</RequestId></Error>",
    )


def no_such_key(key: str) -> Refusal:
    return Refusal(404, "NoSuchKey", f"The specified key does not exist: {key}")


class S3Server(SmallServer):
    """`keys`: whom it knows, by access key; `public`: buckets that need no signature; `clock`: seconds that its clock is
    ahead; `page`: the most keys of a page of a listing; `region`: the only one it accepts, if not empty. Path style, and
    `bucket.localhost` in the Host.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.keys = {ACCESS_KEY: Key(SECRET_KEY)}
        self.public: set[str] = set()
        self.clock = 0.0
        self.page = 1000
        self.region = ""
        self.smallest_part = SMALLEST_PART
        # Stores that do not know conditional writes answer 501, as OpenStack's Swift does.
        self.conditional_writes = True
        self.buckets: dict[str, dict[str, Object]] = {}
        self.uploads: dict[str, Upload] = {}
        self.upload_numbers = itertools.count(1)
        super().__init__(tls)

    # ---- what tests put and look at ----

    def put(self, bucket: str, key: str, data: bytes) -> None:
        with self.lock:
            self.buckets.setdefault(bucket, {})[key] = Object(data, etag_of(data), time.time())

    def remove(self, bucket: str, key: str) -> None:
        with self.lock:
            del self.buckets[bucket][key]

    def data(self, bucket: str, key: str) -> bytes:
        with self.lock:
            return self.buckets[bucket][key].data

    def names(self, bucket: str) -> list[str]:
        with self.lock:
            return sorted(self.buckets.get(bucket, {}), key=lambda name: name.encode())

    # ---- requests ----

    def place(self, request: Request) -> tuple[str, str]:
        """Bucket and key."""
        host = request.headers.get("host", "").partition(":")[0]
        path = request.plain_path.removeprefix("/")
        if host.endswith(".localhost"):
            return host.removesuffix(".localhost"), path
        bucket, _, key = path.partition("/")
        return bucket, key

    def describe(self, request: Request) -> tuple[str, str]:
        bucket, key = self.place(request)
        names = request.parameters
        if not key:
            return ("list" if request.method == "GET" else request.method.lower()), names.get("prefix", "")
        if request.method == "POST":
            return ("create" if "uploads" in names else "complete"), key
        if "uploadId" in names:
            return {"PUT": "part", "DELETE": "abort", "GET": "parts"}.get(request.method, "other"), key
        return request.method.lower(), key

    def serve(self, request: Request) -> Reply:
        bucket, key = self.place(request)
        try:
            if bucket not in self.public or "authorization" in request.headers:
                check(
                    request.method, request.path, request.query, request.headers, request.body, self.keys,
                    time.time() + self.clock, self.region,
                )  # fmt: skip
            with self.lock:
                reply = self.answer_signed(request, bucket, key)
        except Refusal as refusal:
            reply = error_reply(refusal, request)
        reply.headers["Date"] = http_date(time.time() + self.clock)
        if self.region:
            reply.headers["x-amz-bucket-region"] = self.region
        reply.headers["x-amz-request-id"] = "small-1"
        return reply

    def answer_signed(self, request: Request, bucket: str, key: str) -> Reply:
        kind, _ = self.describe(request)
        if bucket not in self.buckets:
            if kind != "put" or key:
                raise Refusal(404, "NoSuchBucket", "The specified bucket does not exist")
            self.buckets[bucket] = {}
            return Reply(200)
        of = {"list": self.listing, "get": self.get, "head": self.get, "put": self.put_object, "create": self.create,
              "part": self.part, "complete": self.complete, "abort": self.abort, "delete": self.delete}  # fmt: skip
        if kind not in of:
            raise Refusal(501, "NotImplemented", f"not implemented: {kind}")
        return of[kind](request, bucket, key)

    def found(self, bucket: str, key: str) -> Object:
        if key not in self.buckets[bucket]:
            raise no_such_key(key)
        return self.buckets[bucket][key]

    def get(self, request: Request, bucket: str, key: str) -> Reply:
        if not key:  # HEAD of the bucket
            return Reply(200)
        found = self.found(bucket, key)
        wanted = request.headers.get("if-match")
        if wanted is not None and wanted not in (found.etag, "*"):
            raise Refusal(412, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold")
        headers = {"ETag": found.etag, "Last-Modified": http_date(found.changed), "Accept-Ranges": "bytes"}
        if request.method == "HEAD":
            return Reply(200, headers, length=len(found.data))
        reply = with_range(request, found.data, headers)
        if reply.status == 416:
            raise Refusal(416, "InvalidRange", "The requested range is not satisfiable")
        return reply

    def listing(self, request: Request, bucket: str, _key: str) -> Reply:
        names = request.parameters
        if names.get("list-type") != "2":
            raise Refusal(501, "NotImplemented", "only version 2 of the listing is known")
        prefix, delimiter = names.get("prefix", ""), names.get("delimiter", "")
        after = base64.b64decode(names.get("continuation-token", "")).decode() or names.get("start-after", "")
        most = min(self.page, int(names.get("max-keys", "1000")))
        entries, is_cut = self.page_of(bucket, prefix, delimiter, after, most)
        written = (lambda text: urllib.parse.quote(text, safe="/")) if names.get("encoding-type") == "url" else escape
        lines = [f"<Name>{bucket}</Name><Prefix>{written(prefix)}</Prefix><KeyCount>{len(entries)}</KeyCount>"]
        lines += [f"<MaxKeys>{most}</MaxKeys><IsTruncated>{str(is_cut).lower()}</IsTruncated>"]
        if "encoding-type" in names:
            lines.append("<EncodingType>url</EncodingType>")
        if is_cut:
            token = base64.b64encode(entries[-1].encode()).decode()
            lines.append(f"<NextContinuationToken>{token}</NextContinuationToken>")
        for entry in entries:
            if delimiter and entry.endswith(delimiter) and entry not in self.buckets[bucket]:
                lines.append(f"<CommonPrefixes><Prefix>{written(entry)}</Prefix></CommonPrefixes>")
                continue
            found = self.buckets[bucket][entry]
            moment = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(found.changed))
            lines.append(
                f"<Contents><Key>{written(entry)}</Key><LastModified>{moment}</LastModified>"
                f"<ETag>{escape(found.etag, {chr(34): '&quot;'})}</ETag><Size>{len(found.data)}</Size>"
                "<StorageClass>STANDARD</StorageClass></Contents>"
            )
        return xml_reply(200, f'<ListBucketResult xmlns="{NAMESPACE}">{"".join(lines)}</ListBucketResult>')

    def page_of(self, bucket: str, prefix: str, delimiter: str, after: str, most: int) -> tuple[list[str], bool]:
        """Keys, and common prefixes, in byte order; whether there are more."""
        entries: list[str] = []
        for name in sorted(self.buckets[bucket], key=lambda name: name.encode()):
            if not name.startswith(prefix):
                continue
            head, found, _ = name[len(prefix) :].partition(delimiter) if delimiter else (name, "", "")
            entry = prefix + head + delimiter if found else name
            if entry.encode() <= after.encode() or (entries and entries[-1] == entry):
                continue
            if len(entries) == most:
                return entries, True
            entries.append(entry)
        return entries, False

    # ---- writing ----

    def put_object(self, request: Request, bucket: str, key: str) -> Reply:
        if not key:
            return Reply(200)
        self.check_absent(request, bucket, key)
        self.check_digest(request)
        self.buckets[bucket][key] = made = Object(request.body, etag_of(request.body), time.time())
        return Reply(200, {"ETag": made.etag})

    def check_absent(self, request: Request, bucket: str, key: str) -> None:
        if "if-none-match" not in request.headers:
            return
        if not self.conditional_writes:
            raise Refusal(501, "NotImplemented", "A header you provided implies functionality that is not implemented")
        if key in self.buckets[bucket]:
            raise Refusal(412, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold")

    def check_digest(self, request: Request) -> None:
        digest = request.headers.get("content-md5")
        if digest is not None and base64.b64decode(digest) != hashlib.md5(request.body).digest():
            raise Refusal(400, "BadDigest", "The Content-MD5 you specified did not match what we received.")

    def create(self, _request: Request, bucket: str, key: str) -> Reply:
        number = f"upload {next(self.upload_numbers)}/+="
        self.uploads[number] = Upload(bucket, key)
        text = f"<Bucket>{bucket}</Bucket><Key>{escape(key)}</Key><UploadId>{escape(number)}</UploadId>"
        return xml_reply(
            200, f'<InitiateMultipartUploadResult xmlns="{NAMESPACE}">{text}</InitiateMultipartUploadResult>'
        )

    def upload_of(self, request: Request, bucket: str, key: str) -> Upload:
        upload = self.uploads.get(request.parameters["uploadId"])
        if upload is None or (upload.bucket, upload.key) != (bucket, key):
            raise Refusal(404, "NoSuchUpload", "The specified multipart upload does not exist.")
        return upload

    def part(self, request: Request, bucket: str, key: str) -> Reply:
        upload = self.upload_of(request, bucket, key)
        number = int(request.parameters["partNumber"])
        if not 1 <= number <= 10000:
            raise Refusal(400, "InvalidArgument", "Part number must be an integer between 1 and 10000, inclusive")
        self.check_digest(request)
        upload.parts[number] = made = Object(request.body, etag_of(request.body), time.time())
        return Reply(200, {"ETag": made.etag})

    def complete(self, request: Request, bucket: str, key: str) -> Reply:
        upload = self.upload_of(request, bucket, key)
        self.check_absent(request, bucket, key)
        parts = self.parts_named(request.body, upload)
        if any(len(part.data) < self.smallest_part for part in parts[:-1]):
            raise Refusal(400, "EntityTooSmall", "Your proposed upload is smaller than the minimum allowed size")
        digests = b"".join(bytes.fromhex(part.etag.strip('"')) for part in parts)
        etag = f'"{hashlib.md5(digests).hexdigest()}-{len(parts)}"'
        self.buckets[bucket][key] = Object(b"".join(part.data for part in parts), etag, time.time())
        del self.uploads[request.parameters["uploadId"]]
        text = f"<Bucket>{bucket}</Bucket><Key>{escape(key)}</Key><ETag>{escape(etag)}</ETag>"
        return xml_reply(
            200, f'<CompleteMultipartUploadResult xmlns="{NAMESPACE}">{text}</CompleteMultipartUploadResult>'
        )

    def parts_named(self, body: bytes, upload: Upload) -> list[Object]:
        try:
            root = ElementTree.fromstring(re.sub(rb' xmlns="[^"]+"', b"", body, count=1))
        except ElementTree.ParseError:
            raise Refusal(400, "MalformedXML", "The XML you provided was not well-formed") from None
        named = [(int(part.findtext("PartNumber", "0")), part.findtext("ETag", "")) for part in root.iter("Part")]
        if not named or [number for number, _ in named] != sorted({number for number, _ in named}):
            raise Refusal(400, "InvalidPartOrder", "The list of parts was not in ascending order.")
        for number, etag in named:
            if number not in upload.parts or upload.parts[number].etag.strip('"') != etag.strip('"'):
                raise Refusal(400, "InvalidPart", "One or more of the specified parts could not be found.")
        return [upload.parts[number] for number, _ in named]

    def abort(self, request: Request, bucket: str, key: str) -> Reply:
        self.upload_of(request, bucket, key)
        del self.uploads[request.parameters["uploadId"]]
        return Reply(204)

    def delete(self, _request: Request, bucket: str, key: str) -> Reply:
        self.buckets[bucket].pop(key, None)
        return Reply(204)
