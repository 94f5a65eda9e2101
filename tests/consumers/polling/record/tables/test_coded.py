"""Texts as small numbers: whatever is done to them, they read as the texts."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from consumers.polling.record.snapshots import Coded

TEXTS = st.lists(st.sampled_from([None, "a", "b", "", "None"]), max_size=6)


@given(TEXTS, TEXTS)
def test_joined_texts_are_the_texts_one_after_the_other(first, second):
    assert Coded.of(first).joined(Coded.of(second)).to_list() == first + second


@given(TEXTS)
def test_a_column_of_arrow_reads_the_same(texts):
    parts = [pa.array(texts[:2], pa.string()), pa.array(texts[2:], pa.string())]
    for column in (pa.chunked_array(parts), pa.chunked_array([part.dictionary_encode() for part in parts])):
        assert Coded.of_arrow(column).to_list() == texts


@given(TEXTS, TEXTS)
def test_it_finds_the_rows_that_hold_one_of_several_texts(texts, wanted):
    assert Coded.of(texts).is_in(wanted).tolist() == [text in wanted for text in texts]


@given(st.lists(st.tuples(*[st.sampled_from([None, "a", "b"])] * 2), max_size=6))
def test_rows_are_equal_where_their_texts_are(pairs):
    first, second = Coded.of(pair[0] for pair in pairs), Coded.of(pair[1] for pair in pairs)
    assert first.equals(second).tolist() == [left == right for left, right in pairs]


@pytest.mark.parametrize("text", ["a", "new", None])
def test_some_rows_are_given_a_text(text):
    given_ = Coded.of(["a", "b", "c"])
    assert given_.with_text(np.array([True, False, True]), text).to_list() == [text, "b", text]
    assert given_.to_list() == ["a", "b", "c"]


def test_a_text_that_no_row_holds_any_more_is_not_among_the_distinct_ones():
    assert set(Coded.of(["a", "b", None]).take(np.array([1, 2])).distinct()) == {"b", None}
