"""What a kit's README says, in every language."""

import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from anoncup.messages import N_
from anoncup.rules.model import Rules
from anoncup.tracks.files import FileSpec
from anoncup.tracks.model import Track
from app.locale.language import LANGUAGES, Words, in_language

MINUTE = "%Y-%m-%d %H:%M"
PHASES = {"anonymization": N_("Anonymization phase"), "reidentification": N_("Re-identification phase")}
KEPT = N_("At least {share} of the original's {individual}s must be kept, and none may be added.")
README = (
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
"""By paragraph; what the secret is follows."""
PAGE = N_("Its page: {address}/competitions/{slug}")
SOURCE = N_("The code is at {source}.")
ASK = N_("Ask the organizers where the code is.")
SEND = N_("Send it:")
SEND_TO = N_("Send it. `ADDRESS` is the address of the service's pages up to the first single slash:")
INSTALL = ("python3 -m venv .venv", "source .venv/bin/activate", "pip install .")
SENT = {
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
"""Where every team sends a secret with its release."""
DRAWN = {
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
"""Where the service draws the answer of each team."""
SECRETS = {
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
"""By kind of file, by paragraph."""


@dataclass(frozen=True, slots=True)
class Service:
    """Where teams find it, and its code; empty where it has not been told. Neither is kept from anybody."""

    address: str = ""
    source: str = ""
    version: str = ""


def readme(
    rules: Rules, track: Track, headers: Mapping[str, str], originals: Collection[str], service: Service
) -> str:
    """``headers``: the header line of each file of a release, and of the secret; ``originals``: the names of
    the original's files that are there."""
    known = [
        values_of(rules, track, headers, originals, in_language(language))
        | of_service(service, rules, track, in_language(language))
        for language in LANGUAGES
    ]
    said = (in_language(language) for language in LANGUAGES)
    texts = (
        paragraph for t, values in zip(said, known, strict=True) for paragraph in paragraphs(track, values, t)
    )
    return "\n\n".join(texts) + "\n"


def paragraphs(track: Track, values: Mapping[str, str], t: Words) -> list[str]:
    secret = track.answers.file
    told = SECRETS.get(secret.kind) or (t.label(f"kit_secret_{secret.kind}", secret.said), "{secret}")
    words = DRAWN if track.draws_answer else SENT
    texts = [words.get(text.strip("{}"), text) for text in README]
    said = [t(text).format(**values) for text in (*texts, words["answer"], *told)]
    return [paragraph for paragraph in said if paragraph]


def values_of(
    rules: Rules, track: Track, headers: Mapping[str, str], originals: Collection[str], t: Words
) -> dict[str, str]:
    secret, individual, kept = track.answers.file, t(track.individual), rules.limits.min_rows_kept
    return {
        "title": title(rules, t.language),
        "slug": rules.slug,
        "track": t(track.title or track.name),
        "timezone": rules.timezone,
        "phases": phases(rules, t),
        "local": quoted(*(f"anoncup {verb} {local_files(track, originals)}" for verb in ("check", "score"))),
        "headers": "\n\n".join(f"`{name}.csv`\n\n{quoted(headers[name])}" for name in track.files),
        "secret": quoted(headers[secret.name], *excerpt(secret, headers[secret.name])),
        "kept": "" if kept is None else t(KEPT, individual=individual, share=f"{100 * kept:.12g}%"),
        "individual": individual,
    }


def of_service(service: Service, rules: Rules, track: Track, t: Words) -> dict[str, str]:
    """What the text says of this very installation."""
    address = service.address
    return {
        "version": service.version,
        "page": t(PAGE, address=address, slug=rules.slug) if address else "",
        "source": t(SOURCE, source=service.source) if service.source else t(ASK),
        "made": quoted("cd CODE", *INSTALL, "cd -"),
        "send": t(SEND if address else SEND_TO),
        "remote": quoted(
            f"anoncup login --url {shlex.quote(address or 'ADDRESS')}",
            f"anoncup submit {rules.slug} --wait {sent(track)}",
        ),
    }


def excerpt(file: FileSpec, header: str) -> tuple[str, ...]:
    """How it goes on below its header line, as far as one that is like it has been written down."""
    return next((lines[1:] for lines in file.excerpts if lines[0] == header), ("…",))


def title(rules: Rules, language: str) -> str:
    return rules.title.get(language) or next(iter(rules.title.values()), rules.slug)


def phases(rules: Rules, t: Words) -> str:
    """The windows on the competition's own clock, whatever offsets the file writes them with."""
    zone = ZoneInfo(rules.timezone)
    windows = ((each.name, each.start.astimezone(zone), each.end.astimezone(zone)) for each in rules.phases)
    lines = [f"- {t(PHASES[name])}{t(': ')}{start:{MINUTE}} – {end:{MINUTE}}" for name, start, end in windows]
    return "\n".join(lines) or "- –"


def local_files(track: Track, originals: Collection[str]) -> str:
    """``originals``: the names of the files that are there."""
    required = {file.name for file in track.original if file.required}
    given = " ".join(
        f"--original {'' if name in required else f'{name}='}original/{name}.csv"
        for name in track.original_files
        if name in originals
    )
    answer = f"--secret example/{track.answers.file.name}.csv"
    return f"--competition competition.toml {given} {released(track)} {answer}"


def sent(track: Track) -> str:
    answer = "" if track.draws_answer else f" --secret example/{track.answers.file.name}.csv"
    return f"{released(track)}{answer}"


def released(track: Track) -> str:
    return " ".join(f"--{name} example/{name}.csv" for name in track.files)


def quoted(*lines: str) -> str:
    """Indented, which no text inside can end."""
    return "\n".join(f"    {line}" for line in lines)
