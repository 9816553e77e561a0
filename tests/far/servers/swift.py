"""OpenStack's Swift with its interface of S3, of one device, from Debian's packages."""

import pathlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from tests.far.s3_client import S3Client
from tests.far.servers.processes import Processes, free_port

# As tempauth names its users: account:user.
ACCESS_KEY = "far:tester"
SECRET_KEY = "the_secret_of_swift"
KINDS = ("account", "container", "object")
PROGRAMS = (*(f"swift-{kind}-server" for kind in KINDS), "swift-proxy-server", "swift-ring-builder", "memcached")


def lacking() -> str:
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    return f"Swift is not installed (./test --far): {', '.join(missing)}" if missing else ""


HASHES = """[swift-hash]
swift_hash_path_prefix = far
swift_hash_path_suffix = far
[storage-policy:0]
name = default
default = yes
"""


def of_storage(folder: pathlib.Path, kind: str, port: int) -> str:
    return f"""[DEFAULT]
devices = {folder}/devices
mount_check = false
disable_fallocate = true
bind_ip = 127.0.0.1
bind_port = {port}
swift_dir = {folder}/etc
user = root
workers = 0
[pipeline:main]
pipeline = {kind}-server
[app:{kind}-server]
use = egg:swift#{kind}
"""


FILTERS = ("catch_errors", "gatekeeper", "healthcheck", "memcache", "listing_formats", "bulk", "s3api", "tempauth", "slo",
           "dlo", "copy")  # fmt: skip


def of_proxy(folder: pathlib.Path, port: int, memcached: int) -> str:
    """slo is what uploads in parts are made of."""
    more = {
        "memcache": f"memcache_servers = 127.0.0.1:{memcached}\n",
        "s3api": "location = us-east-1\ns3_acl = false\ncheck_bucket_owner = false\n",
        "tempauth": f"user_far_tester = {SECRET_KEY} .admin\n",
    }
    sections = "".join(f"[filter:{name}]\nuse = egg:swift#{name}\n{more.get(name, '')}" for name in FILTERS)
    return f"""[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
swift_dir = {folder}/etc
user = root
workers = 0
[pipeline:main]
pipeline = {" ".join(FILTERS)} proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
{sections}"""


@contextmanager
def started(folder: pathlib.Path) -> Iterator[S3Client]:
    etc = folder / "etc"
    (folder / "devices/d1").mkdir(parents=True)
    etc.mkdir()
    (etc / "swift.conf").write_text(HASHES)
    ports = {name: free_port() for name in (*KINDS, "memcached", "proxy")}
    with Processes(folder) as swift:
        for kind in KINDS:
            ring = ["swift-ring-builder", etc / f"{kind}.builder"]
            swift.call(*ring, "create", 6, 1, 1)
            swift.call(*ring, "add", f"r1z1-127.0.0.1:{ports[kind]}/d1", 100)
            swift.call(*ring, "rebalance")
            (etc / f"{kind}.conf").write_text(of_storage(folder, kind, ports[kind]))
        (etc / "proxy.conf").write_text(of_proxy(folder, ports["proxy"], ports["memcached"]))
        swift.start("memcached", ["memcached", "-u", "root", "-l", "127.0.0.1", "-p", ports["memcached"], "-m", 32])
        for kind in KINDS:
            swift.start(kind, [f"swift-{kind}-server", etc / f"{kind}.conf"])
            swift.wait_for(ports[kind], kind)
        swift.start("proxy", ["swift-proxy-server", etc / "proxy.conf"])
        swift.wait_for(ports["proxy"], "proxy")
        yield S3Client(f"127.0.0.1:{ports['proxy']}", ACCESS_KEY, SECRET_KEY)
