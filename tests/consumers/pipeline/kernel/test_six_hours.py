"""Six hours of queues with default settings: every state that each of them has, and at which minute it begins."""

import random

import pytest

from consumers.pipeline.durations import Durations

from .course import HOUR, Course, states, story

SIX_HOURS = int(6 * HOUR)
OK, FALLING, STANDING = "OK", "WARN falling_behind", "WARN not_draining"


def steady(rate):
    return lambda second: rate


def until(change, before, after):
    return lambda second: before if second < change else after


def noisy(mean, seed):
    source = random.Random(seed)
    return lambda second: mean * source.uniform(0.5, 1.5)


# Messages a second: (produced, consumed at most, waiting at first), and the states.
STORIES = {
    "grows steadily": (
        Course(steady(4), steady(1), SIX_HOURS),
        [(1, OK), (8, FALLING)],
    ),
    "grows by three seconds a minute": (
        Course(steady(4), steady(3.8), SIX_HOURS),
        [(1, OK), (101, FALLING)],
    ),
    "grows more slowly than that": (
        Course(steady(4), steady(3.82), SIX_HOURS),
        [(1, OK), (343, STANDING)],
    ),
    "grows, then stays at ten minutes": (
        Course(steady(4), until(800, 1, 4), SIX_HOURS),
        [(1, OK), (8, FALLING), (24, OK)],
    ),
    "grows, then stays at twenty minutes": (
        Course(steady(4), until(1600, 1, 4), SIX_HOURS),
        [(1, OK), (8, FALLING), (37, STANDING)],
    ),
    "stays half an hour behind": (
        Course(steady(4), steady(4), SIX_HOURS, begins_with=7200),
        [(1, STANDING)],
    ),
    "drains in five hours": (
        Course(steady(4), steady(4.4), SIX_HOURS, begins_with=7200),
        [(1, STANDING), (64, OK)],
    ),
    "drains in two hours": (
        Course(steady(4), steady(5), SIX_HOURS, begins_with=7200),
        [(1, OK)],
    ),
    "drains in two hours, and its messages are kept for one": (
        Course(steady(4), steady(5), SIX_HOURS, begins_with=7200, reserved_seconds=HOUR),
        [(1, STANDING), (64, OK)],
    ),
    "is given what takes two minutes, every half hour": (
        Course(lambda second: 200 if second % 1800 < 60 else 1, steady(100), SIX_HOURS),
        [(1, OK)],
    ),
    "consumes in pieces of seven minutes": (
        Course(steady(4), lambda second: 0 if second % 600 < 150 else 8, SIX_HOURS),
        [(1, OK)],
    ),
    "consumes in pieces, and too little": (
        Course(steady(4), lambda second: 0 if second % 600 < 150 else 4, SIX_HOURS),
        [(1, OK), (23, FALLING)],
    ),
    "falls behind by day and drains in a silent night": (
        Course(lambda second: 4 if second < 2 * HOUR else 0, steady(3), SIX_HOURS),
        [(1, OK), (21, FALLING), (134, OK)],
    ),
    "is silent all night, level": (
        Course(lambda second: 4 if second < HOUR else 0, steady(5), SIX_HOURS),
        [(1, OK)],
    ),
    "grows by three seconds a minute, as noise has it": (
        Course(noisy(4, 1), noisy(3.8, 2), SIX_HOURS),
        [
            (1, OK),
            (101, FALLING),
            (145, OK),
            (150, FALLING),
            (213, OK),
            (216, FALLING),
            (229, OK),
            (240, FALLING),
            (289, OK),
            (298, FALLING),
        ],
    ),
}


@pytest.fixture(scope="module")
def told():
    courses = [course for course, _ in STORIES.values()]
    return dict(zip(STORIES, map(states, story(courses, Durations())), strict=True))


@pytest.mark.parametrize("name", STORIES)
def test_a_queue_that(name, told):
    assert told[name] == STORIES[name][1]
