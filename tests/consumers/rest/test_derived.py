"""A serializer says what its row says: nothing is declared twice."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, make_dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import pytest
from rest_framework import serializers

from consumers.models import HealthLevel, State
from consumers.queries.declared import INSIDE, URL, answer, public
from consumers.rest.schema import made_serializer, read_serializer


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True)
class Wheel:
    spokes: int | None


@answer("A cart.", name="Wagon", last=("unknown",))
@dataclass(frozen=True, kw_only=True)
class CartRow:
    id: int = field(metadata=INSIDE)
    since: datetime = field(metadata=public("When it came", name="from"))
    wheels: Sequence[Wheel] = ()
    unknown: Mapping[str, str] = field(default_factory=dict)
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class HorseCart(CartRow):
    horses: int = 1

    @property
    def legs(self) -> int:
        return 4 * self.horses


CART = CartRow(id=1, since=datetime(2026, 1, 1, tzinfo=UTC), wheels=(Wheel(12), Wheel(None)))


@pytest.mark.parametrize(
    ("hint", "of", "kind", "child"),
    [
        (int, None, serializers.IntegerField, None),
        (float, None, serializers.FloatField, None),
        (bool, None, serializers.BooleanField, None),
        (datetime, None, serializers.DateTimeField, None),
        (str, None, serializers.CharField, None),
        (str, UUID, serializers.UUIDField, None),
        (str, URL, serializers.URLField, None),
        (Any, None, serializers.JSONField, None),
        (State, None, serializers.ChoiceField, None),
        (str, ["a", "b"], serializers.ChoiceField, None),
        (list[str], None, serializers.ListField, serializers.CharField),
        (tuple[int, ...], None, serializers.ListField, serializers.IntegerField),
        (list[str], State, serializers.ListField, serializers.ChoiceField),
        (dict[str, float], None, serializers.DictField, serializers.FloatField),
        (Wheel, None, serializers.Serializer, None),
        (list[Wheel], None, serializers.ListSerializer, serializers.Serializer),
        (dict[str, Wheel], None, serializers.DictField, serializers.Serializer),
    ],
)
@pytest.mark.parametrize("may_be_null", [False, True])
def test_a_field_has_the_type_of_the_rows_field(hint, of, kind, child, may_be_null):
    named = ("value", hint | None if may_be_null else hint, field(metadata=public(of=of)))
    row = make_dataclass("Row", [named])
    made = read_serializer(row)().fields["value"]
    assert isinstance(made, kind)
    assert child is None or isinstance(made.child, child)
    assert made.allow_null is (may_be_null or hint is Any)


@pytest.mark.parametrize(
    ("of", "choices"),
    [(HealthLevel, dict(HealthLevel.choices)), (Colour, {"red": "red"}), ((("a", "A"),), {"a": "A"})],
)
def test_choices_have_the_words_that_they_are_declared_with(of, choices):
    @dataclass
    class Row:
        value: str = field(metadata=public(of=of))

    assert dict(read_serializer(Row)().fields["value"].choices) == choices


def test_names_and_order_are_the_rows_with_what_stands_last_behind():
    assert list(read_serializer(CartRow)().fields) == ["from", "wheels", "source", "unknown"]


def test_a_row_is_answered_by_its_public_names():
    document = read_serializer(CartRow)(CART).data
    assert document == {
        "from": "2026-01-01T00:00:00Z",
        "wheels": [{"spokes": 12}, {"spokes": None}],
        "source": None,
        "unknown": {},
    }


def test_a_help_text_is_the_fields():
    assert read_serializer(CartRow)().fields["from"].help_text == "When it came"


def test_a_component_is_named_and_described_as_its_row_says():
    made = read_serializer(CartRow)
    assert (made.__name__, made.__doc__) == ("WagonSerializer", "A cart.")


def test_a_wider_row_has_a_name_of_its_own_and_the_text_of_the_narrower():
    made = read_serializer(HorseCart)
    assert (made.__name__, made.__doc__) == ("HorseCartSerializer", "A cart.")
    assert list(made().fields)[-1] == "horses"


def test_a_row_has_one_serializer_wherever_it_stands():
    assert type(read_serializer(CartRow)().fields["wheels"].child) is read_serializer(Wheel)


def test_a_field_may_be_given_in_place_of_the_derived_one():
    made = made_serializer(CartRow, wheels=serializers.IntegerField(source="id"))
    assert list(made(CART).data) == ["from", "wheels", "source", "unknown"]
    assert made(CART).data["wheels"] == 1


def test_a_property_of_the_row_may_be_answered_too():
    made = made_serializer(HorseCart, legs=serializers.IntegerField())
    assert made(HorseCart(id=1, since=CART.since)).data["legs"] == 4


def test_a_field_that_the_row_does_not_have_is_refused():
    with pytest.raises(TypeError, match="CartRow has no wings"):
        made_serializer(CartRow, wings=serializers.IntegerField())
