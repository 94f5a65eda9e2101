"""Which files globs name; what they miss is said."""

import os

import pytest

from consumers.stores.files.stored_file import FileGlob, find_files
from tests.consumers.stores.stored_samples import why, write

NAME = "consumerOffset.json"


@pytest.fixture
def folder(tmp_path):
    for broker in ("a", "b"):
        write(tmp_path, b"{}", f"{broker}/{NAME}")
    return tmp_path


def found(folder, *globs, known=(), most=10, within=("/",)):
    answer = find_files([FileGlob(f"{folder}/{pattern}", broker) for pattern, broker in globs], known, most, within)
    return {str(path.relative_to(folder)): broker for path, broker in answer.brokers.items()}, answer.failures


def test_a_glob_names_files_with_its_broker(folder):
    assert found(folder, (f"a/{NAME}", "broker-a"), ("b/*.json", None)) == (
        {f"a/{NAME}": "broker-a", f"b/{NAME}": None},
        (),
    )


@pytest.mark.parametrize("order", [1, -1])
def test_a_file_that_two_globs_name_is_of_the_broker_that_one_of_them_names(folder, order):
    globs = [("*/*.json", None), (f"a/{NAME}", "broker-a")][::order]
    assert found(folder, *globs)[0][f"a/{NAME}"] == "broker-a"


def test_a_path_without_a_glob_is_looked_for_even_if_it_is_not_there(folder):
    assert found(folder, (f"c/{NAME}", None)) == ({f"c/{NAME}": None}, ())


def test_a_file_that_is_away_for_a_moment_is_found_by_its_backup(folder):
    (folder / "a" / NAME).rename(folder / "a" / f"{NAME}.bak")
    assert set(found(folder, (f"*/{NAME}", None))[0]) == {f"a/{NAME}", f"b/{NAME}"}


def test_a_broker_with_rocksdb_is_found_without_a_file(folder):
    write(folder, b"", "c/consumerOffsets/CURRENT")
    assert f"c/{NAME}" in found(folder, (f"*/{NAME}", None))[0]


@pytest.mark.parametrize(("known", "again"), [(f"c/{NAME}", True), (f"c/d/{NAME}", False), ("c/other.json", False)])
def test_a_file_that_was_there_is_looked_for_again_while_a_glob_would_match_it(folder, known, again):
    assert (known in found(folder, (f"*/{NAME}", None), known=[f"{folder}/{known}"])[0]) is again


def test_a_glob_that_matches_nothing_is_an_error(folder):
    brokers, (failure,) = found(folder, (f"*/*/{NAME}", "broker-a"))
    assert (brokers, failure.kind, failure.broker) == ({}, "broker_file", "broker-a")
    assert (
        why(failure)
        == f"{folder}/*/*/{NAME} matches no file: is its disk mounted here, and may its folders be entered?"
    )


def test_more_files_than_allowed_are_an_error_and_the_first_are_read(folder):
    brokers, (failure,) = found(folder, (f"*/{NAME}", None), most=1)
    assert (list(brokers), str(failure.path)) == ([f"a/{NAME}"], f"{folder}/*/{NAME}")
    assert "match more than 1 files (POLL_OFFSET_FILES): the others are not read" in why(failure)


def test_the_limit_is_for_all_globs_together(folder):
    brokers, (failure,) = found(folder, (f"a/{NAME}", None), (f"b/{NAME}", None), most=1)
    assert (list(brokers), str(failure.path)) == ([f"a/{NAME}"], f"{folder}/b/{NAME}")


def test_a_path_that_is_no_text_is_an_error(folder):
    (folder / os.fsdecode(b"\xff")).mkdir()
    (folder / os.fsdecode(b"\xff") / NAME).write_bytes(b"{}")
    brokers, (failure,) = found(folder, (f"*/{NAME}", None))
    assert set(brokers) == {f"a/{NAME}", f"b/{NAME}"}
    assert "matches paths that are not text" in why(failure)


def test_no_folder_outside_of_those_that_are_allowed_is_looked_through(folder):
    brokers, (failure,) = found(folder, (f"*/{NAME}", None), within=(f"{folder}/a",))
    assert (brokers, failure.error.name) == ({}, "glob")
    assert f"is outside of the folders that offset files are read from (POLL_OFFSET_FOLDERS: {folder}/a)" in (
        why(failure)
    )


def test_a_glob_within_an_allowed_folder_is_looked_through(folder):
    assert set(found(folder, (f"a/{NAME}", None), within=("/nothing", f"{folder}/a"))[0]) == {f"a/{NAME}"}


def test_a_folder_whose_name_holds_a_star_may_be_allowed(folder):
    write(folder, b"{}", f"c*/{NAME}")
    assert set(found(folder, (f"c[*]/*/../{NAME}", None), (f"c[*]/{NAME}", None), within=(f"{folder}/c*",))[0]) == {
        f"c*/{NAME}"
    }


def test_files_with_other_names_are_not_found_and_that_is_said(folder):
    write(folder, b"a secret", "a/admin_password")
    brokers, (failure,) = found(folder, ("a/*", "broker-a"))
    assert set(brokers) == {f"a/{NAME}"}
    assert why(failure).endswith("matches files that are not named consumerOffset.json, delayOffset.json or "
                                  "offsets.json: they are not opened.")  # fmt: skip
