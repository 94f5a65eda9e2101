"""The project's own code for executors that are elsewhere: they have Python, numpy and pyarrow, and nothing of ours."""

import tempfile
import zipfile
from pathlib import Path

from pyspark.sql import SparkSession

PACKAGE = Path(__file__).resolve().parent.parent
NAME = "consumerscope.zip"
# By Spark's own number of an application. It serves the file itself, for as long as it lives.
_sent: dict[str, "tempfile.TemporaryDirectory[str]"] = {}


def send_code(spark: SparkSession) -> None:
    """Once an application; executors that come later get it, too."""
    context = spark.sparkContext
    if context.applicationId not in _sent:
        folder = _sent[context.applicationId] = tempfile.TemporaryDirectory(prefix="consumerscope-code-")
        context.addPyFile(str(archive(Path(folder.name))))


def archive(folder: Path) -> Path:
    """What a task imports is in the package `consumers`, without Django."""
    written = folder / NAME
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(PACKAGE.rglob("*.py")):
            packed.write(path, path.relative_to(PACKAGE.parent))
    return written
