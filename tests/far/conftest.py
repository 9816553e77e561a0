"""Fixtures of the tests of far files."""

import pathlib
from collections.abc import Iterator

import pytest

from tests.far import stores
from tests.far.certificates import Certificates
from tests.far.s3_server import S3Server
from tests.far.stores import Store


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates.make(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="session")
def far_library() -> None:
    """Skips what asks for it where the engine has no far files."""
    if lacking := stores.lacking():
        pytest.skip(lacking)


@pytest.fixture(autouse=True)
def own_credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    """Lets no setting of the machine reach a test."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION",
                 "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_CA_BUNDLE", "SSL_CERT_FILE",
                 "CURL_CA_BUNDLE", "HADOOP_TOKEN_FILE_LOCATION", "HADOOP_CONF_DIR", "http_proxy", "https_proxy",
                 "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "no-config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "no-credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture
def s3(far_library: None) -> Iterator[Store]:
    """An empty store of S3."""
    with S3Server() as server:
        yield stores.s3_store(server)


@pytest.fixture(params=stores.KINDS)
def store(request: pytest.FixtureRequest, far_library: None, certificates: Certificates) -> Iterator[Store]:
    """An empty store of each kind."""
    with stores.opened(request.param, certificates) as made:
        yield made
