"""`manage.py cluster add|list|test|remove|forget-broker`: the clusters that are watched. Only `test` asks a cluster."""

import os
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from consumers.clusters.connection import check_now
from consumers.jobs.asking import AnswerFailed
from consumers.jobs.hold import close_wires
from consumers.logs.globs import WrongLogGlob, parse_log_globs
from consumers.models import Cluster
from consumers.polling.locks import Locked, lock
from consumers.polling.record.lost_offsets import BrokerStays, forget_broker
from consumers.polling.registration import (
    WrongOption,
    checked_addresses,
    checked_name,
    checked_name_servers,
    checked_offset_files,
    checked_tls,
    set_secret,
)
from consumers.words.registration import described, option_words

# The arguments of `manage.py cluster add`, and what they make of a cluster's row.
REMOVABLE = (
    *("acl", "tls", "tls-ca", "tls-certificate", "tls-any-host", "tls-skip-verify"),
    *("offset-files", "client-logs", "broker-logs", "proxy"),
)
TLS_FILES = ("ca", "certificate", "key")


def add_cluster_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name")
    parser.add_argument("--namesrv", metavar="HOST:PORT[;…]", help="needed for a cluster that is not known yet")
    parser.add_argument("--access-key", metavar="KEY", help="of a user who may Get and List")
    parser.add_argument(
        "--secret-key-env", metavar="VARIABLE", help="the environment variable that holds the secret key, read once"
    )
    parser.add_argument("--tls", action="store_true", help="connect to name servers and brokers over TLS")
    parser.add_argument("--tls-ca", metavar="FILE", help="trust these authorities alone (PEM)")
    parser.add_argument("--tls-certificate", metavar="FILE", help="the certificate to show (PEM)")
    parser.add_argument("--tls-key", metavar="FILE", help="its key, without a passphrase (PEM)")
    parser.add_argument("--tls-any-host", action="store_true", help="accept any host that --tls-ca vouches for")
    parser.add_argument("--tls-skip-verify", action="store_true", help="accept any certificate of any host")
    parser.add_argument("--offset-files", metavar="[BROKER=]GLOB[;…]", help="offset files that the poll worker sees")
    parser.add_argument("--client-logs", metavar="[ZONE=]GLOB[;…]", help="clients' logs that the general worker sees")
    parser.add_argument("--broker-logs", metavar="[ZONE=]GLOB[;…]", help="brokers' logs that the general worker sees")
    parser.add_argument("--proxy", metavar="HOST:PORT[;…]", help="remoting ports of proxies, for gRPC clients")
    parser.add_argument(
        "--without", action="append", default=[], choices=REMOVABLE, help="take an option back; may be repeated"
    )


def apply_cluster_arguments(cluster: Cluster, options: dict[str, Any]) -> None:
    """Changes what is named and keeps the rest. Raises WrongOption."""
    if options["namesrv"] is not None or not cluster.namesrv:
        cluster.namesrv = checked_name_servers(options["namesrv"] or "")
    without = set(options["without"])
    if "acl" in without:
        cluster.access_key = cluster.sealed_secret = None
    _apply_secret(cluster, options["access_key"], options["secret_key_env"])
    cluster.tls = _tls(cluster.tls, options, without)
    if options["offset_files"] is not None or "offset-files" in without:
        cluster.offset_files = checked_offset_files(options["offset_files"] or "")
    for name in ("client_logs", "broker_logs"):
        if options[name] is not None or name.replace("_", "-") in without:
            setattr(cluster, name, checked_logs(name, options[name] or ""))
    if options["proxy"] is not None or "proxy" in without:
        cluster.proxy = checked_addresses("proxy", options["proxy"] or "")


def checked_logs(option: str, text: str) -> str:
    """Raises WrongOption."""
    try:
        return ";".join(map(str, parse_log_globs(text)))
    except WrongLogGlob as error:
        raise WrongOption(option, str(error)) from None


def _apply_secret(cluster: Cluster, access_key: str | None, variable: str | None) -> None:
    if access_key is None and variable is None:
        return
    if variable is None:
        raise WrongOption("access_key", "It needs --secret-key-env VARIABLE beside it.")
    if not (access_key or cluster.access_key):
        raise WrongOption("secret_key_env", "It needs --access-key KEY beside it.")
    secret_key = os.environ.get(variable)
    if not secret_key:
        raise WrongOption("secret_key_env", f"The environment variable {variable} is not set, or is empty.")
    set_secret(cluster, access_key or cluster.access_key or "", secret_key, settings.SECRET_KEY)


def _tls(known: dict[str, Any] | None, options: dict[str, Any], without: set[str]) -> dict[str, Any] | None:
    named = {name: options[f"tls_{name}"] for name in TLS_FILES if options[f"tls_{name}"]}
    if "tls" in without:
        known = None
    if known is None and not (named or any(options[name] for name in ("tls", "tls_any_host", "tls_skip_verify"))):
        return None
    tls = {"verify": True, **(known or {})}
    if "tls-ca" in without:
        tls["ca"] = None
    if "tls-certificate" in without:
        tls["certificate"] = tls["key"] = None
    if "tls-skip-verify" in without:
        tls["verify"] = True
    if "tls-any-host" in without:
        tls["any_host"] = False
    if options["tls_any_host"]:
        tls["any_host"] = True
    if options["tls_skip_verify"]:
        tls["verify"] = False
    return checked_tls({**tls, **named})


LOCK_SECONDS = 120


class Command(BaseCommand):
    help = "Adds, changes, lists or removes the clusters that are watched, and forgets brokers that they had."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        add_cluster_arguments(verbs.add_parser("add", help="watch a cluster, or change what is named of a known one"))
        verbs.add_parser("list", help="show the clusters")
        verbs.add_parser("test", help="ask a cluster's name servers and brokers once").add_argument("name")
        remove = verbs.add_parser("remove", help="forget a cluster and its rows; its history in the lake stays")
        remove.add_argument("name")
        forget = verbs.add_parser("forget-broker", help="forget a broker that was taken out of its cluster for good")
        forget.add_argument("name", help="of the cluster")
        forget.add_argument("broker", help="its name")

    def handle(self, *args: Any, **options: Any) -> None:
        match options["verb"]:
            case "add":
                self._add(options)
            case "list":
                self._list()
            case "test":
                self._test(options["name"])
            case "remove":
                self._remove(options["name"])
            case "forget-broker":
                self._forget_broker(options["name"], options["broker"])

    def _add(self, options: dict[str, Any]) -> None:
        try:
            name = checked_name(options["name"])
            cluster = Cluster.objects.filter(name=name).first() or Cluster(name=name, created_at=timezone.now())
            apply_cluster_arguments(cluster, options)
        except WrongOption as error:
            why = option_words(str(error))
            raise CommandError(
                why if error.option == "name" else f"--{error.option.replace('_', '-')}: {why}"
            ) from None
        verb = "changed" if cluster.pk else "added"
        cluster.save()
        parts = [cluster.namesrv.replace(";", "; "), *described(cluster)]
        self.stdout.write(f"Cluster {name} {verb}: {', '.join(parts)}")
        self.stdout.write(f"Test the connection: manage.py cluster test {name}")

    def _list(self) -> None:
        clusters = list(Cluster.objects.all())
        if not clusters:
            self.stdout.write("No cluster yet: manage.py cluster add NAME --namesrv HOST:PORT")
        for cluster in clusters:
            summary = ", ".join(described(cluster))
            self.stdout.write("\t".join([cluster.name, cluster.namesrv, *([summary] if summary else [])]))

    def _test(self, name: str) -> None:
        cluster = Cluster.objects.filter(name=name).first()
        if cluster is None:
            raise CommandError(f"There is no cluster {name!r}. 'manage.py cluster list' shows them.")
        try:
            found = check_now(cluster)
        except AnswerFailed as why:
            raise CommandError(str(why)) from None
        finally:
            close_wires()
        for one in found.calls:
            peer = f"{one.peer or 'name server'} {one.address}"
            self.stdout.write(f"{peer}\t{one.call}\t{one.problem or 'answered'}")
            if one.cure:
                self.stdout.write(f"\t{one.cure_words}")
        if found.left_out:
            self.stdout.write(f"{found.left_out} more brokers were not asked.")
        if found.failures:
            raise CommandError(f"{len(found.failures)} of {len(found.calls)} calls failed.")

    def _remove(self, name: str) -> None:
        if not Cluster.objects.filter(name=name).delete()[0]:
            raise CommandError(f"There is no cluster {name!r}. 'manage.py cluster list' shows them.")
        self.stdout.write(f"Cluster {name} removed.")

    def _forget_broker(self, name: str, broker: str) -> None:
        cluster = Cluster.objects.filter(name=name).first()
        if cluster is None:
            raise CommandError(f"There is no cluster {name!r}. 'manage.py cluster list' shows them.")
        try:
            # A reading that is under way would write the broker's row again.
            with lock(f"poll:{name}", LOCK_SECONDS):
                queues = forget_broker(cluster, broker)
        except BrokerStays as reason:
            raise CommandError(str(reason)) from None
        except Locked:
            raise CommandError(f"{name} is being read by another process just now; try again.") from None
        self.stdout.write(
            f"{broker} of {name} forgotten, with {queues} queues. A name server that still lists it brings it back."
        )
