"""Words for offset files and what is wrong with them, for starts without an offset, and for redeliveries."""

import json
from collections.abc import Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from consumers.vocabulary.offset_files import ExposureReason, FileCode, JsonKind, StartReason, StartRule

from .registration import option_words
from .spans import age, with_counts, with_plain_times

KINDS: dict[str, str | Promise] = {
    JsonKind.NULL: _("nothing (null)"),
    JsonKind.TEXT: _("a text"),
    JsonKind.BOOLEAN: _("true or false"),
    JsonKind.NUMBER: _("a whole number"),
    JsonKind.FRACTION: _("a fraction"),
    JsonKind.LIST: _("a list"),
    JsonKind.OBJECT: _("an object"),
}

# Of findings `%(where)s` is the place; of problems `%(path)s` is the file.
CODES: dict[str, str | Promise] = {
    FileCode.MORE_FINDINGS: _("More findings at their rows: %(others)s."),
    FileCode.STALE: _(
        "Last written at %(at)s, though its writer writes every 5 s: the writer has stopped or cannot write."
    ),
    FileCode.LEFT_BEHIND: _("Left by a client that is gone; last written at %(at)s."),
    FileCode.NOT_BROADCASTING: _("The members of %(group)s keep their offsets on the brokers: none reads this file."),
    FileCode.FROM_BACKUP: _("These are the offsets of %(backup)s, written %(age_seconds)s ago: %(problem)s"),
    FileCode.BESIDE_ROCKSDB: _(
        "The broker keeps its offsets in RocksDB (%(folder)s); this file is an export and becomes outdated."
    ),
    FileCode.BYTE_ORDER_MARK: _("An editor put a byte order mark before the first line: save the file without one."),
    FileCode.BROKER_UNNAMED: _(
        "The broker of this file is unknown: write BROKER=%(path)s in the cluster's offset files."
    ),
    FileCode.BROKER_NAMED_TWICE: _("More than one %(file)s is named for %(broker)s: name one, of its master."),
    FileCode.OWNER_UNNAMED: _(
        "%(path)s is not in CLIENT_ID/GROUP/, so the owner of these offsets is unknown: "
        "name the folder that clients write to, not a copy."
    ),
    FileCode.BROKER_NOT_IN_CLUSTER: _("The cluster has no broker %(broker)s, for which this file is named."),
    FileCode.UNKNOWN_BROKER: _(
        "No broker of the cluster is named %(name)s: it is gone, or the file belongs to another cluster."
    ),
    FileCode.UNKNOWN_GROUP: _("No group of the cluster is named %(name)s: it was deleted, or the name is wrong."),
    FileCode.UNKNOWN_TOPIC: _("No topic of the cluster is named %(name)s: it was deleted, or the name is wrong."),
    FileCode.QUEUE_TWICE: _("%(where)s occurs more than once, first with %(first)s: the last one is loaded."),
    FileCode.KEY_TWICE: _("%(where)s: the key occurs %(times)s times: only the last one is loaded."),
    FileCode.BOTH_MODELS: _("%(where)s: the group also has offsets of clustering members for this topic."),
    FileCode.WRONG_VALUE: _("%(where)s: holds %(held)s where queues with offsets belong."),
    FileCode.QUEUE_ID_KIND: _("%(where)s: the queue id is %(held)s, not a whole number."),
    FileCode.QUEUE_ID_RANGE: _("%(where)s: the queue id %(number)s is out of range."),
    FileCode.LEVEL_KIND: _("%(where)s: the delay level is %(held)s, not a whole number."),
    FileCode.LEVEL_RANGE: _("%(where)s: the delay level %(number)s is out of range."),
    FileCode.LEVEL_ZERO: _("%(where)s: delay levels begin with 1."),
    FileCode.OFFSET_KIND: _("%(where)s: the offset is %(held)s, not a whole number."),
    FileCode.OFFSET_TOO_LARGE: _("%(where)s: the offset %(offset)s is larger than any can be."),
    FileCode.OFFSET_NEGATIVE: _("%(where)s: the offset %(offset)s is below zero."),
    FileCode.KEY_FORM: _("%(where)s: the key is not a text of the form topic@group."),
    FileCode.KEY_CHARACTERS: _("%(where)s: the key has characters that no name has."),
    FileCode.KEY_NO_QUEUE: _("%(where)s: the key is %(held)s, not a queue (brokerName, queueId, topic)."),
    FileCode.KEY_LACKS: _("%(where)s: the key has no %(name)s."),
    FileCode.KEY_WITHOUT_GROUP: _(
        "%(where)s: the key names no group; it should be topic@group. No broker looks up such a key."
    ),
    FileCode.KEY_GROUP_INFERRED: _(
        "%(where)s: the key names no group; %(group)s is inferred from the topic. No broker looks up such a key."
    ),
    FileCode.KEY_WITHOUT_TOPIC: _(
        "%(where)s: the key names no topic; it should be topic@group. No broker looks up such a key."
    ),
    FileCode.ODD_KEY: _("%(where)s: the key has more than one '@': read as topic %(topic)s and group %(group)s."),
    FileCode.WENT_BACK_BACKUP: _(
        "%(offset)s is lower than %(before)s, the earlier offset in this file: it comes from the older backup. "
        "%(n_messages)s redelivered if the broker starts from it."
    ),
    FileCode.WENT_BACK_EDITED: _(
        "%(offset)s is lower than %(before)s, the earlier offset in this file: it was edited or restored. The broker's "
        "memory holds %(memory)s and will overwrite it. %(n_messages)s redelivered if the broker starts from the file."
    ),
    FileCode.WENT_BACK_RESET: _(
        "%(offset)s is lower than %(before)s, the earlier offset in this file: the broker's memory went back too, as "
        "after a reset."
    ),
    FileCode.WENT_BACK: _(
        "%(offset)s is lower than %(before)s, the earlier offset in this file: edited, restored from an older copy, or "
        "reset (the broker's memory is not known). %(n_messages)s redelivered if the broker starts from it."
    ),
    FileCode.BEHIND_MEMORY: _(
        "%(offset)s is lower than %(memory)s, which the broker's memory held at %(at)s, before this file was written: "
        "edited, or not this broker's file."
    ),
    FileCode.VANISHED: _(
        "The offset of %(where)s, %(offset)s before, is missing from the file: edited, or deleted by the broker (its "
        "memory is not known)."
    ),
    FileCode.VANISHED_EDITED: _(
        "The offset of %(where)s, %(offset)s before, is missing from the file: edited. The broker's memory still has "
        "it and will write it again."
    ),
    FileCode.UNREADABLE: _("%(path)s could not be read: %(error)s. Check its disk or mount."),
    FileCode.MISSING: _(
        "%(path)s does not exist: is its disk mounted, and is this where the broker (storePathRootDir/config) or the "
        "client (rocketmq.client.localOffsetStoreDir) keeps it?"
    ),
    FileCode.EMPTY: _(
        "%(path)s is empty. Brokers and clients write it again every 5 s: if it stays empty, look for a full disk."
    ),
    FileCode.CUT_OFF: _(
        "%(path)s is cut off after %(bytes)s bytes: if its writer runs, it writes the file again within 5 s; else "
        "restore it, or copy its .bak over it."
    ),
    FileCode.MALFORMED: _(
        "%(path)s is broken at line %(line)s, column %(column)s: if its writer runs, it writes the file again within "
        "5 s; else restore it, or copy its .bak over it."
    ),
    FileCode.ZERO_BYTES: _(
        "%(path)s holds zero bytes only, as after a crash of its machine: its writer will write it again."
    ),
    FileCode.NOT_TEXT: _("%(path)s is not text: %(detail)s. Is it an offset file?"),
    FileCode.NOT_OFFSETS: _(
        "%(path)s holds %(held)s where an object with an offsetTable belongs: it is not an offset file."
    ),
    FileCode.NO_TABLE: _("%(path)s has no offsetTable: it is not an offset file, or was emptied by hand."),
    FileCode.MANY_TABLES: _("%(path)s has %(tables)s tables named offsetTable: leave one."),
    FileCode.TABLE_KIND: _("%(path)s has an offsetTable that is not an object: restore it, or copy its .bak over it."),
    FileCode.CHANGED: _("%(path)s changed while it was read, again and again: something writes it all the time."),
    FileCode.NOT_PERMITTED: _(
        "%(path)s may not be read by the user that the poll worker runs as: allow it to read the file and to enter "
        "its folders."
    ),
    FileCode.OUTSIDE_FOLDERS: _(
        "%(path)s is outside of the folders that offset files are read from (POLL_OFFSET_FOLDERS: %(folders)s), or is "
        "a link that leads out of them."
    ),
    FileCode.OTHER_NAME: _(
        "%(path)s is not named consumerOffset.json, delayOffset.json or offsets.json: it is not opened."
    ),
    FileCode.LINK_TO_OTHER_NAME: _(
        "%(path)s is not named consumerOffset.json, delayOffset.json or offsets.json, or is a link to a file with "
        "another name: it is not opened."
    ),
    FileCode.TOO_LARGE: _(
        "%(path)s has %(mib)s MiB, more than POLL_OFFSET_FILE_MIB (%(allowed)s) allows: raise that if it is an offset "
        "file."
    ),
    FileCode.IN_ROCKSDB: _(
        "%(path)s is not written: the broker keeps its offsets in RocksDB (%(folder)s) and writes no JSON. Its memory "
        "shows them all the same: name no offset file for it."
    ),
    FileCode.NO_FILE: _("%(path)s is neither a file nor a link to one."),
    FileCode.IS_FOLDER: _("%(path)s is a folder: name the file in it."),
    FileCode.GLOB: _("The offset files are named wrongly: %(detail)s"),
    FileCode.GLOB_OUTSIDE_FOLDERS: _(
        "%(path)s is outside of the folders that offset files are read from (POLL_OFFSET_FOLDERS: %(folders)s): begin "
        "it in one of them, or add its folder."
    ),
    FileCode.GLOB_OTHER_NAMES: _(
        "%(path)s matches files that are not named consumerOffset.json, delayOffset.json or offsets.json: they are not "
        "opened."
    ),
    FileCode.GLOB_NO_FILE: _("%(path)s matches no file: is its disk mounted here, and may its folders be entered?"),
    FileCode.GLOB_ODD_PATHS: _("%(path)s matches paths that are not text, or longer than %(longest)s characters."),
    FileCode.GLOB_TOO_MANY: _(
        "%(path)s and the globs before it match more than %(most)s files (POLL_OFFSET_FILES): the others are not read."
    ),
    FileCode.NOT_STORED: _("Its offsets are not stored: the disk of the history is full, or cannot be written."),
    FileCode.NO_ANSWER: _("Not read within %(seconds)s s: does the disk or mount that holds it still answer?"),
}


def finding_words(finding: Mapping[str, Any]) -> str:
    """`finding`: as a row of a file stores it, with code, where and params."""
    return _words(finding["code"], {"where": finding["where"], **finding["params"]})


def row_words(stored: str | None) -> str | None:
    """All findings of one row of a file; None where nothing is wrong with it."""
    return " ".join(map(finding_words, json.loads(stored))) if stored else None


def problem_words(stored: str | None) -> str | None:
    """Why nothing was read of a file; None where it was read."""
    return _problem(json.loads(stored)) if stored else None


def _problem(members: Mapping[str, Any]) -> str:
    own = _words(members["code"], members["params"])
    return f"{own} {_problem(members['backup'])}" if "backup" in members else own


def _words(code: str, params: Mapping[str, Any]) -> str:
    """What is no code is said as it is: another version of the product may have stored it."""
    if code not in CODES:
        return code
    values = with_counts(params)
    if "at" in values:
        values["at"] = with_plain_times(values["at"])
    if "held" in values:
        values["held"] = KINDS.get(values["held"], values["held"])
    if "age_seconds" in values:
        values["age_seconds"] = age(values["age_seconds"])
    if "detail" in values:
        values["detail"] = option_words(values["detail"])
    if "problem" in values:
        values["problem"] = _problem(values["problem"])
    return str(CODES[code]) % values


START_RULES: dict[str, str | Promise] = {
    StartRule.NOBODY: _("nobody starts here"),
    StartRule.EMPTY_QUEUE: _("the queue is empty: every start is 0"),
    StartRule.IN_MEMORY: _("0 while the first message is in the broker's memory, whatever ConsumeFromWhere says"),
    StartRule.COMMITTED_MEANWHILE: _("an offset was committed meanwhile: it takes precedence"),
    StartRule.FIRST: _("first offset"),
    StartRule.LAST_END: _("last offset: the end of the queue"),
    StartRule.RETRY_BEGIN: _("last offset: a retry topic from 0"),
    StartRule.RETRY_END: _("timestamp: a retry topic from its end"),
    StartRule.TIMESTAMP: _("timestamp"),
    StartRule.FROM_TIME: _("timestamp: the first message from %(at)s on"),
    StartRule.BY_SETTING: _("by ConsumeFromWhere"),
    StartRule.AS_BROKER_ANSWERS: _("as the broker answers"),
    StartRule.MOVED_TO_MIN: _("%(rule)s, moved up to the min offset"),
}
START_REASONS: dict[str, str | Promise] = {
    StartReason.OWN_DEAD_LETTERS: _("a group does not consume its own dead-letter messages"),
    StartReason.MEMORY_NOT_ASKED: _("the broker was not asked whether the first message is still in its memory"),
    StartReason.NO_MEMBER: _("no member was present to report its ConsumeFromWhere"),
    StartReason.UNKNOWN_SETTING: _("no rule is known for ConsumeFromWhere %(setting)s"),
    StartReason.MIN_UNREAD: _("the min offset was not read"),
    StartReason.END_UNREAD: _("the broker offset was not read"),
    StartReason.NO_TIMESTAMP: _("no member has reported its consumeTimestamp"),
    StartReason.ZONE_UNKNOWN: _("consumeTimestamp %(timestamp)s is in the client's own time zone, which is unknown"),
    StartReason.TIME_NOT_ASKED: _("the broker was not asked for the offset of that time"),
}
EXPOSURE_REASONS: dict[str, str | Promise] = {
    ExposureReason.NOT_SAMPLED: _("not sampled"),
    ExposureReason.REPORT_TOO_OLD: _(
        "%(client)s last reported its cached messages %(age_seconds)s ago: older than %(most_seconds)s is too old"
    ),
    ExposureReason.HELD_UNSAID: _("%(client)s did not report its cached messages"),
    ExposureReason.HOLDS_NOTHING: _("%(client)s has cached no message and has no offset in its memory"),
    ExposureReason.OFFSET_UNREAD: _("the offset was not read"),
    ExposureReason.CLIENT_MOVED_ON: _(
        "the client reported %(earlier_seconds)s before the offset was read, and has moved on since"
    ),
    ExposureReason.COMMITTED_PAST_CLIENT: _(
        "anomaly: committed past the client: %(stored)s is stored, the client is at %(client)s"
    ),
    ExposureReason.FILE_PAST_CLIENT: _(
        "anomaly: file past the client: %(stored)s is stored, the client is at %(client)s"
    ),
    ExposureReason.MORE_HELD_THAN_OFFSETS: _("anomaly: more messages held than offsets"),
    ExposureReason.SEVERAL_HOLDERS: _(
        "%(clients)s clients hold this queue: the least and the greatest of what they report count"
    ),
}
