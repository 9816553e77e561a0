"""Mistakes that people make with far paths and settings: each is an error that says what to change."""

import dataclasses
import pathlib
from collections.abc import Callable
from typing import Any

import pytest

import headrace as hr
from tests.far.http_server import HttpServer
from tests.far.s3_server import S3Server
from tests.far.stores import Store, hdfs_store, s3_storage
from tests.far.webhdfs_server import WebHdfsCluster

PASSWORD = "never-shown"


@pytest.fixture
def filled(s3: Store) -> Store:
    for number in range(4):
        s3.put(f"cat/{number}.jpg", b"x")
    return s3


def patterns(store: Store) -> hr.Dataset:
    return hr.Files(store.url("**/*.jpg"))


def folders(store: Store) -> hr.Dataset:
    return hr.ImageFolder(store.root)


def single(store: Store) -> hr.Dataset:
    return hr.Files([store.url("cat/1.jpg")])


def opened(store: Store) -> hr.Dataset:
    return hr.open(store.url("cat/1.jpg"))


KINDS = pytest.mark.parametrize("made", [patterns, folders, single, opened])


def read(made: Callable[[Store], hr.Dataset], store: Store, settings: dict[str, Any]) -> str:
    """What the error says."""
    with pytest.raises(hr.Error) as raised, hr.storage(settings):
        list(made(store))
    return str(raised.value)


@KINDS
def test_missing_credentials_are_not_a_missing_file(made: Callable[[Store], hr.Dataset], filled: Store) -> None:
    said = read(made, filled, {"s3": {"endpoint": filled.giver.url}})
    assert "no credentials for S3 were found" in said and "AWS_ACCESS_KEY_ID" in said


@KINDS
def test_wrong_credentials_are_not_a_missing_file(made: Callable[[Store], hr.Dataset], filled: Store) -> None:
    assert isinstance(filled.giver, S3Server)
    for wrong in ({"secret_key": "another"}, {"access_key": "another"}):
        said = read(made, filled, s3_storage(filled.giver, **wrong))
        assert "credentials" in said or "key" in said
        assert "nothing is below" not in said and "there is no s3://" not in said


@KINDS
def test_a_wrong_bucket_is_said_to_be_one(made: Callable[[Store], hr.Dataset], filled: Store) -> None:
    wrong = dataclasses.replace(filled, root="s3://dada/set")
    said = read(made, wrong, filled.storage)
    assert "bucket" in said or "s3://dada/set/cat" in said


@pytest.mark.parametrize("of_list", [False, True])
def test_passwords_in_urls_are_refused_and_not_shown(of_list: bool, far_library: None, tmp_path: pathlib.Path) -> None:
    with HttpServer() as server:
        server.put("/a", b"x")
        url = f"{server.url.replace('://', f'://alice:{PASSWORD}@')}/a"
        for settings in ({}, {"http": {"object_cache": str(tmp_path / "cache")}}):
            with pytest.raises(hr.GraphError, match="by storage=") as raised:
                list(hr.Files([url] if of_list else url).iterate(storage=settings))
            assert PASSWORD not in str(raised.value) + repr(vars(raised.value))
        assert not server.requests()


def test_users_in_urls_of_hdfs_are_refused_and_not_shown(far_library: None) -> None:
    with WebHdfsCluster() as cluster:
        store = hdfs_store(cluster)
        store.put("1.jpg", b"x")
        url = store.url("*.jpg").replace("://", f"://alice:{PASSWORD}@")
        with pytest.raises(hr.GraphError, match="give user by storage=") as raised:
            list(hr.Files(url))
        assert PASSWORD not in str(raised.value) + repr(vars(raised.value))


def test_pathlib_s_paths_say_what_became_of_the_url(filled: Store) -> None:
    for path in (pathlib.Path(filled.url("*.jpg")), pathlib.Path(filled.url("1.jpg"))):
        with pytest.raises(hr.NotFoundError, match='write "s3://data/set') as raised:
            list(hr.Files(path))
        assert "pathlib" in str(raised.value)


def test_folders_of_settings_are_on_this_machine() -> None:
    for key in ("object_cache", "ca_file"):
        with pytest.raises(hr.GraphError, match=f"{key} is a URL; it must be a path of this machine"):
            hr.storage({"s3": {key: "s3://bucket/cache"}})


def test_schemes_of_settings_are_those_of_paths() -> None:
    with pytest.raises(hr.GraphError, match='write s3 for "S3"'):
        hr.storage({"S3": {"anonymous": True}})


def test_settings_without_a_scheme_are_shown_one() -> None:
    flat: Any = {"endpoint": "http://minio.lan:9000", "secret_key": PASSWORD}
    with pytest.raises(hr.GraphError, match="'endpoint'; it must be a dict of settings, such as") as raised:
        hr.storage(flat)
    assert PASSWORD not in str(raised.value)


def test_names_that_are_nearly_right_are_told(filled: Store) -> None:
    assert "did you mean" in read(lambda store: hr.Files([store.url("cat/11.jpg")]), filled, filled.storage)
    assert "did you mean" in read(lambda store: hr.Files(store.url("cats/*.jpg")), filled, filled.storage)


def test_a_proxy_that_is_not_there_is_said_soon_also_for_a_host_that_is_known(filled: Store) -> None:
    with hr.storage(filled.storage):
        assert len(list(hr.Files(filled.url("**/*.jpg")))) == 4
    assert isinstance(filled.giver, S3Server)
    with HttpServer() as gone:
        proxy = gone.url
    said = read(patterns, filled, s3_storage(filled.giver, proxy=proxy))
    assert "proxy= of storage=" in said and "4 attempts" in said
