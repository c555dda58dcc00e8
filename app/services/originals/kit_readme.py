"""README of a starter kit, in all languages."""

import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from anoncup.messages import N_
from anoncup.rules.model import Rules
from anoncup.tracks.files import FileSpec
from anoncup.tracks.model import Track
from app.locale.language import LANGUAGES, Translator, load_translator

_MINUTE_FORMAT = "%Y-%m-%d %H:%M"
_PHASE_LABELS = {
    "anonymization": N_("Anonymization phase"),
    "reidentification": N_("Re-identification phase"),
}
_MIN_ROWS_TEXT = N_("At least {share} of the original's {individual}s must be kept, and none may be added.")
_PARAGRAPHS = (
    "# {title}",
    N_("What you need to take part in `{slug}`, track {track}."),
    "{page}",
    "{contents}",
    N_("Times ({timezone}):"),
    "{phases}",
    N_("## Taking part"),
    "{pages}",
    N_(
        "The command `anoncup` does the same from a terminal, and scores on your own machine "
        "without using up\n"
        "attempts. It needs Linux and Python 3.11 or newer, and comes with the service's source "
        "code, here of\n"
        "version {version}."
    ),
    "{source}",
    N_("Install the command in the folder of the code, `CODE`, and come back here:"),
    "{made}",
    N_("## Check, score, submit with the command"),
    N_("Check that a release is well-formed and within the rules, then score it as the service will:"),
    "{local}",
    "{send}",
    "{remote}",
    N_("## The files of a release"),
    N_("UTF-8 CSV files with exactly these header lines, columns in this order:"),
    "{headers}",
    "{kept}",
)
"""Paragraphs of the README; those about the secret follow."""
_PAGE_TEXT = N_("Its page: {address}/competitions/{slug}")
_SOURCE_TEXT = N_("The code is at {source}.")
_NO_SOURCE_TEXT = N_("Ask the organizers where the code is.")
_SEND_TEXT = N_("Send it:")
_SEND_TO_ADDRESS_TEXT = N_(
    "Send it. `ADDRESS` is the address of the service's pages up to the first single slash:"
)
INSTALL_COMMANDS = ("python3 -m venv .venv", "source .venv/bin/activate", "pip install .")
_SECRET_SENT_TEXTS = {
    "contents": N_(
        "| | |\n"
        "|---|---|\n"
        "| `competition.toml` | the competition's rules, the very file that the service scores by |\n"
        "| `original/` | the original data |\n"
        "| `example/` | a release that the rules accept, with its secret: it shows the form, it "
        "protects little |"
    ),
    "pages": N_(
        "On the service's pages: join with an invite code from the organizers or from a team, open "
        "**Submissions**,\n"
        "choose the release and the secret, send them. The page shows the scores as soon as they "
        "are there. In the\n"
        "re-identification phase **Targets** has what to attack, and takes your guesses. No command "
        "is needed for\n"
        "this."
    ),
    "answer": N_("## The secret"),
}
"""Texts for tracks in which teams send a secret with the release."""
_ANSWER_ALLOCATED_TEXTS = {
    "contents": N_(
        "| | |\n"
        "|---|---|\n"
        "| `competition.toml` | the competition's rules, the very file that the service scores by |\n"
        "| `original/` | the original data |\n"
        "| `example/` | a release that the rules accept, and what its team would have been given: "
        "it shows the form, it protects little |"
    ),
    "pages": N_(
        "On the service's pages: join with an invite code from the organizers or from a team, open "
        "**Submissions**,\n"
        "fetch what your team alone is given, choose the release you made of it, send it. The page "
        "shows the scores\n"
        "as soon as they are there. In the re-identification phase **Targets** has what to attack, "
        "and takes your\n"
        "guesses. No command is needed for this."
    ),
    "answer": N_("## What your team alone is given"),
}
"""Texts for tracks in which the service allocates the answer of each team."""
_SECRET_TEXTS = {
    "permutation": (
        N_(
            "A file of one column. Line j below the header line says which {individual} of the "
            "original, counted from 1,\n"
            "{individual} j of the release comes from:"
        ),
        "{secret}",
        N_(
            "Or the other way round: headed `anonymized_row`, one line for each {individual} of the "
            "original, with the\n"
            "{individual} of the release that it became, 0 if it was deleted. Nobody sees your "
            "secret before the\n"
            "competition is over. Put the {individual}s of the release in a random order: traces of "
            "the original's are a\n"
            "gift to attackers."
        ),
    ),
    "months": (
        N_(
            "A line for each {individual} with the pseudonym in each month, `DEL` where none of the "
            "month's rows is left. It\n"
            "must agree with the release, whose order tells the same: nobody sees either before the "
            "competition is over."
        ),
        "{secret}",
    ),
}
"""Paragraphs about the secret by kind of secret file."""


@dataclass(frozen=True, slots=True)
class ServiceInfo:
    """Public address, source code and version of this service; empty where not configured."""

    address: str = ""
    source: str = ""
    version: str = ""


def build_readme(
    rules: Rules, track: Track, headers: Mapping[str, str], originals: Collection[str], service: ServiceInfo
) -> str:
    """Return the README in all languages.

    ``headers``: header line of each file of a release, including the secret. ``originals``: names of the
    available files of the original data.
    """
    values_by_language = [
        _build_values(rules, track, headers, originals, load_translator(language))
        | _build_service_values(service, rules, track, load_translator(language))
        for language in LANGUAGES
    ]
    translators = (load_translator(language) for language in LANGUAGES)
    texts = (
        paragraph
        for translate, values in zip(translators, values_by_language, strict=True)
        for paragraph in _list_paragraphs(track, values, translate)
    )
    return "\n\n".join(texts) + "\n"


def _list_paragraphs(track: Track, values: Mapping[str, str], translate: Translator) -> list[str]:
    secret = track.answer_spec.file
    secret_paragraphs = _SECRET_TEXTS.get(secret.kind) or (
        translate.label(f"kit_secret_{secret.kind}", secret.format_description),
        "{secret}",
    )
    mode_texts = _ANSWER_ALLOCATED_TEXTS if track.allocates_answer else _SECRET_SENT_TEXTS
    texts = [mode_texts.get(text.strip("{}"), text) for text in _PARAGRAPHS]
    filled_texts = [
        translate(text).format(**values) for text in (*texts, mode_texts["answer"], *secret_paragraphs)
    ]
    return [paragraph for paragraph in filled_texts if paragraph]


def _build_values(
    rules: Rules, track: Track, headers: Mapping[str, str], originals: Collection[str], translate: Translator
) -> dict[str, str]:
    secret = track.answer_spec.file
    individual = translate(track.individual)
    min_share = rules.limits.min_rows_kept
    return {
        "title": _get_title(rules, translate.language),
        "slug": rules.slug,
        "track": translate(track.title or track.name),
        "timezone": rules.timezone,
        "phases": _format_phases(rules, translate),
        "local": _indent_code(
            *(f"anoncup {verb} {_build_local_options(track, originals)}" for verb in ("check", "score"))
        ),
        "headers": "\n\n".join(
            f"`{name}.csv`\n\n{_indent_code(headers[name])}" for name in track.release_file_names
        ),
        "secret": _indent_code(headers[secret.name], *_get_excerpt(secret, headers[secret.name])),
        "kept": ""
        if min_share is None
        else translate(_MIN_ROWS_TEXT, individual=individual, share=f"{100 * min_share:.12g}%"),
        "individual": individual,
    }


def _build_service_values(
    service: ServiceInfo, rules: Rules, track: Track, translate: Translator
) -> dict[str, str]:
    """Return the values that depend on this installation of the service."""
    address = service.address
    return {
        "version": service.version,
        "page": translate(_PAGE_TEXT, address=address, slug=rules.slug) if address else "",
        "source": translate(_SOURCE_TEXT, source=service.source)
        if service.source
        else translate(_NO_SOURCE_TEXT),
        "made": _indent_code("cd CODE", *INSTALL_COMMANDS, "cd -"),
        "send": translate(_SEND_TEXT if address else _SEND_TO_ADDRESS_TEXT),
        "remote": _indent_code(
            f"anoncup login --url {shlex.quote(address or 'ADDRESS')}",
            f"anoncup submit {rules.slug} --wait {_build_submit_options(track)}",
        ),
    }


def _get_excerpt(file: FileSpec, header: str) -> tuple[str, ...]:
    """Return the example lines below a header line, or an ellipsis if there is no such example."""
    return next((lines[1:] for lines in file.excerpts if lines[0] == header), ("…",))


def _get_title(rules: Rules, language: str) -> str:
    return rules.title.get(language) or next(iter(rules.title.values()), rules.slug)


def _format_phases(rules: Rules, translate: Translator) -> str:
    """Return the phases as a list, in the competition's time zone."""
    zone = ZoneInfo(rules.timezone)
    windows = (
        (phase.name, phase.start.astimezone(zone), phase.end.astimezone(zone)) for phase in rules.phases
    )
    lines = [
        f"- {translate(_PHASE_LABELS[name])}{translate(': ')}{start:{_MINUTE_FORMAT}} – {end:{_MINUTE_FORMAT}}"
        for name, start, end in windows
    ]
    return "\n".join(lines) or "- –"


def _build_local_options(track: Track, originals: Collection[str]) -> str:
    """Return the command-line options for local files; ``originals``: names of the available files."""
    required = {file.name for file in track.original_files if file.required}
    original_options = " ".join(
        f"--original {'' if name in required else f'{name}='}original/{name}.csv"
        for name in track.original_file_names
        if name in originals
    )
    answer = f"--secret example/{track.answer_spec.file.name}.csv"
    return f"--competition competition.toml {original_options} {_build_release_options(track)} {answer}"


def _build_submit_options(track: Track) -> str:
    answer = "" if track.allocates_answer else f" --secret example/{track.answer_spec.file.name}.csv"
    return f"{_build_release_options(track)}{answer}"


def _build_release_options(track: Track) -> str:
    return " ".join(f"--{name} example/{name}.csv" for name in track.release_file_names)


def _indent_code(*lines: str) -> str:
    """Format lines as an indented code block, which no content can close."""
    return "\n".join(f"    {line}" for line in lines)
