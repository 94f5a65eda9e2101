"""What the URL of a lake in S3 may say."""

import pyarrow.fs as pafs
import pytest

from consumers.lake.store import Lake, LakeUrlRefused, is_gone, s3_filesystem

LIMITS = pafs.S3FileSystem(
    access_key="me",
    secret_key="a/b+c",
    region="eu-west-1",
    endpoint_override="127.0.0.1:9000",
    scheme="http",
    connect_timeout=1,
    request_timeout=2.5,
    retry_strategy=pafs.AwsStandardS3RetryStrategy(max_attempts=7),
    allow_delayed_open=True,
)


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch):
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.delenv(name, raising=False)


def test_keys_place_and_limits_come_from_the_url():
    found, root = s3_filesystem(
        "s3://me:a%2Fb%2Bc@bucket/a%20folder/?region=eu-west-1&endpoint_override=127.0.0.1:9000&scheme=http"
        "&connect_timeout=1&request_timeout=2.5&max_attempts=7"
    )
    assert (found, root) == (LIMITS, "bucket/a folder/")


def test_there_are_limits_where_the_url_says_nothing():
    said, _ = s3_filesystem("s3://me:x@bucket/lake?region=eu-west-1&connect_timeout=3&request_timeout=4&max_attempts=2")
    assert s3_filesystem("s3://me:x@bucket/lake?region=eu-west-1")[0] == said


@pytest.mark.parametrize("name", ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"])
def test_the_endpoint_may_come_from_the_environment(monkeypatch, name):
    said, _ = s3_filesystem("s3://me:x@bucket/lake?region=eu-west-1&endpoint_override=http://minio:9000")
    monkeypatch.setenv(name, "http://minio:9000")
    assert s3_filesystem("s3://me:x@bucket/lake?region=eu-west-1")[0] == said


def test_spark_and_hadoop_say_s3a():
    assert Lake.at("s3a://me:x@bucket/lake/?region=eu-west-1").root == "bucket/lake"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("s3://bucket/lake?request_timeuot=5", "unknown option request_timeuot. It may have region, "),
        ("s3://bucket/lake?max_attempts=many", "max_attempts=many is no number"),
        ("s3:///lake", "names no bucket"),
    ],
)
def test_what_is_not_understood_is_refused(url, said):
    with pytest.raises(LakeUrlRefused, match=said):
        Lake.at(url)


def test_a_lake_that_is_printed_keeps_its_password():
    assert "secret" not in repr(Lake.at("s3://me:secret@bucket/lake?region=eu-west-1"))


def test_an_object_that_went_away_is_known_by_what_the_store_says():
    assert is_gone(OSError("When copying: AWS Error NO_SUCH_KEY during CopyObject operation"))
    assert not is_gone(OSError("When copying: AWS Error NO_SUCH_BUCKET during CopyObject operation"))
