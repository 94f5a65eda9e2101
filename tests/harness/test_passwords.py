"""Passwords of tests are hashed quickly, and no other way than the site does it."""

from django.contrib.auth.hashers import check_password, identify_hasher, make_password


def test_a_password_is_hashed_in_one_round_and_still_checked() -> None:
    kept = make_password("a good long password")
    assert identify_hasher(kept).decode(kept)["iterations"] == 1
    assert check_password("a good long password", kept)
    assert not check_password("another one", kept)
