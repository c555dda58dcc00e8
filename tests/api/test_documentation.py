"""The OpenAPI document: valid, complete, with examples that hold, and with every code there is."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from openapi_spec_validator import validate

from anoncup import errors, schemas
from anoncup.competition.parser import parse_competition
from anoncup.schemas import codes
from anoncup.tracks.linkage.permutation import guess_from_file, source_from_secret
from app.api.documentation import examples
from app.api.documentation.bodies import Missing, example_as
from app.api.documentation.document import TAGS
from app.http.problems import STATUS, TITLES
from tests.support.openapi_contract import document, schema_of

Json = dict[str, Any]
ROOT = Path(__file__).parents[2]
PAGES = ROOT / "app/web"
OUTSIDE = {"cli", "client"}
"""Raised on a person's own machine, and never an answer of the API."""
CLASSES = {"Problem": (3,), "add": (0,), "add_rows": (2,), "refused": (1,), "refused_rows": (2,)}
"""Calls that name what is wrong in a file, and where among their arguments."""


def operations() -> Iterator[Json]:
    for known in document()["paths"].values():
        yield from known.values()


def contents(operation: Json) -> Iterator[tuple[str, Json]]:
    yield from operation.get("requestBody", {}).get("content", {}).items()
    for status, answer in operation["responses"].items():
        if status.startswith("2"):
            yield from answer.get("content", {}).items()


def test_the_document_is_valid_openapi_3_1(session_settings: object) -> None:
    assert document()["openapi"].startswith("3.1")
    validate(document())


def test_every_operation_says_what_it_does(session_settings: object) -> None:
    for operation in operations():
        assert {"summary", "tags", "security"} <= set(operation)
        assert operation["description"].strip()
        assert set(operation["tags"]) <= set(TAGS)
        for parameter in operation.get("parameters", ()):
            assert parameter.get("description"), (operation["operationId"], parameter["name"])


def test_every_body_has_an_example_that_its_own_schema_takes(session_settings: object) -> None:
    for operation in operations():
        for media, content in contents(operation):
            if media == "application/zip":
                continue  # nothing that a page could show
            name = operation["operationId"]
            assert content.get("example") is not None, name
            assert not list(schema_of(content["schema"]).iter_errors(content["example"])), name


class Shown(schemas.Form):
    flag: bool
    unknown: int | None
    usual: int = 3
    parts: list[schemas.Cap]


class Unshown(Shown):
    number: int


def test_a_field_needs_no_example_that_is_a_flag_has_a_default_or_may_be_null() -> None:
    made = example_as(Shown)
    assert (made.flag, made.unknown, made.usual) == (False, None, 3)
    assert made.parts == [example_as(schemas.Cap)]
    with pytest.raises(Missing, match="Number"):
        example_as(Unshown)


def test_every_error_of_an_operation_is_a_problem_with_an_example_of_each_code(
    session_settings: object,
) -> None:
    known = document()["components"]["examples"]
    for operation in operations():
        for status, answer in operation["responses"].items():
            if int(status) < 400:
                continue
            assert list(answer["content"]) == ["application/problem+json"]
            (content,) = answer["content"].values()
            assert content["schema"] == {"$ref": "#/components/schemas/Problem"}
            for code in content["examples"]:
                value = known[f"{status}.{code}"]["value"]
                assert (value["status"], value["code"]) == (int(status), code)
                assert not list(schema_of(content["schema"]).iter_errors(value))
            assert ("Retry-After" in answer.get("headers", {})) == (status in {"429", "503"})


def test_every_operation_has_a_name_of_its_own(session_settings: object) -> None:
    names = [
        operation["operationId"] for known in document()["paths"].values() for operation in known.values()
    ]
    assert len(set(names)) == len(names)


def test_every_status_of_an_error_is_documented_somewhere(session_settings: object) -> None:
    answered = {int(status) for operation in operations() for status in operation["responses"]}
    assert set(STATUS.values()) <= answered
    assert {status for status in answered if status >= 400} <= set(TITLES)


def trees() -> Iterator[tuple[Path, ast.AST]]:
    for package in (ROOT / "anoncup", ROOT / "app"):
        for file in sorted(package.rglob("*.py")):
            if file.relative_to(package).parts[0] not in OUTSIDE:
                yield file, ast.parse(file.read_text())


def texts(node: ast.expr, registry: Mapping[str, str] = codes.ERRORS) -> list[str]:
    """The literals that an expression can be; of a format string, those that the document knows for it."""
    if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
        start = str(node.values[0].value)
        found = [code for code in registry if code.startswith(start)]
        assert len(found) > 1, f"{start}… stands for several codes"
        return found
    return [
        one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)
    ]


def raised_codes() -> dict[str, str]:
    """Every stable code of an error of the API, by where it is raised."""
    found: dict[str, str] = {}
    for file, tree in trees():
        if PAGES in file.parents:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                given = [keyword.value for keyword in node.keywords if keyword.arg == "code"]
                found |= {code: f"{file}:{node.lineno}" for one in given for code in literal(one)}
            elif isinstance(node, ast.ClassDef) and file.name == "errors.py":
                for line in node.body:
                    if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "code":
                        found |= dict.fromkeys(texts(line.value), f"{file}:{line.lineno}")
    return found


def test_every_code_comes_with_the_status_of_the_errors_that_have_it() -> None:
    kinds = {kind.__name__: kind for kind in vars(errors).values() if isinstance(kind, type)}
    found = {
        f"{STATUS[kinds[name]]}.{code}"
        for file, tree in trees()
        if PAGES not in file.parents
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and (name := getattr(node.func, "id", "")) in kinds
        for given in node.keywords
        if given.arg == "code" and kinds[name] in STATUS
        for code in literal(given.value)
    }
    assert len(found) > 80
    assert found <= set(codes.ANSWERS)


def literal(node: ast.expr, registry: Mapping[str, str] = codes.ERRORS) -> list[str]:
    return texts(node, registry) if isinstance(node, ast.Constant | ast.JoinedStr) else []


def codes_in_files() -> dict[str, str]:
    """Every code of an entry in ``errors``: literals, and those that a name of the same function holds."""
    found: dict[str, str] = {}
    for file, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and file.parts[-2:] != ("documentation", "document.py"):
                name = (
                    node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                )
                for place in CLASSES.get(name, ()):
                    given = node.args[place : place + 1]
                    found |= {
                        code: f"{file}:{node.lineno}"
                        for one in given
                        for code in literal(one, codes.IN_FILES)
                    }
            elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "code":
                branches = (getattr(node.value, branch, None) for branch in ("body", "orelse"))
                found |= {code: f"{file}:{node.lineno}" for one in branches if one for code in literal(one)}
    return found


def test_every_code_of_an_error_is_in_the_registry_and_the_registry_in_the_document(
    session_settings: object,
) -> None:
    raised = raised_codes()
    assert len(raised) > 80
    assert not {code: place for code, place in raised.items() if code not in codes.ERRORS}
    assert document()["components"]["schemas"]["Problem"]["properties"]["code"]["x-codes"] == codes.ERRORS


def test_every_code_of_something_wrong_in_a_file_is_in_the_registry() -> None:
    assert len(codes_in_files()) > 20
    # ``add`` of a set or an archive takes a name as well; a code is one word in lower case.
    found = {
        code: place for code, place in codes_in_files().items() if code.islower() and code.isidentifier()
    }
    assert not {code: place for code, place in found.items() if code not in codes.IN_FILES}


def test_every_code_that_an_operation_answers_is_raised_somewhere(session_settings: object) -> None:
    """The table of answers does not promise errors that are gone."""
    framework = {"bad_request", "invalid_request", "database_unavailable", "too_slow"}
    told = {example.partition(".")[2] for example in document()["components"]["examples"]}
    assert told <= set(raised_codes()) | framework


def test_the_examples_of_files_are_files_that_the_service_reads() -> None:
    assert parse_competition(examples.TOML).slug == "small-cup"
    rows = examples.TABLE.count("\n") - 1
    source = source_from_secret(examples.SECRET.encode(), originals=rows, anonymized=rows)
    assert sorted(source.tolist()) == [0, 1, 2]
    guess = guess_from_file(examples.GUESS.encode(), originals=rows, anonymized=rows)
    assert guess.tolist() == [-1, 2, 0]
