"""Options of a cluster in words: what it is registered with, and what is wrong with an option."""

from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy as _

from consumers.vocabulary.reasons import reasons_in
from consumers.vocabulary.registration import OptionProblem

PROBLEMS: dict[str, str | Promise] = {
    OptionProblem.NAME: _("A cluster name must have 1 to %(longest)s characters and no '/'."),
    OptionProblem.ADDRESS: _(
        "%(address)s is not of the form host:port, with a port from 1 to 65535. Write an IPv6 host in brackets."
    ),
    OptionProblem.NO_NAME_SERVER: _("At least one HOST:PORT is needed."),
    OptionProblem.NO_OFFSET_FILE: _("%(glob)s does not name an offset file: they are named %(names)s."),
    OptionProblem.OUTSIDE_FOLDERS: _(
        "%(glob)s is outside of the folders that offset files are read from (POLL_OFFSET_FOLDERS: %(folders)s): name a "
        "file in one of them."
    ),
    OptionProblem.GLOB_TWICE: _("%(glob)s is named twice: name each glob of offset files once."),
    OptionProblem.NO_BROKER_NAME: _(
        "%(glob)s has no broker's name before its '=': write BROKER=/path/to/consumerOffset.json."
    ),
    OptionProblem.NOT_ABSOLUTE: _(
        "%(glob)s is not an absolute path: write it from '/' on, as the poll worker sees it."
    ),
    OptionProblem.NUL: _("%(glob)s contains a character that no path can contain."),
    OptionProblem.ANY_FOLDERS: _(
        "%(glob)s holds '**', which may walk a whole disk: write one '*' for each folder, as in /*/*/offsets.json."
    ),
    OptionProblem.FOLDER: _("%(glob)s names a folder: name the files in it, as in /config/consumerOffset.json."),
    OptionProblem.BACKUP: _(
        "%(glob)s names a backup: name the file itself, its %(suffix)s is read where the file cannot be."
    ),
    OptionProblem.TLS_PATH: _("Name the file from '/' on, as the poll worker sees it."),
    OptionProblem.TLS_KEY_ALONE: _("A key needs its certificate: enter both."),
    OptionProblem.TLS_CA_UNUSED: _("Authorities have no effect without certificate verification: clear them."),
    OptionProblem.TLS_ANY_HOST: _("It needs your own authorities: those of the machine vouch for any host."),
    OptionProblem.TLS_NOT_CHOSEN: _("TLS options apply only with TLS: choose it, or clear them."),
    OptionProblem.SECRET_KEY_ALONE: _("A secret key needs its access key."),
    OptionProblem.ACCESS_KEY_ALONE: _("Another access key needs its secret key."),
}

# By whether certificates are verified, and whether they may name any host.
TLS: dict[tuple[bool, bool], str | Promise] = {
    (True, False): _("TLS"),
    (True, True): _("TLS, host names not verified"),
    (False, False): _("TLS, certificates not verified"),
}


def option_words(stored: str) -> str:
    """Of the text of a WrongOption or a WrongFileGlob."""
    problem = reasons_in(stored)[0]
    return problem if isinstance(problem, str) else str(PROBLEMS[problem["code"]]) % problem


def described(cluster: Any) -> list[str]:
    """What a cluster is registered with besides its name servers, without secrets."""
    tls = cluster.tls
    parts = {
        gettext("access key %s"): cluster.access_key,
        "%s": tls and TLS[tls["verify"], bool(tls.get("any_host"))],
        gettext("offset files %s"): cluster.offset_files,
        gettext("client logs %s"): cluster.client_logs,
        gettext("broker logs %s"): cluster.broker_logs,
        gettext("proxy %s"): cluster.proxy,
    }
    return [template % value for template, value in parts.items() if value]
