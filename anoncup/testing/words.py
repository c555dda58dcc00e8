"""Check that the message catalogues of a package have texts for all of its parts in every language."""

from collections.abc import Iterable, Iterator, Mapping
from string import Formatter

from anoncup.catalogues import LANGUAGES, find_package_catalogues, find_track_catalogues, load_translations
from anoncup.plugins import BUILT_IN
from anoncup.rules.parameters import Parameter
from anoncup.testing.parts import require
from anoncup.tracks.model import AnyTrack
from anoncup.tracks.parts import AnyAttacker, AnyMeasure, AnyMethod
from anoncup.tracks.plugin import Plugin
from anoncup.tracks.texts import list_own_texts

PartRegistry = Mapping[str, AnyMeasure] | Mapping[str, AnyAttacker] | Mapping[str, AnyMethod]


def check_words(plugin: Plugin) -> None:
    """Check that every part of a plug-in has texts in every language, with the same placeholders.

    The package must be installed and register its catalogues under the entry point group ``anoncup.locale``.
    Texts of built-in parts are only used for parts that it takes from a built-in track. BrokenLaw lists the
    missing texts.
    """
    required_keys = dict.fromkeys(iter_required_keys(plugin))
    catalogues = {language: _load_texts(plugin, required_keys, language) for language in LANGUAGES}
    missing_texts = ", ".join(
        f"{key} in {language}"
        for language, texts in catalogues.items()
        for key in required_keys
        if texts[key] == key
    )
    require(not missing_texts, "words", f"not said are {missing_texts}")
    for key in required_keys:
        fields_by_language = {language: _extract_fields(texts[key]) for language, texts in catalogues.items()}
        for language, field_names in fields_by_language.items():
            require(
                field_names == fields_by_language[LANGUAGES[0]],
                key,
                f"{language} has the fields of {LANGUAGES[0]}",
            )


def _load_texts(plugin: Plugin, keys: Iterable[str], language: str) -> dict[str, str]:
    """Return the text for each key in a language, or the key itself where the text is missing."""
    own_keys = frozenset[str]().union(*list_own_texts(plugin, BUILT_IN.values()).values())
    package_texts = load_translations(find_package_catalogues(), language)
    all_texts = load_translations([*find_track_catalogues(), *find_package_catalogues()], language)
    return {key: (package_texts if key in own_keys else all_texts).gettext(key) for key in keys}


def _extract_fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def iter_required_keys(plugin: Plugin) -> Iterator[str]:
    """Yield the message keys that the catalogues must define; pages have a fallback for all other keys."""
    for name, track in plugin.tracks.items():
        yield f"track_{name}"
        yield f"about_{name}"
        yield from (f"choose_start_{start}" for start in track.examples.templates)
        yield from (f"parameter_{setting}" for setting in track.settings.shown_names)
        yield from _iter_file_keys(track)
        yield from _iter_question_keys(track)
        yield from _iter_distance_keys(track)
        yield from _iter_part_keys("measure", track.measures)
        yield from _iter_part_keys("attacker", track.attackers)
        yield from _iter_part_keys("method", track.methods)
    for measures in plugin.measures.values():
        yield from _iter_part_keys("measure", measures)
    for attackers in plugin.attackers.values():
        yield from _iter_part_keys("attacker", attackers)
    for methods in plugin.methods.values():
        yield from _iter_part_keys("method", methods)
    for name in plugin.ranking_functions:
        yield from (f"ranking_function_{name}", f"ranking_function_{name}_description")


def _iter_file_keys(track: AnyTrack) -> Iterator[str]:
    """Yield the keys for files of the track that no built-in track has."""
    built_in_files = {
        file.name
        for built_in_track in BUILT_IN.values()
        for file in (*built_in_track.release_files, *built_in_track.original_files)
    }
    for file in track.release_files:
        if file.name not in built_in_files:
            yield from (f"file_{file.name}", f"file_description_{file.name}")
    yield from (f"original_{file.name}" for file in track.original_files if file.name not in built_in_files)
    allocation = track.allocation
    allocated = (*allocation.files, *allocation.organizer_files) if allocation else ()
    yield from (f"file_{file.name}" for file in allocated if file.name not in built_in_files)
    yield from (f"target_file_{file.name}" for file in track.target_files.specs)
    if track.target_files.shown_answer:
        yield f"target_shows_{track.name}"
    secret = track.answer_spec.file
    if secret.kind not in {built_in_track.answer_spec.file.kind for built_in_track in BUILT_IN.values()}:
        yield f"secret_rules_{secret.kind}"
        if not track.allocates_answer:
            yield f"secret_description_{secret.kind}"


def _iter_question_keys(track: AnyTrack) -> Iterator[str]:
    """Yield the keys for questions; only tracks with several questions need names for them."""
    for name, question in track.questions.items():
        if all(built_in.questions.get(name) is not question for built_in in BUILT_IN.values()):
            yield from (f"question_{name}",) if len(track.questions) > 1 else ()
            yield f"question_asks_{name}"
            yield from (f"guess_{suffix}_{name}" for suffix in ("description", "guide", "rules"))
        yield from _iter_parameter_keys(question.parameters)


def _iter_distance_keys(track: AnyTrack) -> Iterator[str]:
    for name, distance in track.distances.items():
        if all(built_in.distances.get(name) is not distance for built_in in BUILT_IN.values()):
            yield from (f"distance_{name}", f"distance_{name}_description")


def _iter_part_keys(kind: str, parts: PartRegistry) -> Iterator[str]:
    for name, part in parts.items():
        yield f"{kind}_{name}"
        if kind != "method":
            yield f"{kind}_{name}_description"
        yield from _iter_parameter_keys(part.parameters)


def _iter_parameter_keys(parameters: Iterable[Parameter]) -> Iterator[str]:
    yield from (
        f"parameter_{parameter.name}"
        for parameter in parameters
        if parameter.name not in _BUILT_IN_PARAMETERS
    )


def _iter_parameters(track: AnyTrack) -> Iterator[Parameter]:
    for parts in (track.measures, track.attackers, track.methods, track.questions):
        for part in parts.values():
            yield from part.parameters


_BUILT_IN_PARAMETERS = {
    parameter.name for track in BUILT_IN.values() for parameter in _iter_parameters(track)
}
