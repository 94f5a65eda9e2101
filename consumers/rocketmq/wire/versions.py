"""RocketMQ counts its versions: every command carries its sender's version as an ordinal (5.4.0, MQVersion.Version)."""

# V3_0_0 has sixteen pre-releases, 3.0 runs to 3.0.15, 3.3 to 3.9 start at patch 1; from 4.0 on a minor has ten patches.
_FIRST_PATCHES = {**dict.fromkeys([(3, minor) for minor in range(3, 10)], 1), (3, 0): 1}
_LAST_PATCHES = {(3, 0): 15}
_PRE_RELEASES = (
    ["SNAPSHOT", "ALPHA1"]
    + [f"BETA{number}" for number in range(1, 6)]
    + [f"BETA{number}{suffix}" for number in range(6, 10) for suffix in ("_SNAPSHOT", "")]
    + ["FINAL"]
)


def _names() -> list[str]:
    names = [f"V3_0_0_{suffix}" for suffix in _PRE_RELEASES]
    for major in (3, 4, 5):
        for minor in range(10):
            first, last = _FIRST_PATCHES.get((major, minor), 0), _LAST_PATCHES.get((major, minor), 9)
            for patch in range(first, last + 1):
                names += [f"V{major}_{minor}_{patch}_SNAPSHOT", f"V{major}_{minor}_{patch}"]
    return names


_NAMES = _names()
_ORDINALS = {name: ordinal for ordinal, name in enumerate(_NAMES)}


def mq_version_name(ordinal: int) -> str | None:
    """`V5_4_0` for 493; None for an ordinal that no release has."""
    return _NAMES[ordinal] if 0 <= ordinal < len(_NAMES) else None


# What this client's commands say. Below V4_9_4 a name server leaves keys of routes unquoted (ClientRequestProcessor).
CLIENT_VERSION = _ORDINALS["V5_4_0"]
# Since this version GET_CONSUME_STATS understands topicList; earlier ones ignore it and answer with an empty table.
BULK_OFFSETS_VERSION = _ORDINALS["V5_3_2"]
