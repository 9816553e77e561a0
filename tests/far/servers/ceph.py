"""Ceph with its gateway of S3, of one monitor and one OSD, from Debian's packages."""

import pathlib
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from tests.far.s3_client import S3Client
from tests.far.servers.processes import Processes, free_port

ACCESS_KEY = "AKIDCEPH000000000001"
SECRET_KEY = "the/secret+of+ceph=000000000000000000001"
PROGRAMS = ("ceph-mon", "ceph-mgr", "ceph-osd", "radosgw", "radosgw-admin", "ceph", "monmaptool", "ceph-authtool")


def lacking() -> str:
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    return f"Ceph is not installed (./test --far): {', '.join(missing)}" if missing else ""


def configuration(folder: pathlib.Path, ports: dict[str, int]) -> str:
    """As little as one machine needs: one copy of everything, four groups a pool, and keys between the parts."""
    return f"""[global]
fsid = {uuid.uuid4()}
mon host = [v2:127.0.0.1:{ports["mon v2"]},v1:127.0.0.1:{ports["mon v1"]}]
mon initial members = a
public network = 127.0.0.0/8
ms bind ipv4 = true
ms bind ipv6 = false
auth cluster required = cephx
auth service required = cephx
auth client required = cephx
keyring = {folder}/keyring
run dir = {folder}/run
log file = {folder}/log/$name.log
admin socket = {folder}/run/$name.asok
pid file = {folder}/run/$name.pid
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd pool default pgp num = 4
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
[mon.a]
mon data = {folder}/mon
[osd.0]
osd data = {folder}/osd
osd objectstore = bluestore
bluestore block size = 4294967296
bluestore cache autotune = false
osd memory target = 939524096
[client.rgw]
rgw frontends = beast endpoint=127.0.0.1:{ports["gateway"]} tcp_nodelay=1
rgw relaxed s3 bucket names = true
"""


def make_keys(ceph: Processes, folder: pathlib.Path) -> None:
    rights = {
        "mon.": ["mon", "allow *"],
        "client.admin": ["mon", "allow *", "osd", "allow *", "mgr", "allow *"],
        "osd.0": ["mon", "allow profile osd", "osd", "allow *", "mgr", "allow *"],
        "client.rgw": ["mon", "allow rw", "osd", "allow rwx", "mgr", "allow rw"],
        "mgr.x": ["mon", "allow profile mgr", "osd", "allow *", "mds", "allow *"],
    }
    (folder / "keyring").touch()
    for name, pairs in rights.items():
        caps = [word for at in range(0, len(pairs), 2) for word in ("--cap", *pairs[at : at + 2])]
        ceph.call("ceph-authtool", folder / "keyring", "--gen-key", "-n", name, *caps)


@contextmanager
def started(folder: pathlib.Path) -> Iterator[S3Client]:
    """A gateway with one user, until the end."""
    for name in ("mon", "osd", "mgr", "run", "log"):
        (folder / name).mkdir()
    ports = {name: free_port() for name in ("mon v1", "mon v2", "gateway")}
    (folder / "ceph.conf").write_text(configuration(folder, ports))
    of = ["-c", folder / "ceph.conf"]
    monitor = f"[v2:127.0.0.1:{ports['mon v2']},v1:127.0.0.1:{ports['mon v1']}]"
    identity = next(line for line in (folder / "ceph.conf").read_text().splitlines() if line.startswith("fsid"))[7:]
    with Processes(folder) as ceph:
        make_keys(ceph, folder)
        ceph.call("monmaptool", "--create", "--fsid", identity, "--addv", "a", monitor, folder / "monmap")
        ceph.call("ceph-mon", *of, "-i", "a", "--mkfs", "--monmap", folder / "monmap", "--keyring", folder / "keyring")
        ceph.start("mon", ["ceph-mon", *of, "-i", "a", "-f"])
        ceph.wait_for(ports["mon v1"], "mon")
        ceph.call("ceph", *of, "--connect-timeout", 60, "auth", "import", "-i", folder / "keyring")
        ceph.start("mgr", ["ceph-mgr", *of, "-i", "x", "--mgr-data", folder / "mgr", "-f"])
        ceph.call("ceph", *of, "osd", "create")
        ceph.call("ceph-osd", *of, "-i", 0, "--mkfs")
        ceph.start("osd", ["ceph-osd", *of, "-i", 0, "-f"])
        user = ["--uid", "far", "--display-name", "far", "--access-key", ACCESS_KEY, "--secret-key", SECRET_KEY]
        ceph.call("radosgw-admin", *of, "user", "create", *user)
        ceph.start("gateway", ["radosgw", *of, "-n", "client.rgw", "-f"])
        ceph.wait_for(ports["gateway"], "gateway")
        yield S3Client(f"127.0.0.1:{ports['gateway']}", ACCESS_KEY, SECRET_KEY)
