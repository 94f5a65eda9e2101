"""Run as `python uploading.py LAKE`: writes a file that is so large that it is uploaded in parts."""

import os
import sys

import pyarrow as pa

from consumers.lake.store import Lake

if __name__ == "__main__":
    schema = pa.schema([("noise", pa.binary())])
    noise = pa.table({"noise": [os.urandom(1_000_000) for _ in range(30)]}, schema)
    Lake.at(sys.argv[1]).write(noise, "readings/cluster=prod/date=2026-03-01/hour=02/hour.parquet", schema)
