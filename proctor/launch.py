"""The environment that points an agent at the proxy."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlsplit

from proctor.config import Config
from proctor.errors import UsageError, nearest
from proctor.placeholders import DUMMY_KEY
from proctor.presets import QUIET_VARIABLES
from proctor.service_config import ServiceConfig
from proctor.wire import ASKED, CURRENT, KEPT, MODES, WORLD_KEY, CarrierName, Mode, SessionInfo, SessionSpec

PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
NO_PROXY = "NO_PROXY"
NO_ONE = "_"
"""The user in the proxy variables where they name no session; no session has such an id."""
NO_SECRET = "proctor"  # noqa: S105 - it opens nothing
"""The password in them where the proxy wants none: without one, requests and urllib would not send the user either."""
NAMES = "PROCTOR_VARIABLES"
"""Lists the variables that a launcher set, for `proctor env`."""


def chosen_modes(config: Config, default: Mode, modes: Iterable[str], only: Sequence[str] = ()) -> dict[str, Mode]:
    """Every service with its mode: the default (for those in `only`, the others replay), or as in `SERVICE=MODE`.

    One that has a world and no real thing is in mode `world` unless it is told otherwise.
    Raises UsageError or ConfigError for what is unknown.
    """
    for name in only:
        config.service(name)
    chosen: dict[str, Mode] = {
        name: "world" if service.only_world else default if name in only or not only else "replay"
        for name, service in config.services.items()
    }
    for text in modes:
        name, equals, wanted = text.partition("=")
        config.service(name)
        mode = next((known for known in MODES if known == wanted), None)
        if not equals or mode is None:
            raise UsageError("unknown_mode", f'"{text}" is no SERVICE=MODE', nearest(wanted, MODES))
        chosen[name] = mode
    return chosen


def session_spec(
    config: Config, cassette: str, modes: Mapping[str, Mode], *, notes: Sequence[str] = (), **more: Any
) -> SessionSpec:
    """The session that a launcher asks for, with what it lets go direct and found set; `more` are other fields."""
    said = (*notes, *inherited_notes(os.environ))
    passed = () if KEPT.isdisjoint(modes.values()) else config.pass_hosts
    return SessionSpec(cassette=cassette, modes=dict(modes), passed=passed, notes=said, **more)


def agent_environment(
    config: Config, info: SessionInfo, *, watch: bool = True, carrier: CarrierName = "path"
) -> dict[str, str]:
    """Every variable that an agent needs to use one session.

    Services' own variables, SDKs' base URLs, in replay the placeholders as dummy keys and secrets; with `watch` also
    the proxy variables, so that calls past the services are seen. `PROCTOR_VARIABLES` lists the names. Unless `carrier`
    is `path`, no address names the session, the proxy's neither; with `key`, the variables of keys hold the session's.
    """
    variables = {"PROCTOR_SESSION_URL": info.url, "PROCTOR_SESSION": info.session, **QUIET_VARIABLES}
    base = info.url if carrier == "path" else info.current_url
    if info.recorded_at:
        variables["PROCTOR_RECORDED_AT"] = info.recorded_at
    if ASKED.isdisjoint(info.modes.values()):  # else a service that is really asked may need the real secret
        variables.update(info.variables)
    needed = _real_keys(config, info)
    variables.update(dict.fromkeys(_put_on_for(config, info) - needed, DUMMY_KEY))
    for name in info.modes:
        service = config.services[name]
        address = f"{base}/{name}"
        variables.update(dict.fromkeys(service.base_url_variables, address))
        if info.modes[name] == "world":
            keys = {variable: WORLD_KEY + identity for identity, variable in service.identity_variables.items()}
            variables.update({variable: keys[variable] for variable in keys.keys() - needed})
        if info.modes[name] == "replay":
            dummies = _dummies(config, info, name)
            variables.update({variable: dummies[variable] for variable in dummies.keys() - needed})
        if carrier == "key":
            variables.update(dict.fromkeys(service.key_variables, info.key))
    if watch:
        recording = not KEPT.isdisjoint(info.modes.values())
        variables.update(_both_cases(dict.fromkeys(PROXY_VARIABLES, proxy_address(base))))
        variables.update(_both_cases({NO_PROXY: ",".join(config.pass_hosts) if recording else ""}))
    return {**variables, NAMES: ",".join(variables)}


def proxy_address(base: str) -> str:
    """What the proxy variables hold, from the base of a session's addresses: `http://SESSION:SECRET@HOST:PORT`.

    So a call past the services says whose it is. `SECRET` is the path token, where the addresses have one. Where they
    name no session, this names none either: the call may be anybody's.
    """
    parts = urlsplit(base)
    names = parts.path.split("/")[1:]
    told = dict(zip(names[::2], names[1::2], strict=False))  # /p/TOKEN/s/SESSION, or /s/SESSION
    session, token = told.get("s", CURRENT), told.get("p", "")
    if session == CURRENT and not token:
        return f"{parts.scheme}://{parts.netloc}"
    user = NO_ONE if session == CURRENT else quote(session, safe="")
    return f"{parts.scheme}://{user}:{token or NO_SECRET}@{parts.netloc}"


def inherited_notes(environ: Mapping[str, str]) -> tuple[str, ...]:
    """What the agent would have used instead, without the passwords in it."""
    notes = []
    for name in (NO_PROXY, *PROXY_VARIABLES):
        value = environ.get(name) or environ.get(name.lower())
        if value:
            what = "the agent's calls to it are watched too" if name == NO_PROXY else "Proctor itself connects directly"
            shown = re.sub(r"//[^/@]*@", "//...@", value)
            notes.append(f"inherited {name}={shown} was replaced for the agent; {what}")
    return tuple(notes)


def _dummies(config: Config, info: SessionInfo, name: str) -> dict[str, str]:
    """Keys for replay: placeholders of the tape, so that no real one is needed or seen."""
    service = config.services[name]
    known = info.identities.get(name, {})
    named = service.identity_variables.items()
    dummies = {variable: known[identity] for identity, variable in named if identity in known}
    facts = service.preset_facts
    if facts and "" in known:
        dummies.update(dict.fromkeys(facts.key_variables, known[""]))
    return dummies


def _real_keys(config: Config, info: SessionInfo) -> set[str]:
    """The variables with which the agent asks real services, which take no placeholder."""
    found: set[str] = set()
    for service in _asked(config, info):
        facts = service.preset_facts
        keys = facts.key_variables if facts and not service.credential else ()
        found.update(service.identity_variables.values(), keys)
    return found


def _put_on_for(config: Config, info: SessionInfo) -> set[str]:
    """The variables of which the agent gets a dummy, as Proctor puts the real credential on."""
    found: set[str] = set()
    for service in _asked(config, info):
        if service.credential:
            facts = service.preset_facts
            found.update((service.credential.variable, *(facts.key_variables if facts else ())))
    return found


def _asked(config: Config, info: SessionInfo) -> list[ServiceConfig]:
    """The services of which the real thing is asked."""
    return [config.services[name] for name, mode in info.modes.items() if mode in ASKED]


def _both_cases(variables: Mapping[str, str]) -> dict[str, str]:
    return {spelled: value for name, value in variables.items() for spelled in (name, name.lower())}
