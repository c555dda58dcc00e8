"""Check that the message catalogues of a package have texts for all of its parts in every language."""

from collections.abc import Iterable, Iterator, Mapping
from string import Formatter

from anoncup.catalogues import LANGUAGES, find_package_catalogues, find_track_catalogues, load_translations
from anoncup.plugins import BUILT_IN
from anoncup.testing.parts import require
from anoncup.tracks.descriptions import list_own_texts
from anoncup.tracks.model import AnyTrack
from anoncup.tracks.parts import AnyAttacker, AnyMeasure, AnyMethod
from anoncup.tracks.plugin import Plugin

PartRegistry = Mapping[str, AnyMeasure] | Mapping[str, AnyAttacker] | Mapping[str, AnyMethod]


def check_words(plugin: Plugin) -> None:
    """Check that every part of a plug-in has texts in every language, with the same placeholders.

    The package must be installed and register its catalogues under the entry point group ``anoncup.locale``.
    Texts of built-in parts are only used for parts that it takes from a built-in track. BrokenLaw lists the
    missing texts.
    """
    required_keys = list_required_keys(plugin)
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
    own_keys = _list_own_keys(plugin)
    package_texts = load_translations(find_package_catalogues(), language)
    all_texts = load_translations([*find_track_catalogues(), *find_package_catalogues()], language)
    return {key: (package_texts if key in own_keys else all_texts).gettext(key) for key in keys}


def _extract_fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def list_required_keys(plugin: Plugin) -> list[str]:
    """Return the message keys that the catalogues must define; pages have a fallback for all other keys.

    Built-in tracks define those of the parts that a package takes from them.
    """
    own_keys = _list_own_keys(plugin)
    built_in_keys = set(_iter_keys(Plugin(api=0, tracks=BUILT_IN)))
    return [key for key in dict.fromkeys(_iter_keys(plugin)) if key in own_keys or key not in built_in_keys]


def _list_own_keys(plugin: Plugin) -> frozenset[str]:
    return frozenset[str]().union(*list_own_texts(plugin, BUILT_IN.values()).values())


def _iter_keys(plugin: Plugin) -> Iterator[str]:
    for name, track in plugin.tracks.items():
        yield from (f"track_{name}", f"about_{name}")
        yield from (f"choose_start_{start}" for start in track.examples.templates)
        yield from (f"parameter_{setting}" for setting in track.settings.shown_names)
        yield from _iter_file_keys(track)
        yield from _iter_question_keys(track)
        yield from (f"distance_{name}{suffix}" for name in track.distances for suffix in ("", "_description"))
    for kind in ("measure", "attacker", "method"):
        own_registries = (getattr(track, f"{kind}s") for track in plugin.tracks.values())
        for parts in (*own_registries, *getattr(plugin, f"{kind}s").values()):
            yield from _iter_part_keys(kind, parts)
    for name in plugin.ranking_functions:
        yield from (f"ranking_function_{name}", f"ranking_function_{name}_description")


def _iter_file_keys(track: AnyTrack) -> Iterator[str]:
    for file in track.release_files:
        yield from (f"file_{file.name}", f"file_description_{file.name}")
    yield from (f"original_{file.name}" for file in track.original_files)
    allocation = track.allocation
    allocated = (*allocation.files, *allocation.organizer_files) if allocation else ()
    yield from (f"file_{file.name}" for file in allocated)
    yield from (f"target_file_{file.name}" for file in track.target_files.specs)
    if track.target_files.shown_answer:
        yield f"target_shows_{track.name}"
    kind = track.answer_spec.file.kind
    yield from (
        (f"secret_rules_{kind}",)
        if track.allocates_answer
        else (
            f"secret_rules_{kind}",
            f"secret_description_{kind}",
        )
    )


def _iter_question_keys(track: AnyTrack) -> Iterator[str]:
    """Yield the keys for questions; only tracks with several questions need names for them."""
    for name, question in track.questions.items():
        yield from (f"question_{name}",) if len(track.questions) > 1 else ()
        yield f"question_asks_{name}"
        yield from (f"guess_{suffix}_{name}" for suffix in ("description", "guide", "rules"))
        yield from (f"parameter_{parameter.name}" for parameter in question.parameters)


def _iter_part_keys(kind: str, parts: PartRegistry) -> Iterator[str]:
    for name, part in parts.items():
        yield f"{kind}_{name}"
        if kind != "method":
            yield f"{kind}_{name}_description"
        yield from (f"parameter_{parameter.name}" for parameter in part.parameters)
