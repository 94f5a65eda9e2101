"""A lake in S3, or in a store that speaks its protocol: what its URL may say, and a client that gives up in time.

pyarrow reads such URLs too, but takes no time limits from them. The URL carries every setting because tasks of a Spark
cluster open the lake by it. Credentials come from the URL or, better, from where AWS's own tools find them.
"""

import os
from collections.abc import Callable
from urllib.parse import parse_qsl, unquote, urlsplit

import pyarrow as pa
import pyarrow.fs as pafs

# A poll must not wait for much longer than until the next one: an upload that fails is tried once more by pyarrow when
# its stream is dropped.
CONNECT_SECONDS, SILENT_SECONDS, ATTEMPTS = 3.0, 4.0, 2
# Of pyarrow, which has 8: they wait for answers, and do nothing.
IO_THREADS = 16
OPTIONS: dict[str, Callable[[str], str | float | int]] = {
    "region": str,
    "scheme": str,
    "endpoint_override": str,
    "tls_ca_file_path": str,
    "connect_timeout": float,
    "request_timeout": float,
    "max_attempts": int,
}

NO_SUCH_OBJECT = ("AWS Error NO_SUCH_KEY", "AWS Error RESOURCE_NOT_FOUND")


class LakeUrlRefused(ValueError):
    """The URL of the lake says something that is not understood."""


def s3_filesystem(location: str, *, in_parts: bool = False) -> tuple[pafs.S3FileSystem, str]:
    """The client, and the bucket with the folder in it. `in_parts`: for files that are uploaded in several requests."""
    url = urlsplit(location)
    account, _, bucket = url.netloc.rpartition("@")
    if not bucket:
        raise LakeUrlRefused("CONSUMERSCOPE_LAKE names no bucket. Write it as s3://bucket/folder.")
    options = _options(url.query)
    if pa.io_thread_count() < IO_THREADS:
        pa.set_io_thread_count(IO_THREADS)
    attempts = int(options.pop("max_attempts", ATTEMPTS))
    limits = {"connect_timeout": CONNECT_SECONDS, "request_timeout": SILENT_SECONDS}
    if account:
        options["access_key"], options["secret_key"] = map(unquote, account.split(":", 1))
    if endpoint := os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL"):
        options.setdefault("endpoint_override", endpoint)
    filesystem = pafs.S3FileSystem(
        **{**limits, **options},
        retry_strategy=pafs.AwsStandardS3RetryStrategy(max_attempts=attempts),
        # A file of a few MB is one request in place of three. One in parts that cannot be begun so late would be an
        # empty object, once its stream is closed: it is begun where it is opened.
        allow_delayed_open=not in_parts,
    )
    return filesystem, f"{bucket}{unquote(url.path)}"


def _options(query: str) -> dict[str, str | float | int]:
    options = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name not in OPTIONS:
            raise LakeUrlRefused(f"CONSUMERSCOPE_LAKE has an unknown option {name}. It may have {', '.join(OPTIONS)}.")
        try:
            options[name] = OPTIONS[name](value)
        except ValueError:
            raise LakeUrlRefused(f"CONSUMERSCOPE_LAKE: {name}={value} is no number.") from None
    return options


def is_gone(error: BaseException) -> bool:
    """Whether a file is not there any more. S3 tells of one that was deleted while it was read as of any other
    failure."""
    return isinstance(error, FileNotFoundError) or any(words in str(error) for words in NO_SUCH_OBJECT)


def is_of_the_store(error: BaseException) -> bool:
    """Whether the store did not answer, or refused: that says nothing of what a file holds."""
    return "AWS Error" in str(error)
