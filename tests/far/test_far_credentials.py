"""Where keys of S3 come from: settings, variables, profiles, commands, containers, machines and roles, in order and renewed."""

import datetime
import json
import pathlib
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator

import pytest

import headrace as hr
from tests.conftest import eventually
from tests.far import stores
from tests.far.s3_server import ACCESS_KEY, REGION, SECRET_KEY, S3Server
from tests.far.signature import Key
from tests.far.small_server import Reply, Request, SmallServer
from tests.far.stores import Store


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, s3: Store) -> pytest.MonkeyPatch:
    """Variables that lead to a store with one file, without keys."""
    s3.put("a.bin", b"a")
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3.giver.url)
    monkeypatch.setenv("AWS_REGION", REGION)
    return monkeypatch


def reads(store: Store, **settings: object) -> bool:
    with hr.storage({"s3": settings} if settings else {}):
        return [bytes(row["data"]) for row in hr.Files([store.url("a.bin")])] == [b"a"]


def test_variables(s3: Store, environment: pytest.MonkeyPatch) -> None:
    environment.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY)
    environment.setenv("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
    assert reads(s3)


def test_the_variable_of_s3_alone_comes_first(s3: Store, environment: pytest.MonkeyPatch) -> None:
    environment.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    environment.setenv("AWS_ENDPOINT_URL_S3", s3.giver.url)
    assert reads(s3, access_key=ACCESS_KEY, secret_key=SECRET_KEY)


def test_settings_come_before_variables(s3: Store, environment: pytest.MonkeyPatch) -> None:
    environment.setenv("AWS_ACCESS_KEY_ID", "AKIDWRONG")
    environment.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    with pytest.raises(hr.Error, match="InvalidAccessKeyId"):
        reads(s3)
    assert reads(s3, access_key=ACCESS_KEY, secret_key=SECRET_KEY)


def test_a_token_goes_with_its_keys(s3: Store, environment: pytest.MonkeyPatch) -> None:
    server = s3.giver
    assert isinstance(server, S3Server)
    server.keys = {"AKIDTOKEN": Key("secret", "token/+=")}
    environment.setenv("AWS_ACCESS_KEY_ID", "AKIDTOKEN")
    environment.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    environment.setenv("AWS_SESSION_TOKEN", "token/+=")
    assert reads(s3)


def test_anonymous_is_only_what_is_asked_for(s3: Store, environment: pytest.MonkeyPatch) -> None:
    server = s3.giver
    assert isinstance(server, S3Server)
    server.public.add(stores.BUCKET)
    with pytest.raises(hr.Error, match="AWS_ACCESS_KEY_ID"):
        reads(s3)
    assert reads(s3, anonymous=True)


def profile_files(environment: pytest.MonkeyPatch, folder: pathlib.Path, config: str, credentials: str = "") -> None:
    for name, variable, text in (
        ("config", "AWS_CONFIG_FILE", config),
        ("credentials", "AWS_SHARED_CREDENTIALS_FILE", credentials),
    ):
        (folder / name).write_text(text)
        environment.setenv(variable, str(folder / name))


KEYS = f"aws_access_key_id = {ACCESS_KEY}\naws_secret_access_key={SECRET_KEY}\n"


def test_profiles(s3: Store, environment: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    wrong = "aws_access_key_id = AKIDWRONG\naws_secret_access_key = wrong\n"
    profile_files(
        environment, tmp_path, "[profile other]\nregion = elsewhere\n", f"[default]\n{wrong}\n# text\n[other]\n{KEYS}"
    )
    with pytest.raises(hr.Error, match="InvalidAccessKeyId"):
        reads(s3)
    assert reads(s3, profile="other")
    environment.setenv("AWS_PROFILE", "other")
    assert reads(s3)
    with pytest.raises(hr.Error, match="nobody"):
        reads(s3, profile="nobody")


def test_a_command_gives_keys(s3: Store, environment: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    given = {"Version": 1, "AccessKeyId": ACCESS_KEY, "SecretAccessKey": SECRET_KEY}
    (tmp_path / "keys.json").write_text(json.dumps(given))
    profile_files(environment, tmp_path, f"[default]\ncredential_process = cat {tmp_path / 'keys.json'}\n")
    assert reads(s3)


def test_single_sign_on_is_refused_with_what_to_run(
    s3: Store, environment: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    profile_files(environment, tmp_path, "[default]\nsso_session = s\nsso_account_id = 1\nsso_role_name = r\n")
    with pytest.raises(hr.Error, match="aws (sso login|configure)"):
        reads(s3)


def in_seconds(seconds: float) -> str:
    return (datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


class KeyServer(SmallServer):
    """What containers and machines ask for keys: `/role` after a header, and IMDSv2's token before it."""

    def __init__(self) -> None:
        self.lasting = 3600.0
        self.authorization = ""
        self.given = 0
        super().__init__()

    def serve(self, request: Request) -> Reply:
        if request.plain_path == "/latest/api/token":
            wanted = request.method == "PUT" and "x-aws-ec2-metadata-token-ttl-seconds" in request.headers
            return Reply(200, {}, b"imds-token") if wanted else Reply(400)
        if request.plain_path.startswith("/latest/meta-data"):
            if request.headers.get("x-aws-ec2-metadata-token") != "imds-token":
                return Reply(401)
            if request.plain_path.endswith("security-credentials/"):
                return Reply(200, {}, b"the-role")
        if request.headers.get("authorization", "") != self.authorization:
            return Reply(401)
        self.given += 1
        keys = {"AccessKeyId": ACCESS_KEY, "SecretAccessKey": SECRET_KEY, "Token": f"token {self.given}",
                "Expiration": in_seconds(self.lasting), "Code": "Success"}  # fmt: skip
        return Reply(200, {"Content-Type": "application/json"}, json.dumps(keys).encode())


@pytest.fixture
def key_server(s3: Store) -> Iterator[KeyServer]:
    server = s3.giver
    assert isinstance(server, S3Server)
    with KeyServer() as keys:
        server.keys = {ACCESS_KEY: Key(SECRET_KEY, "token 1")}
        yield keys


def test_containers_ask_their_host(
    s3: Store, environment: pytest.MonkeyPatch, key_server: KeyServer, tmp_path: pathlib.Path
) -> None:
    key_server.authorization = "the token of the container"
    (tmp_path / "token").write_text("the token of the container\n")
    environment.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"{key_server.url}/role")
    environment.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", str(tmp_path / "token"))
    assert reads(s3) and reads(s3)
    # One copy a process.
    assert key_server.given == 1


def test_machines_ask_their_metadata(s3: Store, environment: pytest.MonkeyPatch, key_server: KeyServer) -> None:
    environment.delenv("AWS_EC2_METADATA_DISABLED")
    environment.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", key_server.url)
    assert reads(s3)
    assert [each.kind for each in key_server.seen][:1] == ["put"]


def test_keys_that_end_are_asked_for_again_in_the_middle_of_an_epoch(
    s3: Store, environment: pytest.MonkeyPatch, key_server: KeyServer
) -> None:
    server = s3.giver
    assert isinstance(server, S3Server)
    environment.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"{key_server.url}/another-role")
    for number in range(200):
        s3.put(f"many/{number:03}.bin", b"%d" % number)
    files = hr.Files([s3.url(f"many/{number:03}.bin") for number in range(200)])
    with files.iterate(workers=1, window=1) as rows:
        first = [bytes(next(rows)["data"]) for _ in range(3)]
        # The store takes the next token alone, and answers ExpiredToken to this one.
        now = key_server.given
        server.keys = {ACCESS_KEY: Key(SECRET_KEY, f"token {now + 1}", frozenset({f"token {now}"}))}
        rest = [bytes(row["data"]) for row in rows]
    assert first + rest == [b"%d" % number for number in range(200)]
    assert key_server.given >= 2


# ---- roles, by moto ----


@pytest.fixture(scope="module")
def moto(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of moto's server, in a process of its own."""
    pytest.importorskip(
        "moto.server", reason="moto is not installed: pip install moto flask flask-cors py-partiql-parser pyyaml"
    )
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("moto") / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)], stdout=output, stderr=output
        )
    try:
        assert eventually(lambda: answers(port), 60), log.read_text()
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def put(url: str, data: bytes = b"") -> None:
    """Moto checks no signatures."""
    headers = {
        "Authorization": "AWS4-HMAC-SHA256 Credential=any/20260101/us-east-1/s3/aws4_request",
        "Content-Type": "application/octet-stream",
    }
    urllib.request.urlopen(urllib.request.Request(url, data, headers, method="PUT"), timeout=30).close()


@pytest.fixture
def of_moto(moto: str, far_library: None, monkeypatch: pytest.MonkeyPatch) -> str:
    put(f"{moto}/data")
    put(f"{moto}/data/a.bin", b"from moto")
    monkeypatch.setenv("AWS_ENDPOINT_URL", moto)
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", moto)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    return moto


def read_moto() -> list[bytes]:
    return [bytes(row["data"]) for row in hr.Files(["s3://data/a.bin"])]


def test_web_identities_take_a_role(of_moto: str, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    (tmp_path / "identity").write_text("an.identity.token")
    monkeypatch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", str(tmp_path / "identity"))
    monkeypatch.setenv("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/reader")
    assert read_moto() == [b"from moto"]


def test_profiles_take_a_role(of_moto: str, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    role = "[profile role]\nrole_arn = arn:aws:iam::123456789012:role/reader\nsource_profile = base\n"
    profile_files(monkeypatch, tmp_path, role, f"[base]\n{KEYS}")
    monkeypatch.setenv("AWS_PROFILE", "role")
    assert read_moto() == [b"from moto"]


def test_listings_and_writes_of_moto(of_moto: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
    hr.Numpy({"data": [b"x" * 1000] * 20}).write_tfrecord("s3://data/out/a.tfrecord")
    assert len(hr.Files("s3://data/out/*.tfrecord")) == 1
    assert len(list(hr.TFRecord("s3://data/out/a.tfrecord", {"data": "bytes"}))) == 20
