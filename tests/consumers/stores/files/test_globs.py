"""Globs of offset files as an operator writes them."""

import pytest

from consumers.stores.files.stored_file import FileGlob, WrongFileGlob, parse_offset_files
from consumers.words.registration import option_words

FILE = "/data/a/config/consumerOffset.json"


@pytest.mark.parametrize(
    ("text", "globs"),
    [
        ("", ()),
        (" ; ;", ()),
        (FILE, (FileGlob(FILE),)),
        (f"broker-a={FILE}", (FileGlob(FILE, "broker-a"),)),
        (f" broker-a = {FILE} ; /*/*/offsets.json;", (FileGlob(FILE, "broker-a"), FileGlob("/*/*/offsets.json"))),
        ("/data/a=b/offsets.json", (FileGlob("/data/a=b/offsets.json"),)),
        ("a=/data/x=y/offsets.json", (FileGlob("/data/x=y/offsets.json", "a"),)),
        ("host.example.org=/a", (FileGlob("/a", "host.example.org"),)),
    ],
)
def test_it_reads_entries_with_and_without_a_broker(text, globs):
    assert parse_offset_files(text) == globs


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("config/consumerOffset.json", "is not an absolute path"),
        ("~/.rocketmq_offsets/*/*/offsets.json", "is not an absolute path"),
        ("broker-a=", "is not an absolute path"),
        (f"={FILE}", "has no broker's name before its '='"),
        (f"broker a={FILE}", "has no broker's name before its '='"),
        ("/data/**/offsets.json", "may walk a whole disk"),
        ("/data/a/config/", "names a folder"),
        (f"{FILE}.bak", "names a backup"),
        ("/a\0b", "no path can contain"),
        (f"a={FILE};b={FILE}", "is named twice"),
    ],
)
def test_it_says_what_is_wrong_with_an_entry(text, sentence):
    with pytest.raises(WrongFileGlob) as error:
        parse_offset_files(text)
    assert sentence in option_words(str(error.value))


@pytest.mark.parametrize("text", [FILE, f"broker-a={FILE}"])
def test_a_glob_is_written_as_it_was_read(text):
    assert str(parse_offset_files(text)[0]) == text
