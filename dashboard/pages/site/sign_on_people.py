"""The user of a person who signs on. What the person may do is what the provider's groups say, and nothing else.

A person is known by issuer and subject alone. Names and mail addresses only say what to call the person: nobody becomes
a user that is there already by having the same name.
"""

import re
import unicodedata
from collections.abc import Iterator
from datetime import datetime
from itertools import count
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.models import Group, User
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext

from consumers.jobs.acts import note
from consumers.models import AuditAction, Cluster, ClusterRole, SignOnAccount

from .sign_on_provider import SignOnRefused

# As Django has user names; the rest of the column is for what tells two people of one name apart.
NO_USER_NAME = re.compile(r"[^\w.@+-]+")
LONGEST_NAME, LONGEST_SUBJECT = 100, 255
# What a person may do, and the cluster that it is for; "" for all.
Role = tuple[str, str]
ADMIN: Role = ("admin", "")


def user_signed_on(claims: dict[str, Any], now: datetime) -> User:
    """Raises `SignOnRefused` for who has no role, after everything that the person had was taken away."""
    groups = _groups(claims)
    roles = _roles_of(groups or [])
    try:
        user = _stored(claims, roles, now)
    except IntegrityError:
        # Another sign-in of this person, or one of somebody with the same name, was first.
        user = _stored(claims, roles, now)
    if groups is None:
        raise SignOnRefused(
            gettext(
                "Could not sign in: the token has no list of groups. Ask an administrator to add the claim “%(claim)s” "
                "to it."
            )
            % {"claim": settings.CONSUMERSCOPE_OIDC_GROUPS_CLAIM}
        )
    if user is None or not roles:
        raise SignOnRefused(
            gettext("Could not sign in: none of your groups has a role here. Ask an administrator for access.")
        )
    if not user.is_active:
        raise SignOnRefused(gettext("Could not sign in: your account is disabled here. Ask an administrator."))
    return user


def _groups(claims: dict[str, Any]) -> list[str] | None:
    """Some providers send one group as a text. None where there is no list of names."""
    claimed = claims.get(settings.CONSUMERSCOPE_OIDC_GROUPS_CLAIM)
    groups = [claimed] if isinstance(claimed, str) else claimed
    return groups if isinstance(groups, list) and all(isinstance(one, str) for one in groups) else None


def _roles_of(groups: list[str]) -> set[Role]:
    """A role for a cluster that is not registered is none."""
    mapped = settings.CONSUMERSCOPE_OIDC_ROLES
    found = {role for group in groups for role in mapped.get(group, ())}
    registered = set(Cluster.objects.values_list("name", flat=True))
    return {(role, cluster) for role, cluster in found if not cluster or cluster in registered}


@transaction.atomic
def _stored(claims: dict[str, Any], roles: set[Role], now: datetime) -> User | None:
    """None where somebody without a role was never here."""
    issuer, subject = settings.CONSUMERSCOPE_OIDC_ISSUER, str(claims["sub"])
    if not subject or len(subject) > LONGEST_SUBJECT or "\0" in subject:
        raise SignOnRefused(gettext("Could not sign in: the token names nobody. Ask the provider's administrator."))
    account = SignOnAccount.objects.select_related("user").filter(issuer=issuer, subject=subject).first()
    if account is None:
        return _made(claims, subject, roles, now) if roles else None
    account.confirmed_at = now
    if not roles:
        _disable(account, now)
    elif account.user.is_active or account.refused_at is not None:
        _follow(account, claims, roles)
        account.refused_at = None
    account.save(update_fields=["confirmed_at", "refused_at", "name"])
    return account.user


def _made(claims: dict[str, Any], subject: str, roles: set[Role], now: datetime) -> User:
    name = name_of(claims)
    user = User.objects.create_user(_free_name(name, User.objects.all()), _mail(claims), is_staff=ADMIN in roles)
    _set_roles(user, roles)
    issuer = settings.CONSUMERSCOPE_OIDC_ISSUER
    SignOnAccount.objects.create(user=user, issuer=issuer, subject=subject, name=name, confirmed_at=now)
    note(user, user.username, user, f"Signed in for the first time, as {_listed(roles)}.", now, AuditAction.ADDED)
    return user


def _follow(account: SignOnAccount, claims: dict[str, Any], roles: set[Role]) -> None:
    """Also what somebody was given here, such as the mark of a superuser, is what the provider says from now on."""
    user = account.user
    if (name := name_of(claims)) != account.name:
        account.name, user.username = name, _free_name(name, User.objects.exclude(pk=user.pk))
    before = roles_now(user)
    user.email, user.is_active, user.is_staff, user.is_superuser = _mail(claims), True, ADMIN in roles, False
    user.save(update_fields=["username", "email", "is_active", "is_staff", "is_superuser"])
    _set_roles(user, roles)
    user.user_permissions.clear()
    if before != roles:
        sentence = f"Roles by the provider's groups: {_listed(roles)}, not {_listed(before)}."
        note(user, user.username, user, sentence, account.confirmed_at)


def _disable(account: SignOnAccount, now: datetime) -> None:
    """Whoever is disabled has no session and no token. A sign-in with a role enables the user again."""
    user = account.user
    if not user.is_active:
        return
    account.refused_at = now
    user.is_active = user.is_staff = user.is_superuser = False
    user.save(update_fields=["is_active", "is_staff", "is_superuser"])
    _set_roles(user, set())
    user.user_permissions.clear()
    note(user, user.username, user, "Disabled: no group of the provider has a role.", now)


def roles_now(user: User) -> set[Role]:
    """Each with the name of its cluster; empty for all clusters."""
    of_clusters = user.cluster_roles.values_list("role__name", "cluster__name")
    return {(name, "") for name in user.groups.values_list("name", flat=True)} | set(of_clusters)


def _set_roles(user: User, roles: set[Role]) -> None:
    """These and no others."""
    user.groups.set(Group.objects.filter(name__in=[role for role, cluster in roles if not cluster]))
    user.cluster_roles.all().delete()
    for role, cluster in sorted(roles):
        if cluster:
            rows = {"cluster": Cluster.objects.get(name=cluster), "role": Group.objects.get(name=role)}
            ClusterRole.objects.create(user=user, **rows)


def name_of(claims: dict[str, Any]) -> str:
    """What people call the person, as a user name; without any name the subject."""
    for candidate in (claims.get("preferred_username"), claims.get("email"), claims["sub"]):
        if isinstance(candidate, str):
            name = NO_USER_NAME.sub("-", unicodedata.normalize("NFKC", candidate.strip()))[:LONGEST_NAME].strip("-")
            if name:
                return name
    return "nameless"


def _free_name(name: str, others: QuerySet[User]) -> str:
    """The name, or one that says where it is from where one of these users has it."""
    return next(one for one in _names(name) if not others.filter(username__iexact=one).exists())


def _names(name: str) -> Iterator[str]:
    yield name
    there = f"{name}@{urlsplit(settings.CONSUMERSCOPE_OIDC_ISSUER).hostname}"[:140]
    yield there
    yield from (f"{there}-{number}" for number in count(2))


def _mail(claims: dict[str, Any]) -> str:
    mail = claims.get("email")
    return mail if isinstance(mail, str) and len(mail) <= 254 and "\0" not in mail else ""


def _listed(roles: set[Role]) -> str:
    return ", ".join(sorted(f"{role}@{cluster}" if cluster else role for role, cluster in roles)) or "nothing"
