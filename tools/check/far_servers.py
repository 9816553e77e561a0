"""Installs the stores that tests of far files run: Ceph, Swift, Kerberos, and Hadoop's nodes from the jars of a package of PyPI."""

import os
import pathlib
import shutil
import sys
import tarfile
import tempfile

from tools.check.deadline import Deadline, StillRunning

# By what tests call the store. Java is for HDFS.
PACKAGES = {
    "Ceph": ["ceph-common", "ceph-mgr", "ceph-mon", "ceph-osd", "radosgw"],
    "Swift": ["memcached", "swift-account", "swift-container", "swift-object", "swift-proxy"],
    "HDFS": [
        "curl",
        "libasm-java",
        "libjersey1-core-java",
        "libjersey1-json-java",
        "libjersey1-server-java",
        "libjersey1-servlet-java",
        "libjsr311-api-java",
        "openjdk-17-jre-headless",
    ],
    "Kerberos": ["krb5-admin-server", "krb5-kdc", "krb5-user"],
}
HADOOP = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache", "headrace-hadoop-2.7.3")
# The last package of PyPI whose jars have the nodes of Hadoop, and not their clients alone.
PYSPARK = "pyspark==2.4.8"
# Its setup.py is of its time.
SETUPTOOLS = ["setuptools==65.5.1", "wheel==0.38.4"]
FROM_PYSPARK = (
    "activation apacheds-i18n apacheds-kerberos-codec avro-1 commons-beanutils-1 commons-cli commons-codec "
    "commons-collections commons-configuration commons-digester commons-httpclient commons-io commons-lang-2 "
    "commons-logging commons-net curator-client curator-framework curator-recipes guava hadoop-annotations hadoop-auth "
    "hadoop-common hadoop-hdfs htrace-core httpclient httpcore jackson-core-asl jackson-mapper-asl javax.servlet-api "
    "jaxb-api jetty-6 jetty-util jsr305 leveldbjni-all log4j-1 netty-3 netty-all protobuf-java slf4j-api slf4j-log4j12 "
    "xercesImpl xmlenc zookeeper"
).split()
FROM_DEBIAN = (
    "asm asm-analysis asm-commons asm-tree asm-util jersey1-core jersey1-json jersey1-server jersey1-servlet jsr311-api"
).split()
DEBIANS_JARS = pathlib.Path("/usr/share/java")


def begins(jar: str, name: str) -> bool:
    """Whether the jar is of that name, whatever its version: "avro-1" is avro-1.8.2.jar, not avro-ipc-1.8.2.jar."""
    rest = jar.removeprefix(name)
    return rest != jar and (name[-1].isdigit() or rest[:1] == "-" and rest[1:2].isdigit())


def hadoop_is_whole() -> bool:
    jars = [path.name for path in HADOOP.glob("*.jar")]
    return all(any(begins(jar, name) for jar in jars) for name in FROM_PYSPARK) and all(
        f"{name}.jar" in jars for name in FROM_DEBIAN
    )


def install(deadline: Deadline) -> list[str]:
    """Installs what can be, and names what cannot."""
    sudo = [] if os.getuid() == 0 else ["sudo"]
    if deadline.run([*sudo, "apt-get", "update", "-q", "--error-on=any", "-o", "Acquire::Retries=3"]):
        raise RuntimeError("the stores of the tests cannot be installed: the package lists could not be updated")
    missing = [store for store in PACKAGES if not install_packages(deadline, sudo, store)]
    if "HDFS" not in missing and not hadoop_is_whole() and not keep_jars(deadline):
        missing.append("HDFS")
    return missing


def install_packages(deadline: Deadline, sudo: list[str], store: str) -> bool:
    """Without starting what they would start: the tests run servers of their own."""
    environment = ["env", "DEBIAN_FRONTEND=noninteractive", "RUNLEVEL=1"]
    install = ["apt-get", "install", "-y", "-q", "--no-install-recommends", *PACKAGES[store]]
    look = StillRunning(f"installing {store}")
    return deadline.run([*sudo, *environment, *install], look=look) == 0


def keep_jars(deadline: Deadline) -> bool:
    """Of 220 MB the 35 that the nodes need are kept."""
    HADOOP.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=HADOOP.parent) as name:
        folder = pathlib.Path(name)
        python = folder / "python/bin/python"
        pip = [str(python), "-m", "pip", "--disable-pip-version-check", "-q"]
        download = ["download", "--no-deps", "--no-build-isolation", "--no-binary=:all:", "-d", str(folder), PYSPARK]
        for command in (
            [sys.executable, "-m", "venv", str(folder / "python")],
            [*pip, "install", "--only-binary=:all:", *SETUPTOOLS],
            [*pip, *download],
        ):
            if deadline.run(command, look=StillRunning("fetching Hadoop's jars")):
                return False
        kept = folder / "jars"
        kept.mkdir()
        take_jars(next(folder.glob("pyspark-*.tar.gz")), kept)
        shutil.rmtree(HADOOP, ignore_errors=True)
        kept.rename(HADOOP)
    return hadoop_is_whole()


def take_jars(archive: pathlib.Path, folder: pathlib.Path) -> None:
    with tarfile.open(archive) as members:
        for member in members:
            name = pathlib.PurePosixPath(member.name).name
            if member.isfile() and name.endswith(".jar") and any(begins(name, each) for each in FROM_PYSPARK):
                source = members.extractfile(member)
                assert source is not None
                with source, (folder / name).open("wb") as target:
                    shutil.copyfileobj(source, target)
    for each in FROM_DEBIAN:
        shutil.copyfile(DEBIANS_JARS / f"{each}.jar", folder / f"{each}.jar")
