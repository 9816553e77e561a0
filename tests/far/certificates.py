"""Certificates for tests of TLS, made by the command openssl: an authority, and good and bad certificates of servers."""

import dataclasses
import pathlib
import ssl
import subprocess


def openssl(*arguments: object) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


@dataclasses.dataclass(frozen=True)
class Certificates:
    """`ca`: the file of the authority that made them."""

    folder: pathlib.Path
    ca: pathlib.Path

    @staticmethod
    def make(folder: pathlib.Path, name: str = "authority") -> "Certificates":
        key, ca = folder / f"{name}.key", folder / f"{name}.pem"
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", 30,
                "-subj", f"/CN={name} of the tests", "-keyout", key, "-out", ca,
                "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign")  # fmt: skip
        return Certificates(folder, ca)

    def server(self, names: str = "IP:127.0.0.1,DNS:localhost,DNS:*.localhost", days: int = 10) -> ssl.SSLContext:
        """For a server of these names. Days below zero make a certificate that has ended."""
        stem = f"{self.ca.stem}-{abs(hash((names, days)))}"
        key, request, made = (self.folder / f"{stem}.{ending}" for ending in ("key", "csr", "pem"))
        extensions = self.folder / f"{stem}.ext"
        extensions.write_text(f"subjectAltName={names}\nextendedKeyUsage=serverAuth\nbasicConstraints=CA:FALSE\n")
        openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                "-subj", "/CN=server of the tests", "-keyout", key, "-out", request)  # fmt: skip
        openssl("x509", "-req", "-in", request, "-CA", self.ca, "-CAkey", self.ca.with_suffix(".key"),
                "-CAcreateserial", "-days", days, "-extfile", extensions, "-out", made)  # fmt: skip
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(made, key)
        return context
