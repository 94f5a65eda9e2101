"""Why a file gives no offsets, as types: each says in one sentence what is wrong and what to do."""


class FileProblem(Exception):
    """`name` is for programs. `passing`: it may be over in a moment, because the file is being rewritten."""

    name = "unreadable"
    passing = False


class Missing(FileProblem):
    name = "missing"
    passing = True


class Empty(FileProblem):
    name = "empty"
    passing = True


class CutOff(FileProblem):
    name = "cut_off"
    passing = True


class Malformed(FileProblem):
    name = "malformed"
    passing = True


class NotOffsets(FileProblem):
    """Whole JSON, but of something else."""

    name = "not_offsets"
    passing = True


class Changed(FileProblem):
    name = "changed"
    passing = True


class NotPermitted(FileProblem):
    name = "not_permitted"


class NotAllowed(FileProblem):
    """The site lets nobody open it."""

    name = "not_allowed"


class TooLarge(FileProblem):
    name = "too_large"


class InRocksDB(FileProblem):
    name = "in_rocksdb"


class NoFile(FileProblem):
    name = "no_file"
