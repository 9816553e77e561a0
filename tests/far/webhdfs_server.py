"""`WebHdfsCluster` is a NameNode and DataNodes that speak WebHDFS over files in memory, in the forms of Hadoop 2, 3 and HttpFS."""

import dataclasses
import itertools
import json
import ssl
import time
import urllib.parse
from types import TracebackType
from typing import Any, Self

from tests.far.small_server import Reply, Request, SmallServer

PREFIX = "/webhdfs/v1"
BLOCK = 64 << 10


@dataclasses.dataclass
class File:
    data: bytes
    changed: int  # milliseconds since 1970
    number: int


class RemoteError(Exception):
    """Hadoop's class of an error, with the status and the message that WebHDFS gives it."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(status, kind, message)
        self.status = status
        self.kind = kind
        self.message = message

    def reply(self) -> Reply:
        of = {"exception": self.kind, "javaClassName": f"org.apache.hadoop.{self.kind}", "message": self.message}
        return json_reply({"RemoteException": of}, self.status)


def json_reply(value: Any, status: int = 200) -> Reply:
    return Reply(status, {"Content-Type": "application/json"}, json.dumps(value).encode())


def missing(path: str) -> RemoteError:
    return RemoteError(404, "FileNotFoundException", f"File does not exist: {path}")


class Tree:
    """Files and folders by path. Folders are those that have been made, and those above files."""

    def __init__(self) -> None:
        self.files: dict[str, File] = {}
        self.folders: dict[str, File] = {"/": File(b"", 0, 1)}
        self.numbers = itertools.count(2)

    def moment(self) -> int:
        return int(time.time() * 1000)

    def put(self, path: str, data: bytes) -> None:
        self.make_folders(path.rpartition("/")[0] or "/")
        self.files[path] = File(data, self.moment(), next(self.numbers))

    def make_folders(self, path: str) -> None:
        parts = path.strip("/").split("/") if path.strip("/") else []
        for end in range(1, len(parts) + 1):
            folder = "/" + "/".join(parts[:end])
            if folder in self.files:
                raise RemoteError(403, "FileAlreadyExistsException", f"{folder} is a file")
            self.folders.setdefault(folder, File(b"", self.moment(), next(self.numbers)))

    def status(self, path: str, suffix: str) -> dict[str, Any]:
        is_folder = path in self.folders
        if not is_folder and path not in self.files:
            raise missing(path)
        found = self.folders[path] if is_folder else self.files[path]
        return {
            "accessTime": 0, "blockSize": 0 if is_folder else BLOCK, "childrenNum": 0, "fileId": found.number,
            "group": "supergroup", "length": len(found.data), "modificationTime": found.changed, "owner": "tester",
            "pathSuffix": suffix, "permission": "755", "replication": 0 if is_folder else 1, "storagePolicy": 0,
            "type": "DIRECTORY" if is_folder else "FILE",
        }  # fmt: skip

    def children(self, path: str) -> list[dict[str, Any]]:
        """As LISTSTATUS has them, in byte order; a file is its own listing."""
        if path in self.files:
            return [self.status(path, "")]
        if path not in self.folders:
            raise missing(path)
        start = path.rstrip("/") + "/"
        inside = [
            each for each in (*self.files, *self.folders) if each != "/" and each.rpartition("/")[0] + "/" == start
        ]
        return [self.status(each, each.rpartition("/")[2]) for each in sorted(inside, key=lambda each: each.encode())]

    def remove(self, path: str, recursive: bool) -> bool:
        if path in self.files:
            del self.files[path]
            return True
        if path not in self.folders:
            return False
        inside = [each for each in (*self.files, *self.folders) if each.startswith(path.rstrip("/") + "/")]
        if inside and not recursive:
            raise RemoteError(403, "PathIsNotEmptyDirectoryException", f"`{path} is non empty': Directory is not empty")
        for each in (*inside, path):
            self.files.pop(each, None)
            self.folders.pop(each, None)
        return True

    def rename(self, path: str, target: str, overwrite: bool) -> bool:
        """Without `overwrite` False where something has the name, as Hadoop answers."""
        if path not in self.files:
            if overwrite:
                raise missing(path)
            return False
        if target in self.files and not overwrite:
            return False
        if target.rpartition("/")[0] not in ("", *self.folders):
            if overwrite:
                raise missing(target)
            return False
        self.files[target] = self.files.pop(path)
        return True


class DataNode(SmallServer):
    """Gives and takes the bytes of files. `closes`: ends each connection after a reply, as those of Hadoop 2 do."""

    def __init__(self, cluster: "WebHdfsCluster", tls: ssl.SSLContext | None) -> None:
        self.cluster = cluster
        self.closes = True
        super().__init__(tls)

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}"

    def describe(self, request: Request) -> tuple[str, str]:
        return request.parameters.get("op", "").lower(), request.plain_path.removeprefix(PREFIX)

    def serve(self, request: Request) -> Reply:
        try:
            reply = self.cluster.read_or_write(request)
        except RemoteError as error:
            reply = error.reply()
        if self.closes:
            reply.headers["Connection"] = "close"
            request.headers["connection"] = "close"
        return reply


class NameNode(SmallServer):
    """Knows names and redirects to DataNodes."""

    def __init__(self, cluster: "WebHdfsCluster", tls: ssl.SSLContext | None) -> None:
        self.cluster = cluster
        super().__init__(tls)

    def describe(self, request: Request) -> tuple[str, str]:
        return request.parameters.get("op", "").lower(), request.plain_path.removeprefix(PREFIX)

    def serve(self, request: Request) -> Reply:
        try:
            return self.cluster.answer(request)
        except RemoteError as error:
            return error.reply()


class WebHdfsCluster:
    """`httpfs`: the gateway, which redirects to itself for writes and answers reads at once. `batches`: whether there is
    LISTSTATUS_BATCH, of `page` entries. `standby`, `safe_mode`: states of the NameNode. `tokens`: delegation tokens that
    are accepted; if not empty, requests without one are refused. `dead`: DataNodes that the NameNode still names.
    """

    def __init__(self, data_nodes: int = 2, tls: ssl.SSLContext | None = None) -> None:
        self.tree = Tree()
        self.httpfs = False
        self.batches = True
        self.page = 1000
        self.standby = False
        self.safe_mode = False
        self.tokens: set[str] = set()
        self.name_node = NameNode(self, tls)
        self.data_nodes = [DataNode(self, tls) for _ in range(data_nodes)]
        self.turn = itertools.count()
        # The user.name of requests.
        self.users: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        for server in (self.name_node, *self.data_nodes):
            server.close()

    @property
    def address(self) -> str:
        return f"{self.name_node.host}:{self.name_node.port}"

    @property
    def servers(self) -> list[SmallServer]:
        return [self.name_node, *self.data_nodes]

    def put(self, path: str, data: bytes) -> None:
        with self.name_node.lock:
            self.tree.put(path, data)

    def data(self, path: str) -> bytes:
        with self.name_node.lock:
            return self.tree.files[path].data

    # ---- the NameNode ----

    def path_of(self, request: Request) -> str:
        path = request.plain_path
        if not path.startswith(PREFIX):
            raise RemoteError(404, "NotFoundException", path)
        return path.removeprefix(PREFIX).rstrip("/") or "/"

    def check_caller(self, request: Request) -> None:
        names = request.parameters
        self.users.append(names.get("user.name", ""))
        if self.tokens and names.get("delegation") not in self.tokens:
            if "delegation" in names:
                raise RemoteError(403, "InvalidToken", "token (HDFS_DELEGATION_TOKEN) can't be found in cache")
            raise RemoteError(401, "AuthenticationException", "Authentication required")
        if self.standby:
            raise RemoteError(403, "StandbyException", "Operation category READ is not supported in state standby")

    def answer(self, request: Request) -> Reply:
        self.check_caller(request)
        path, operation = self.path_of(request), request.parameters.get("op", "").upper()
        if self.safe_mode and request.method in ("PUT", "POST", "DELETE"):
            raise RemoteError(403, "SafeModeException", f"Cannot create file {path}. Name node is in safe mode.")
        with self.name_node.lock:
            if operation in ("OPEN", "CREATE", "APPEND"):
                return self.redirect(request, path, operation)
            return self.of_names(request, path, operation)

    def of_names(self, request: Request, path: str, operation: str) -> Reply:
        names, tree = request.parameters, self.tree
        if operation == "GETFILESTATUS":
            return json_reply({"FileStatus": tree.status(path, "")})
        if operation == "LISTSTATUS":
            return json_reply({"FileStatuses": {"FileStatus": tree.children(path)}})
        if operation == "LISTSTATUS_BATCH" and self.batches:
            return self.batch_of(path, names.get("startAfter", ""))
        if operation == "MKDIRS":
            tree.make_folders(path)
            return json_reply({"boolean": True})
        if operation == "DELETE":
            return json_reply({"boolean": tree.remove(path, names.get("recursive") == "true")})
        if operation == "RENAME":
            overwrite = names.get("renameoptions", "").upper() == "OVERWRITE"
            renamed = tree.rename(path, names.get("destination", ""), overwrite)
            return Reply(200) if "renameoptions" in names else json_reply({"boolean": renamed})
        if operation == "GETDELEGATIONTOKEN":
            token = f"token-{next(tree.numbers)}"
            self.tokens.add(token)
            return json_reply({"Token": {"urlString": token}})
        if operation == "GETHOMEDIRECTORY":
            return json_reply({"Path": f"/user/{names.get('user.name', 'dr.who')}"})
        raise RemoteError(400, "IllegalArgumentException", f'Invalid value for webhdfs parameter "op": {operation}')

    def batch_of(self, path: str, after: str) -> Reply:
        left = [each for each in self.tree.children(path) if each["pathSuffix"].encode() > after.encode() or not after]
        page = left[: self.page]
        listing = {"partialListing": {"FileStatuses": {"FileStatus": page}}, "remainingEntries": len(left) - len(page)}
        return json_reply({"DirectoryListing": listing})

    def redirect(self, request: Request, path: str, operation: str) -> Reply:
        if operation == "OPEN":
            if path in self.tree.folders:
                raise RemoteError(403, "FileNotFoundException", f"Path is not a file: {path}")
            if path not in self.tree.files:
                raise missing(path)
            self.check_offset(request, path)
            if self.httpfs:
                return self.opened(request, path)
        if self.httpfs and request.parameters.get("data") == "true":
            return self.written(request, path, operation)
        query = [(name, value) for name, value in request.query if name != "user.name"]
        if self.httpfs:
            place, query = self.name_node.url, [*query, ("data", "true")]
        else:
            place, query = self.chosen(request).url, [*query, ("namenoderpcaddress", "127.0.0.1:9820")]
        return Reply(307, {"Location": f"{place}{request.path}?{urllib.parse.urlencode(query)}"})

    def chosen(self, request: Request) -> DataNode:
        excluded = request.parameters.get("excludedatanodes", "").split(",")
        left = [node for node in self.data_nodes if node.address not in excluded]
        if not left:
            raise RemoteError(403, "IOException", "Failed to find datanode, suggest to check cluster health.")
        return left[next(self.turn) % len(left)]

    def check_offset(self, request: Request, path: str) -> None:
        offset, size = int(request.parameters.get("offset", "0")), len(self.tree.files[path].data)
        if offset < 0 or (offset >= size and offset):
            raise RemoteError(403, "IOException", f"Offset={offset} out of the range [0, {size}); OPEN, path={path}")

    # ---- DataNodes ----

    def read_or_write(self, request: Request) -> Reply:
        path, operation = self.path_of(request), request.parameters.get("op", "").upper()
        if self.tokens and request.parameters.get("delegation") not in self.tokens:
            raise RemoteError(403, "InvalidToken", "token (HDFS_DELEGATION_TOKEN) can't be found in cache")
        with self.name_node.lock:
            return self.opened(request, path) if operation == "OPEN" else self.written(request, path, operation)

    def opened(self, request: Request, path: str) -> Reply:
        """Ranges are parameters; a header Range is ignored."""
        if path not in self.tree.files:
            raise missing(path)
        self.check_offset(request, path)
        data, names = self.tree.files[path].data, request.parameters
        begin = int(names.get("offset", "0"))
        end = begin + int(names["length"]) if "length" in names else len(data)
        return Reply(200, {"Content-Type": "application/octet-stream"}, data[begin:end])

    def written(self, request: Request, path: str, operation: str) -> Reply:
        if operation == "CREATE":
            if path in self.tree.files and request.parameters.get("overwrite") != "true":
                raise RemoteError(403, "FileAlreadyExistsException", f"{path} already exists")
            self.tree.put(path, request.body)
            return Reply(201, {"Location": f"hdfs://{self.address}{path}"})
        if operation == "APPEND":
            if path not in self.tree.files:
                raise missing(path)
            self.tree.put(path, self.tree.files[path].data + request.body)
            return Reply(200)
        raise RemoteError(400, "IllegalArgumentException", f'Invalid value for webhdfs parameter "op": {operation}')
