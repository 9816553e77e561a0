"""Hadoop's NameNode and DataNode of 2.7.3, from the jars that tools/check/far_servers.py keeps: plain, or with Kerberos."""

import dataclasses
import json
import pathlib
import shutil
import signal
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

from tests.far.servers.kerberos import Realm
from tests.far.servers.processes import Processes, free_port
from tools.check.far_servers import HADOOP, hadoop_is_whole

NODES = "org.apache.hadoop.hdfs.server"
# Small ones, so that records cross them.
BLOCK = 64 << 10

# What Java 17 must let the Java of 2016 see.
OPENED = {
    "java.base": ["java.lang", "java.nio", "sun.nio.ch", "java.util", "java.io", "java.net", "java.lang.reflect",
                  "jdk.internal.ref", "sun.net.dns", "sun.net.util"],
    "java.security.jgss": ["sun.security.jgss", "sun.security.jgss.krb5", "sun.security.krb5",
                           "sun.security.krb5.internal.ktab"],
}  # fmt: skip


def lacking() -> str:
    if shutil.which("java") is None:
        return "HDFS is not installed (./test --far): java"
    return "" if hadoop_is_whole() else f"HDFS is not installed (./test --far): the jars in {HADOOP}"


def options_of_java() -> list[str]:
    pairs = [f"{module}/{package}=ALL-UNNAMED" for module, packages in OPENED.items() for package in packages]
    return [f"--add-{what}={pair}" for pair in pairs for what in ("opens", "exports")]


def settings_file(path: pathlib.Path, settings: dict[str, object]) -> None:
    lines = "".join(
        f"<property><name>{name}</name><value>{value}</value></property>\n" for name, value in settings.items()
    )
    path.write_text(f"<configuration>\n{lines}</configuration>\n")


@dataclasses.dataclass
class Cluster:
    """`address`: of the NameNode's WebHDFS."""

    processes: Processes
    java: list[object]
    address: str
    node_port: int

    def live_nodes(self) -> int:
        question = f"http://{self.address}/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState"
        with urllib.request.urlopen(question, timeout=30) as answer:
            found: int = json.load(answer)["beans"][0]["NumLiveDataNodes"]
        return found

    def wait_for_nodes(self, seconds: float = 90) -> None:
        """Until the NameNode knows the DataNode, which listens before. Files cannot be written without."""
        end = time.monotonic() + seconds
        while not self.live_nodes():
            if time.monotonic() > end:
                raise RuntimeError("the DataNode does not register")
            time.sleep(0.1)

    def stop_node(self) -> None:
        self.processes.stop("datanode", signal.SIGKILL)

    def start_node(self) -> None:
        self.processes.start("datanode", [*self.java, f"{NODES}.datanode.DataNode"])
        self.processes.wait_for(self.node_port, "datanode")


def core_settings(folder: pathlib.Path, port: int, realm: Realm | None) -> dict[str, object]:
    made: dict[str, object] = {"fs.defaultFS": f"hdfs://localhost:{port}", "hadoop.tmp.dir": folder / "tmp"}
    if realm is not None:
        made |= {"hadoop.security.authentication": "kerberos", "hadoop.security.authorization": "true"}
    return made


def node_settings(folder: pathlib.Path, ports: dict[str, int], realm: Realm | None) -> dict[str, object]:
    made: dict[str, object] = {
        "dfs.replication": 1,
        "dfs.blocksize": BLOCK,
        "dfs.namenode.fs-limits.min-block-size": BLOCK,
        "dfs.namenode.name.dir": f"file://{folder}/names",
        "dfs.datanode.data.dir": f"file://{folder}/blocks",
        "dfs.namenode.http-address": f"localhost:{ports['names']}",
        "dfs.namenode.secondary.http-address": "localhost:0",
        "dfs.datanode.address": "127.0.0.1:0",
        "dfs.datanode.http.address": f"127.0.0.1:{ports['node']}",
        "dfs.datanode.ipc.address": "127.0.0.1:0",
        "dfs.datanode.hostname": "localhost",
        "dfs.webhdfs.enabled": "true",
        "dfs.permissions.enabled": "false",
        "dfs.namenode.datanode.registration.ip-hostname-check": "false",
    }
    if realm is not None:
        service = {"principal": "hdfs/localhost@FAR.TEST", "keytab.file": realm.keytab}
        made |= {f"dfs.{node}.{name}": value for node in ("namenode", "datanode") for name, value in service.items()}
        for node in ("namenode", "datanode"):
            made[f"dfs.{node}.kerberos.principal"] = made.pop(f"dfs.{node}.principal")
        made |= {
            "dfs.block.access.token.enable": "true",
            "dfs.web.authentication.kerberos.principal": "HTTP/localhost@FAR.TEST",
            "dfs.web.authentication.kerberos.keytab": realm.keytab,
            "ignore.secure.ports.for.testing": "true",
        }
    return made


def make_web_pages(folder: pathlib.Path) -> None:
    """The jars lack their pages, without which the nodes do not start."""
    for node in ("hdfs", "datanode"):
        place = folder / "webapps" / node / "WEB-INF"
        place.mkdir(parents=True)
        (place / "web.xml").write_text("<web-app/>\n")
    (folder / "webapps/static").mkdir()


@contextmanager
def started(folder: pathlib.Path, realm: Realm | None = None) -> Iterator[Cluster]:
    """A cluster of one DataNode, until the end."""
    ports = {name: free_port() for name in ("calls", "names", "node")}
    settings = folder / "settings"
    settings.mkdir()
    make_web_pages(settings)
    settings_file(settings / "core-site.xml", core_settings(folder, ports["calls"], realm))
    settings_file(settings / "hdfs-site.xml", node_settings(folder, ports, realm))
    (settings / "log4j.properties").write_text(
        "log4j.rootLogger=WARN, A\nlog4j.appender.A=org.apache.log4j.ConsoleAppender\nlog4j.appender.A.layout=org.apache.log4j.SimpleLayout\n"
    )
    environment = {} if realm is None else realm.environment
    kerberos = [] if realm is None else [f"-Djava.security.krb5.conf={realm.configuration}"]
    paths = ":".join(map(str, [settings, *sorted(HADOOP.glob("*.jar"))]))
    java: list[object] = [
        "java",
        "-Xmx256m",
        "-Djava.net.preferIPv4Stack=true",
        f"-Dhadoop.log.dir={folder}",
        *kerberos,
    ]
    java += [*options_of_java(), "-cp", paths]
    with Processes(folder, environment) as processes:
        processes.call(*java, f"{NODES}.namenode.NameNode", "-format", "-force")
        processes.start("namenode", [*java, f"{NODES}.namenode.NameNode"])
        processes.wait_for(ports["names"], "namenode")
        cluster = Cluster(processes, java, f"localhost:{ports['names']}", ports["node"])
        cluster.start_node()
        cluster.wait_for_nodes()
        yield cluster
