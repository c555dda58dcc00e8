"""What pages call the parts of a package, and whether its catalogues say so in every language."""

from collections.abc import Iterable, Iterator, Mapping
from gettext import NullTranslations
from string import Formatter

from anoncup.catalogues import LANGUAGES, chained, installed
from anoncup.plugins import BUILT_IN
from anoncup.rules.parameters import Parameter
from anoncup.testing.parts import require
from anoncup.tracks.model import Track
from anoncup.tracks.parts import Attacker, Measure, Method
from anoncup.tracks.plugin import Plugin

Parts = Mapping[str, Measure] | Mapping[str, Attacker] | Mapping[str, Method]


def check_words(plugin: Plugin) -> None:
    """Everything that it brings has a name in every language of the service, and the same fields in each.

    The package is installed, with its catalogues as an entry point of the group ``anoncup.locale``; BrokenLaw
    says what is missing where.
    """
    needed = dict.fromkeys(keys(plugin))
    missing = {
        language: [key for key in needed if text_of(key, chained(installed(), language)) is None]
        for language in LANGUAGES
    }
    lacking = ", ".join(f"{key} in {language}" for language, some in missing.items() for key in some)
    require(not lacking, "words", f"not said are {lacking}")
    for key in needed:
        said = {language: text_of(key, chained(installed(), language)) for language in LANGUAGES}
        fields = {language: fields_of(text or "") for language, text in said.items()}
        for language, known in fields.items():
            require(known == fields[LANGUAGES[0]], key, f"{language} has the fields of {LANGUAGES[0]}")


def text_of(key: str, texts: NullTranslations) -> str | None:
    said = texts.gettext(key)
    return said if said != key else None


def fields_of(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def keys(plugin: Plugin) -> Iterator[str]:
    """What its catalogues have to say; what they may say besides, pages do without."""
    for name, track in plugin.tracks.items():
        yield f"track_{name}"
        yield f"about_{name}"
        yield from (f"choose_start_{start}" for start in track.templates)
        yield from keys_of_files(track)
        yield from keys_of_questions(track)
        yield from keys_of_distances(track)
        yield from keys_of_parts("measure", track.measures)
        yield from keys_of_parts("attacker", track.attackers)
        yield from keys_of_parts("method", track.methods)
    for measures in plugin.measures.values():
        yield from keys_of_parts("measure", measures)
    for attackers in plugin.attackers.values():
        yield from keys_of_parts("attacker", attackers)
    for methods in plugin.methods.values():
        yield from keys_of_parts("method", methods)


def keys_of_files(track: Track) -> Iterator[str]:
    """Of a release's files, of the original's, of the secret and of a target's."""
    ours = {file.name for one in BUILT_IN.values() for file in (*one.release, *one.original)}
    for file in track.release:
        if file.name not in ours:
            yield from (f"file_{file.name}", f"file_said_{file.name}")
    yield from (f"original_{file.name}" for file in track.original if file.name not in ours)
    secret = track.answers.file
    if secret.kind not in {one.answers.file.kind for one in BUILT_IN.values()}:
        yield f"secret_rules_{secret.kind}"
        if not track.draws_answer:
            yield f"secret_said_{secret.kind}"


def keys_of_questions(track: Track) -> Iterator[str]:
    """A question has a name where there are others beside it."""
    ours = {name for one in BUILT_IN.values() for name in one.questions}
    for name, question in track.questions.items():
        if name not in ours:
            yield from (f"question_{name}",) if len(track.questions) > 1 else ()
            yield f"question_asks_{name}"
            yield from (f"guess_{what}_{name}" for what in ("said", "guide", "rules"))
        yield from keys_of_parameters(question.parameters)


def keys_of_distances(track: Track) -> Iterator[str]:
    ours = {name for one in BUILT_IN.values() for name in one.distances}
    for name in track.distances:
        if name not in ours:
            yield from (f"distance_{name}", f"distance_{name}_said")


def keys_of_parts(kind: str, parts: Parts) -> Iterator[str]:
    for name, part in parts.items():
        yield f"{kind}_{name}"
        if kind != "method":
            yield f"{kind}_{name}_said"
        yield from keys_of_parameters(part.parameters)


def keys_of_parameters(parameters: Iterable[Parameter]) -> Iterator[str]:
    yield from (f"parameter_{one.name}" for one in parameters if one.name not in OURS)


def parameters_of(track: Track) -> Iterator[Parameter]:
    for parts in (track.measures, track.attackers, track.methods, track.questions):
        for part in parts.values():
            yield from part.parameters


OURS = {one.name for track in BUILT_IN.values() for one in parameters_of(track)}
