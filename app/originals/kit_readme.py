"""README of a starter kit, in all languages."""

import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from zoneinfo import ZoneInfo

from anoncup.rules.model import Rules
from anoncup.rules.settings import Phase
from anoncup.tracks.model import AnyTrack
from app.core.locale.language import LANGUAGES, Translator, load_translator
from app.originals.markdown_templates import escape_markdown, load_template

_TEMPLATE = Path(__file__).with_name("kit_readme.md.jinja")


@dataclass(frozen=True, slots=True)
class ServiceInfo:
    """Public address, source code and version of this service; empty where not configured.

    ``packages``: the requirements for the competition's packages, separated by spaces.
    """

    address: str = ""
    source: str = ""
    version: str = ""
    packages: str = ""

    @property
    def requirements(self) -> list[str]:
        """What teams install: the library and the competition's packages, as this service has them."""
        return [f"anoncup[score]{self.pinned_version}", *self.packages.split()]

    @property
    def pinned_version(self) -> str:
        """The version as a requirement, so that teams score with the code that the service runs."""
        return f"=={self.version}" if self.version else ""


def build_readme(
    rules: Rules,
    track: AnyTrack,
    headers: Mapping[str, str],
    originals: Collection[str],
    service: ServiceInfo,
) -> str:
    """Return the README in all languages.

    ``headers``: header line of each file of a release, including the secret. ``originals``: names of the
    available files of the original data.
    """
    secret, secret_header = track.answer_spec.file, headers[track.answer_spec.file.name]
    secret_examples = (lines[1:] for lines in secret.excerpts if lines[0] == secret_header)
    min_share = rules.limits.min_rows_kept
    requirements = service.requirements
    with_packages = "".join(f'--with "{requirement}" ' for requirement in requirements[1:])
    values = {
        "rules": rules,
        "track": track,
        "service": service,
        "phases": _localize_phases(rules),
        "headers": headers,
        "secret": secret,
        "secret_lines": (secret_header, *next(secret_examples, ("…",))),
        "min_share": "" if min_share is None else f"{100 * min_share:.12g}%",
        "contest_options": _build_contest_options(track, originals),
        "example_options": _build_example_options(track),
        "submit_options": _build_submit_options(track),
        "quoted_address": shlex.quote(service.address or "ADDRESS"),
        "requirements": requirements,
        "light_command": f"uvx {with_packages}anoncup{service.pinned_version}",
        "full_command": f'uvx {with_packages}"{requirements[0]}"',
        "method": track.examples.method or next(iter(track.methods)),
    }
    return "\n".join(_render(rules, track, values, load_translator(language)) for language in LANGUAGES)


def _render(rules: Rules, track: AnyTrack, values: Mapping[str, object], translate: Translator) -> str:
    return load_template(_TEMPLATE).render(
        values,
        _=translate,
        title=escape_markdown(get_title(rules, translate.language)),
        track_title=translate(track.title or track.name),
        individual=translate(track.individual),
    )


def get_title(rules: Rules, language: str) -> str:
    return rules.title.get(language) or next(iter(rules.title.values()), rules.slug)


def _localize_phases(rules: Rules) -> list[Phase]:
    """Return the phases with their times in the competition's time zone."""
    zone = ZoneInfo(rules.timezone)
    return [
        replace(phase, start=phase.start.astimezone(zone), end=phase.end.astimezone(zone))
        for phase in rules.phases
    ]


def _build_contest_options(track: AnyTrack, originals: Collection[str]) -> str:
    """Return the command-line options for rules and data; ``originals``: names of the available files."""
    required = {file.name for file in track.original_files if file.required}
    original_options = " ".join(
        f"--original {'' if name in required else f'{name}='}original/{name}.csv"
        for name in track.original_file_names
        if name in originals
    )
    return f"--competition competition.toml {original_options}"


def _build_example_options(track: AnyTrack) -> str:
    secret = f"--secret example/{track.answer_spec.file.name}.csv"
    return f"{_build_release_options(track, 'example')} {secret}"


def _build_submit_options(track: AnyTrack) -> str:
    """Return the options for the example, or for the team's own release if the service allocates its data."""
    return _build_release_options(track, "mine") if track.allocates_answer else _build_example_options(track)


def _build_release_options(track: AnyTrack, folder: str) -> str:
    return " ".join(f"--{name} {folder}/{name}.csv" for name in track.release_file_names)
