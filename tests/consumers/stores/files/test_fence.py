"""What is no offset file shows nothing of itself: by no path, no link, no backup, no error."""

import json

import pytest

from tests.consumers.stores.stored_samples import broker_file, in_words, read, rows, why, write

SECRET = "correct-horse-battery-staple"
GOOD = broker_file('"Orders@g":{0:7}')


def told(file):
    """All that pages, REST and logs have of a file."""
    return json.dumps(
        [file.error, [in_words(finding) for finding in file.findings], file.table().to_pylist()], default=str
    )


@pytest.mark.parametrize(
    "name", ["admin_password", "secret_key", "copy.json", "consumerOffset.json.old", "Offsets.json"]
)
@pytest.mark.parametrize("body", [SECRET.encode(), json.dumps({"offsetTable": {SECRET: {"0": 7}}}).encode(), GOOD])
def test_a_file_with_another_name_is_not_opened(tmp_path, name, body):
    file = read(write(tmp_path, body, name))
    assert (file.rows, file.error.name) == (None, "not_allowed")
    assert "is not named consumerOffset.json, delayOffset.json or offsets.json" in why(file)
    assert SECRET not in told(file)


@pytest.mark.parametrize("name", ["consumerOffset.json", "delayOffset.json", "1@c/g/offsets.json"])
@pytest.mark.parametrize(
    "body",
    [
        SECRET,
        f'{{"password": "{SECRET}"',
        f'{{"offsetTable": {{"a@b": {{0: {SECRET}',
        f'{{"offsetTable": {{"a@b": {{0:7}}}}}}{SECRET}',
        f'"{SECRET}"',
        f'["{SECRET}"]',
        f'{{"{SECRET}": 1}}',
        f'{{"offsetTable": "{SECRET}"}}',
        f'{{"offsetTable": {{"a@b": "{SECRET}"}}}}',
        f'{{"offsetTable": {{"a@b": {{"0": "{SECRET}"}}}}}}',
    ],
)
def test_of_what_does_not_parse_no_character_is_shown(tmp_path, name, body):
    assert SECRET[:8] not in told(read(write(tmp_path, body.encode(), name)))


def test_what_is_wrong_is_said_by_its_place_and_kind(tmp_path):
    file = read(write(tmp_path, f'{{\n"offsetTable": {SECRET}}}'.encode()))
    assert why(file).startswith(f"{tmp_path}/consumerOffset.json is broken at line 2, column 15: if its writer runs")


def test_a_link_out_of_the_allowed_folders_is_not_followed(tmp_path):
    outside = write(tmp_path / "outside", GOOD)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "consumerOffset.json").symlink_to(outside)
    file = read(tmp_path / "in" / "consumerOffset.json", within=(f"{tmp_path}/in",))
    assert (file.rows, file.error.name) == (None, "not_allowed")
    assert str(outside) not in why(file)


def test_a_folder_that_is_a_link_out_of_the_allowed_ones_is_not_followed(tmp_path):
    write(tmp_path / "outside", GOOD)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "config").symlink_to(tmp_path / "outside")
    file = read(tmp_path / "in" / "config" / "consumerOffset.json", within=(f"{tmp_path}/in",))
    assert file.error.name == "not_allowed"


def test_an_allowed_folder_may_itself_be_a_link(tmp_path):
    write(tmp_path / "disk", GOOD)
    (tmp_path / "data").symlink_to(tmp_path / "disk")
    assert rows(read(tmp_path / "data" / "consumerOffset.json", within=(f"{tmp_path}/data",))) == [
        ("g", "Orders", 0, 7)
    ]


def test_a_link_to_a_file_with_another_name_is_not_followed(tmp_path):
    write(tmp_path, SECRET.encode(), "admin_password")
    (tmp_path / "offsets.json").symlink_to(tmp_path / "admin_password")
    file = read(tmp_path / "offsets.json")
    assert (file.error.name, SECRET in told(file)) == ("not_allowed", False)


def test_a_backup_that_is_a_link_to_a_file_with_another_name_is_not_followed(tmp_path):
    write(tmp_path, SECRET.encode(), "admin_password")
    (tmp_path / "consumerOffset.json.bak").symlink_to(tmp_path / "admin_password")
    file = read(tmp_path / "consumerOffset.json")
    assert file.error.name == "missing"
    assert ".bak is not named" in why(file)
    assert SECRET not in told(file)


def test_whether_a_file_outside_is_there_is_not_told(tmp_path):
    write(tmp_path / "outside", GOOD)
    there, not_there = (
        read(tmp_path / place / "consumerOffset.json", within=("/nothing",)) for place in ("outside", "x")
    )
    assert there.error.name == not_there.error.name == "not_allowed"
    assert why(there).replace("outside/", "x/", 1) == why(not_there)
