"""Checks signatures of requests to S3, version 4, from its published description; shares no code with the engine's signer."""

import calendar
import dataclasses
import hashlib
import hmac
import re
import time
import urllib.parse
from collections.abc import Mapping, Sequence

UNSIGNED = "UNSIGNED-PAYLOAD"
# A clock may be off by a quarter of an hour.
LARGEST_SKEW = 15 * 60
AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 +Credential=(?P<credential>[^, ]+), *SignedHeaders=(?P<signed>[^, ]+), *Signature=(?P<signature>[0-9a-f]{64})"
)


class Refusal(Exception):
    """Why a request is refused, with S3's code."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(status, code, message)
        self.status = status
        self.code = code
        self.message = message


@dataclasses.dataclass(frozen=True)
class Key:
    """What a user signs with. With a `token`, requests must carry it; those in `expired` are refused as such."""

    secret: str
    token: str = ""
    expired: frozenset[str] = frozenset()


def encoded(text: str, keep: str = "") -> str:
    return urllib.parse.quote(text, safe="-_.~" + keep)


def canonical_query(query: Sequence[tuple[str, str]]) -> str:
    return "&".join(f"{name}={value}" for name, value in sorted((encoded(n), encoded(v)) for n, v in query))


def canonical_request(
    method: str,
    path: str,
    query: Sequence[tuple[str, str]],
    headers: Mapping[str, str],
    signed: Sequence[str],
    payload: str,
) -> str:
    """`path` as it was sent. S3 signs it encoded once."""
    once = encoded(urllib.parse.unquote(path), "/") or "/"
    lines = [f"{name}:{' '.join(headers.get(name, '').split())}\n" for name in signed]
    return "\n".join([method, once, canonical_query(query), "".join(lines), ";".join(signed), payload])


def signing_key(secret: str, date: str, region: str, service: str) -> bytes:
    key = f"AWS4{secret}".encode()
    for part in (date, region, service, "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key


def signature_of(secret: str, date: str, region: str, service: str, text: str) -> str:
    return hmac.new(signing_key(secret, date, region, service), text.encode(), hashlib.sha256).hexdigest()


def string_to_sign(moment: str, scope: str, canonical: str) -> str:
    return "\n".join(["AWS4-HMAC-SHA256", moment, scope, hashlib.sha256(canonical.encode()).hexdigest()])


def seconds_of(moment: str) -> int:
    try:
        return calendar.timegm(time.strptime(moment, "%Y%m%dT%H%M%SZ"))
    except ValueError:
        raise Refusal(403, "AccessDenied", "x-amz-date is missing or not a time") from None


def check(
    method: str,
    path: str,
    query: Sequence[tuple[str, str]],
    headers: Mapping[str, str],
    body: bytes,
    keys: Mapping[str, Key],
    now: float,
    region: str = "",
) -> str:
    """Returns the access key that signed; raises Refusal. `headers` have names in lower case. `region`: any, if empty."""
    found = AUTHORIZATION.fullmatch(headers.get("authorization", ""))
    if found is None:
        raise Refusal(403, "AccessDenied", "Access Denied")
    try:
        access, date, signed_region, service, end = found["credential"].rsplit("/", 4)
    except ValueError:
        raise Refusal(400, "AuthorizationHeaderMalformed", "the credential is malformed") from None
    moment = headers.get("x-amz-date", "")
    if abs(seconds_of(moment) - now) > LARGEST_SKEW:
        raise Refusal(
            403, "RequestTimeTooSkewed", "The difference between the request time and the current time is too large."
        )
    if (service, end) != ("s3", "aws4_request") or not moment.startswith(date):
        raise Refusal(400, "AuthorizationHeaderMalformed", "the scope of the credential is wrong")
    if region and region != signed_region:
        raise Refusal(
            400, "AuthorizationHeaderMalformed", f"the region '{signed_region}' is wrong; expecting '{region}'"
        )
    key = keys.get(access)
    if key is None:
        raise Refusal(403, "InvalidAccessKeyId", "The access key Id you provided does not exist in our records.")
    check_token(headers, key)
    signed = found["signed"].split(";")
    check_signed_headers(headers, signed)
    payload = checked_payload(headers, body)
    canonical = canonical_request(method, path, query, headers, signed, payload)
    text = string_to_sign(moment, "/".join((date, signed_region, service, end)), canonical)
    expected = signature_of(key.secret, date, signed_region, service, text)
    if not hmac.compare_digest(expected, found["signature"]):
        raise Refusal(
            403,
            "SignatureDoesNotMatch",
            "The request signature we calculated does not match the signature you provided.",
        )
    return access


def check_token(headers: Mapping[str, str], key: Key) -> None:
    if headers.get("x-amz-security-token", "") in key.expired:
        raise Refusal(400, "ExpiredToken", "The provided token has expired.")
    if headers.get("x-amz-security-token", "") != key.token:
        raise Refusal(403, "InvalidToken", "The provided token is malformed or otherwise invalid.")


def check_signed_headers(headers: Mapping[str, str], signed: Sequence[str]) -> None:
    """`host` and every header of AWS's own must be signed, in order."""
    due = {"host", *(name for name in headers if name.startswith("x-amz-"))}
    if list(signed) != sorted(signed) or not due <= set(signed):
        raise Refusal(403, "AccessDenied", "There were headers present in the request which were not signed")


def checked_payload(headers: Mapping[str, str], body: bytes) -> str:
    payload = headers.get("x-amz-content-sha256")
    if payload is None:
        raise Refusal(400, "InvalidRequest", "Missing required header for this request: x-amz-content-sha256")
    if payload != UNSIGNED and payload != hashlib.sha256(body).hexdigest():
        raise Refusal(
            400,
            "XAmzContentSHA256Mismatch",
            "The provided 'x-amz-content-sha256' header does not match what was computed.",
        )
    return payload
