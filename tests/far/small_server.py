"""`SmallServer` speaks HTTP/1.1 on the loopback, with a thread a connection, and can do to a reply what networks do."""

import contextlib
import dataclasses
import socket
import ssl
import struct
import threading
import time
import urllib.parse
from collections import Counter
from types import TracebackType
from typing import Self

from tests.far.faults import Fault, Faults

PIECE = 1 << 18
REASONS = {200: "OK", 201: "Created", 204: "No Content", 206: "Partial Content", 307: "Temporary Redirect"}
LARGEST_HEAD = 1 << 16


@dataclasses.dataclass
class Request:
    method: str
    path: str  # as it was sent, encoded
    query: list[tuple[str, str]]
    headers: dict[str, str]  # names in lower case
    body: bytes = b""
    tls: bool = False

    @property
    def plain_path(self) -> str:
        return urllib.parse.unquote(self.path)

    @property
    def parameters(self) -> dict[str, str]:
        return dict(self.query)


@dataclasses.dataclass
class Reply:
    status: int = 200
    headers: dict[str, str] = dataclasses.field(default_factory=dict)
    body: bytes = b""
    # A reply to HEAD says the length of the body that it leaves out.
    length: int | None = None


@dataclasses.dataclass
class Seen:
    """A request as tests count it. `range`: first and last byte asked for. `sent`: bytes of the body that went out."""

    kind: str
    key: str
    range: tuple[int, int] | None
    status: int
    sent: int
    received: int


def parsed_range(text: str, size: int) -> tuple[int, int] | None:
    """First and last byte of `bytes=a-b`, cut at the size; None: no range was asked for. ValueError: it is beyond the end."""
    if not text:
        return None
    unit, _, of = text.partition("=")
    first, dash, last = of.partition("-")
    if unit.strip() != "bytes" or not dash or "," in of:
        return None
    if not first:
        begin, end = max(0, size - int(last)), size - 1
    else:
        begin, end = int(first), min(int(last), size - 1) if last else size - 1
    if begin >= size or end < begin:
        raise ValueError("not satisfiable")
    return begin, end


class Ended(Exception):
    """A connection was closed, by either side."""


class Connection:
    """One side of a socket: buffered reads, and writes that count."""

    def __init__(self, socket_: socket.socket) -> None:
        self.socket = socket_
        self.buffer = b""
        self.sent = 0  # of the body of the current reply

    def fill(self) -> None:
        piece = self.socket.recv(PIECE)
        if not piece:
            raise Ended
        self.buffer += piece

    def until(self, end: bytes) -> bytes:
        while end not in self.buffer:
            if len(self.buffer) > LARGEST_HEAD:
                raise Ended
            self.fill()
        head, _, self.buffer = self.buffer.partition(end)
        return head

    def exactly(self, size: int) -> bytes:
        pieces = [self.buffer[:size]]
        self.buffer = self.buffer[size:]
        missing = size - len(pieces[0])
        while missing:
            piece = self.socket.recv(min(missing, PIECE))
            if not piece:
                raise Ended
            pieces.append(piece)
            missing -= len(piece)
        return b"".join(pieces)

    def chunks(self) -> bytes:
        pieces = []
        while size := int(self.until(b"\r\n").partition(b";")[0], 16):
            pieces.append(self.exactly(size))
            self.until(b"\r\n")
        while self.until(b"\r\n"):
            pass
        return b"".join(pieces)

    def request(self, tls: bool) -> Request:
        first, *lines = self.until(b"\r\n\r\n").decode("latin-1").split("\r\n")
        method, target, _ = first.split(" ")
        path, _, query = target.partition("?")
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        made = Request(method, path, urllib.parse.parse_qsl(query, keep_blank_values=True), headers, b"", tls)
        if headers.get("expect", "").lower() == "100-continue":
            self.socket.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        if "chunked" in headers.get("transfer-encoding", "").lower():
            made.body = self.chunks()
        else:
            made.body = self.exactly(int(headers.get("content-length", "0")))
        return made

    def reset(self) -> None:
        """Lets the close send a reset in place of an end."""
        with contextlib.suppress(OSError):
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


class SmallServer:
    """A server until it is closed. A subclass says what requests are (`describe`) and answers them (`serve`).

    `faults` are what goes wrong; `seen` has every request that was answered or cut, `open` the connections now, `opened`
    all of them, `most_open` the most at one time. `delay`: seconds before each reply. `accepting`: False lets new
    connections wait in the queue for ever.
    """

    def __init__(self, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1", port: int = 0) -> None:
        self.faults = Faults()
        self.seen: list[Seen] = []
        self.open = self.opened = self.most_open = 0
        self.answering = 0  # requests
        self.delay = 0.0
        self.accepting = True
        self.tls = tls
        self.host = host
        self.lock = threading.Lock()
        self.closing = threading.Event()
        self.connections: set[socket.socket] = set()
        self.listener = socket.create_server((host, port), backlog=1024)
        self.port = self.listener.getsockname()[1]
        self.listener.settimeout(0.05)
        self.acceptor = threading.Thread(target=self.accept, name="small-server", daemon=True)
        self.acceptor.start()

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://{self.host}:{self.port}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self.closing.set()
        self.listener.close()
        with self.lock:
            left = list(self.connections)
        for each in left:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self.acceptor.join()

    # ---- what subclasses say ----

    def describe(self, request: Request) -> tuple[str, str]:
        """The kind of a request and the key that it is about."""
        return request.method.lower(), request.plain_path

    def serve(self, request: Request) -> Reply:
        raise NotImplementedError

    # ---- what tests ask ----

    def requests(self, *kinds: str, key: str | None = None) -> list[Seen]:
        with self.lock:
            return [each for each in self.seen if (not kinds or each.kind in kinds) and key in (None, each.key)]

    def counts(self) -> Counter[str]:
        with self.lock:
            return Counter(each.kind for each in self.seen)

    def sent(self, *kinds: str) -> int:
        """Bytes of bodies that went out."""
        return sum(each.sent for each in self.requests(*kinds))

    def forget(self) -> None:
        """Begins the counts anew."""
        with self.lock:
            self.seen.clear()
            self.opened, self.most_open = self.open, self.open

    # ---- connections ----

    def accept(self) -> None:
        while not self.closing.is_set():
            if not self.accepting:
                self.closing.wait(0.01)
                continue
            try:
                accepted, _ = self.listener.accept()
            except TimeoutError:
                continue
            except OSError:
                return
            accepted.settimeout(None)
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.converse, args=(accepted,), name="small-server", daemon=True).start()

    def converse(self, accepted: socket.socket) -> None:
        with self.lock:
            self.connections.add(accepted)
            self.open += 1
            self.opened += 1
            self.most_open = max(self.most_open, self.open)
        spoken = accepted
        try:
            if self.tls is not None:
                spoken = self.tls.wrap_socket(accepted, server_side=True, do_handshake_on_connect=False)
                with self.lock:
                    self.connections.add(spoken)
                spoken.do_handshake()
            connection = Connection(spoken)
            while not self.closing.is_set():
                if not self.answer(connection, connection.request(self.tls is not None)):
                    return
        except (Ended, OSError, ValueError):
            pass
        finally:
            with self.lock:
                self.connections -= {accepted, spoken}
                self.open -= 1
            for each in (spoken, accepted):
                with contextlib.suppress(OSError):
                    each.close()

    def answer(self, connection: Connection, request: Request) -> bool:
        """Whether the connection goes on."""
        kind, key = self.describe(request)
        fault = self.faults.of(kind, key) or Fault()
        if self.delay:
            self.closing.wait(self.delay)
        if fault.before is not None:
            fault.before()
        if fault.whole:
            asked, request.headers["range"] = request.headers.get("range", ""), ""
        else:
            asked = request.headers.get("range", "")
        reply = self.reply_with(fault, request)
        connection.sent = 0
        # Before the reply: whoever has read it may count at once.
        seen = Seen(kind, key, range_asked(asked), reply.status, 0, len(request.body))
        self.note(seen)
        with self.lock:
            self.answering += 1
        try:
            goes_on = self.send(connection, request, reply, fault)
        finally:
            with self.lock:
                self.answering -= 1
            seen.sent = connection.sent
        return goes_on and request.headers.get("connection", "").lower() != "close"

    def reply_with(self, fault: Fault, request: Request) -> Reply:
        if fault.status:
            after = {} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}
            return Reply(fault.status, after, fault.body)
        reply = self.serve(request)
        if fault.shifted and "Content-Range" in reply.headers:
            first, _, rest = reply.headers["Content-Range"].removeprefix("bytes ").partition("-")
            last, _, size = rest.partition("/")
            moved = f"bytes {int(first) + fault.shifted}-{int(last) + fault.shifted}/{size}"
            reply.headers["Content-Range"] = moved
        if fault.change is not None:
            fault.change(reply)
        return reply

    def send(self, connection: Connection, request: Request, reply: Reply, fault: Fault) -> bool:
        """Whether the connection goes on."""
        if fault.lost or fault.cut == -1:
            return False
        if fault.reset == -1:
            connection.reset()
            return False
        if fault.stalled == -1:
            self.closing.wait(fault.seconds)
        body = b"" if request.method == "HEAD" or reply.status in (204, 304) else reply.body
        length = len(reply.body) if reply.length is None else reply.length
        head = [f"HTTP/1.1 {reply.status} {REASONS.get(reply.status, 'Status')}"]
        headers = {"Date": http_date(time.time()), "Server": "small"} | reply.headers
        if reply.status not in (204, 304):
            headers["Content-Length"] = str(length)
        head += [f"{name}: {value}" for name, value in headers.items()]
        connection.socket.sendall("\r\n".join([*head, "", ""]).encode("latin-1"))
        return self.send_body(connection, memoryview(body), fault)

    def send_body(self, connection: Connection, body: memoryview, fault: Fault) -> bool:
        ends = [end for end in (fault.cut, fault.reset, fault.stalled) if end is not None and end >= 0]
        stop = min([*ends, len(body)])
        while connection.sent < stop:
            piece = body[connection.sent : min(stop, connection.sent + (1 if fault.trickle else PIECE))]
            connection.socket.sendall(piece)
            connection.sent += len(piece)
            if fault.trickle and self.closing.wait(1 / fault.trickle):
                raise Ended
        if fault.reset is not None:
            connection.reset()
        if fault.reset is not None or fault.cut is not None:
            return False
        if connection.sent < len(body):
            self.closing.wait(fault.seconds)
            connection.socket.sendall(body[stop:])
            connection.sent = len(body)
        return True

    def note(self, seen: Seen) -> None:
        with self.lock:
            self.seen.append(seen)


def range_asked(text: str) -> tuple[int, int] | None:
    try:
        return parsed_range(text, 1 << 62)
    except ValueError:
        return None


def http_date(seconds: float) -> str:
    """Of the C locale, whatever the process's is."""
    moment = time.gmtime(seconds)
    day = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")[moment.tm_wday]
    month = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()[moment.tm_mon - 1]
    return f"{day}, {moment.tm_mday:02} {month} {time.strftime('%Y %H:%M:%S', moment)} GMT"


def with_range(request: Request, data: bytes, headers: dict[str, str]) -> Reply:
    """The data or what the request's Range wants of it."""
    size = len(data)
    try:
        wanted = parsed_range(request.headers.get("range", ""), size)
    except ValueError:
        return Reply(416, headers | {"Content-Range": f"bytes */{size}"})
    if wanted is None:
        return Reply(200, headers, data)
    first, last = wanted
    said = headers | {"Content-Range": f"bytes {first}-{last}/{size}"}
    return Reply(206, said, data[first : last + 1])
