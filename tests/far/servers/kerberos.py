"""A Kerberos realm on the loopback, from Debian's krb5-kdc: a user, and the services of a cluster in one keytab."""

import dataclasses
import pathlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from tests.far.servers.processes import Processes, free_port

REALM = "FAR.TEST"
USER = "alice"
SERVICES = ("hdfs/localhost", "HTTP/localhost")
PROGRAMS = ("krb5kdc", "kdb5_util", "kadmin.local", "kinit", "kdestroy")


def lacking() -> str:
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    return f"Kerberos is not installed (./test --far): {', '.join(missing)}" if missing else ""


@dataclasses.dataclass(frozen=True)
class Realm:
    """`configuration`: what KRB5_CONFIG names. `tickets`: the cache of the user's ticket."""

    processes: Processes
    configuration: pathlib.Path
    keytab: pathlib.Path
    tickets: pathlib.Path

    @property
    def environment(self) -> dict[str, str]:
        return {"KRB5_CONFIG": str(self.configuration), "KRB5CCNAME": f"FILE:{self.tickets}"}

    def take_ticket(self, lifetime: str = "1h") -> None:
        self.processes.call("kinit", "-c", self.tickets, "-l", lifetime, "-k", "-t", self.keytab, USER)

    def drop_ticket(self) -> None:
        self.processes.call("kdestroy", "-c", self.tickets)


def client_configuration(port: int) -> str:
    return f"""[libdefaults]
 default_realm = {REALM}
 dns_lookup_kdc = false
 dns_lookup_realm = false
 dns_canonicalize_hostname = false
 rdns = false
 udp_preference_limit = 1
[realms]
 {REALM} = {{
  kdc = 127.0.0.1:{port}
 }}
[domain_realm]
 localhost = {REALM}
"""


def centre_configuration(folder: pathlib.Path, port: int) -> str:
    return f"""[kdcdefaults]
 kdc_listen = 127.0.0.1:{port}
 kdc_tcp_listen = 127.0.0.1:{port}
[realms]
 {REALM} = {{
  database_name = {folder}/principal
  key_stash_file = {folder}/stash
  acl_file = {folder}/acl
  supported_enctypes = aes256-cts-hmac-sha1-96:normal aes128-cts-hmac-sha1-96:normal
 }}
"""


@contextmanager
def started(folder: pathlib.Path) -> Iterator[Realm]:
    port = free_port()
    (folder / "krb5.conf").write_text(client_configuration(port))
    (folder / "kdc.conf").write_text(centre_configuration(folder, port))
    environment = {"KRB5_CONFIG": str(folder / "krb5.conf"), "KRB5_KDC_PROFILE": str(folder / "kdc.conf")}
    with Processes(folder, environment) as centre:
        centre.call("kdb5_util", "create", "-s", "-r", REALM, "-P", "of the tests")
        keytab = folder / "far.keytab"
        for name in (*SERVICES, USER):
            centre.call("kadmin.local", "-q", f"addprinc -randkey {name}")
            centre.call("kadmin.local", "-q", f"ktadd -k {keytab} {name}")
        centre.start("kdc", ["krb5kdc", "-n"])
        centre.wait_for(port, "kdc")
        yield Realm(centre, folder / "krb5.conf", keytab, folder / "tickets")
