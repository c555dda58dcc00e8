"""What pages call the parts of a package, and whether its catalogues say so in every language."""

from collections.abc import Iterator, Mapping
from gettext import NullTranslations
from string import Formatter

from app.language import LANGUAGES, catalogue
from app.scoring.laws import require
from app.scoring.parameters import Parameter
from app.scoring.parts import Attacker, Measure, Method
from app.scoring.plugins import Plugin
from app.scoring.registry import Track
from app.scoring.tracks import BUILT_IN

Parts = Mapping[str, Measure] | Mapping[str, Attacker] | Mapping[str, Method]


def check_words(plugin: Plugin) -> None:
    """Everything that it brings has a name in every language of the service, and the same fields in each.

    The package is installed, with its catalogues as an entry point of the group ``anoncup.locale``; BrokenLaw
    says what is missing where.
    """
    for key in dict.fromkeys(keys(plugin)):
        said = {language: text_of(key, catalogue(language)) for language in LANGUAGES}
        for language, text in said.items():
            require(text is not None, key, f"it is said in {language}")
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
    """Of a release's files, of the original's, and of each question."""
    ours = {file.name for one in BUILT_IN.values() for file in (*one.release, *one.original)}
    yield from (f"file_{file.name}" for file in track.release if file.name not in ours)
    yield from (f"original_{file.name}" for file in track.original if file.name not in ours)
    asked = {name for one in BUILT_IN.values() for name in one.questions}
    for name in track.questions.keys() - asked:
        yield from (f"guess_{what}_{name}" for what in ("said", "guide", "rules"))


def keys_of_parts(kind: str, parts: Parts) -> Iterator[str]:
    for name, part in parts.items():
        yield f"{kind}_{name}"
        if kind != "method":
            yield f"{kind}_{name}_said"
        yield from (f"parameter_{one.name}" for one in part.parameters if one.name not in OURS)


def parameters_of(track: Track) -> Iterator[Parameter]:
    for parts in (track.measures, track.attackers, track.methods):
        for part in parts.values():
            yield from part.parameters


OURS = {one.name for track in BUILT_IN.values() for one in parameters_of(track)}
