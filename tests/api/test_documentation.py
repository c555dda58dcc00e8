"""The OpenAPI document: validity, completeness, examples and error codes."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from openapi_spec_validator import validate

from anoncup import errors, schemas
from anoncup.competition.parser import parse_competition
from anoncup.schemas import codes
from anoncup.tracks.linkage.permutation import parse_guess, parse_secret
from app.api.documentation import examples
from app.api.documentation.bodies import MissingExample, build_model_example
from app.api.documentation.document import TAGS
from app.http.problems import STATUS_BY_ERROR, TITLE_BY_STATUS
from tests.support.openapi_contract import build_validator, load_document

Json = dict[str, Any]
ROOT = Path(__file__).parents[2]
WEB_PAGES = ROOT / "app/web"
LOCAL_PACKAGES = {"cli", "client"}
"""Packages that run on users' machines; the API never returns their errors."""
CODE_POSITIONS = {"Problem": (3,), "add": (0,), "add_rows": (2,), "refused": (1,), "refused_rows": (2,)}
"""Calls that report an error in a file, with the positions of the code among their arguments."""


def iter_operations() -> Iterator[Json]:
    for methods in load_document()["paths"].values():
        yield from methods.values()


def iter_contents(operation: Json) -> Iterator[tuple[str, Json]]:
    yield from operation.get("requestBody", {}).get("content", {}).items()
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            yield from response.get("content", {}).items()


def test_document_is_valid_openapi_3_1(session_settings: object) -> None:
    assert load_document()["openapi"].startswith("3.1")
    validate(load_document())


def test_every_operation_is_described(session_settings: object) -> None:
    for operation in iter_operations():
        assert {"summary", "tags", "security"} <= set(operation)
        assert operation["description"].strip()
        assert set(operation["tags"]) <= set(TAGS)
        for parameter in operation.get("parameters", ()):
            assert parameter.get("description"), (operation["operationId"], parameter["name"])


def test_every_request_body_has_a_valid_example(session_settings: object) -> None:
    for operation in iter_operations():
        for media, content in iter_contents(operation):
            if media == "application/zip":
                continue  # a page cannot show an archive
            name = operation["operationId"]
            assert content.get("example") is not None, name
            assert not list(build_validator(content["schema"]).iter_errors(content["example"])), name


class ExampleForm(schemas.Form):
    flag: bool
    unknown: int | None
    usual: int = 3
    parts: list[schemas.Cap]


class FormWithoutExample(ExampleForm):
    number: int


def test_optional_and_boolean_fields_need_no_example() -> None:
    example = build_model_example(ExampleForm)
    assert (example.flag, example.unknown, example.usual) == (False, None, 3)
    assert example.parts == [build_model_example(schemas.Cap)]
    with pytest.raises(MissingExample, match="Number"):
        build_model_example(FormWithoutExample)


def test_every_error_response_has_an_example_of_each_code(
    session_settings: object,
) -> None:
    known_examples = load_document()["components"]["examples"]
    for operation in iter_operations():
        for status, response in operation["responses"].items():
            if int(status) < 400:
                continue
            assert list(response["content"]) == ["application/problem+json"]
            (content,) = response["content"].values()
            assert content["schema"] == {"$ref": "#/components/schemas/Problem"}
            for code in content["examples"]:
                value = known_examples[f"{status}.{code}"]["value"]
                assert (value["status"], value["code"]) == (int(status), code)
                assert not list(build_validator(content["schema"]).iter_errors(value))
            assert ("Retry-After" in response.get("headers", {})) == (status in {"429", "503"})


def test_every_operation_has_a_unique_name(session_settings: object) -> None:
    names = [
        operation["operationId"]
        for methods in load_document()["paths"].values()
        for operation in methods.values()
    ]
    assert len(set(names)) == len(names)


def test_every_error_status_is_documented(session_settings: object) -> None:
    statuses = {int(status) for operation in iter_operations() for status in operation["responses"]}
    assert set(STATUS_BY_ERROR.values()) <= statuses
    assert {status for status in statuses if status >= 400} <= set(TITLE_BY_STATUS)


def parse_sources() -> Iterator[tuple[Path, ast.AST]]:
    for package in (ROOT / "anoncup", ROOT / "app"):
        for file in sorted(package.rglob("*.py")):
            if file.relative_to(package).parts[0] not in LOCAL_PACKAGES:
                yield file, ast.parse(file.read_text())


def list_possible_codes(node: ast.expr, registry: Mapping[str, str] = codes.ERROR_SENTENCES) -> list[str]:
    """Return the literals of an expression; for an f-string, the registered codes with its prefix."""
    if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
        start = str(node.values[0].value)
        matching = [code for code in registry if code.startswith(start)]
        assert len(matching) > 1, f"{start}… stands for several codes"
        return matching
    return [
        child.value
        for child in ast.walk(node)
        if isinstance(child, ast.Constant) and isinstance(child.value, str)
    ]


def find_raised_codes() -> dict[str, str]:
    """Return every error code of the API with a place that raises it."""
    locations: dict[str, str] = {}
    for file, tree in parse_sources():
        if WEB_PAGES in file.parents:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                values = [keyword.value for keyword in node.keywords if keyword.arg == "code"]
                locations |= {
                    code: f"{file}:{node.lineno}" for value in values for code in list_literal_codes(value)
                }
            elif isinstance(node, ast.ClassDef) and file.name == "errors.py":
                for line in node.body:
                    if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "code":
                        locations |= dict.fromkeys(list_possible_codes(line.value), f"{file}:{line.lineno}")
    return locations


def test_error_codes_have_the_status_of_their_exception() -> None:
    kinds = {kind.__name__: kind for kind in vars(errors).values() if isinstance(kind, type)}
    answers = {
        f"{STATUS_BY_ERROR[kinds[name]]}.{code}"
        for file, tree in parse_sources()
        if WEB_PAGES not in file.parents
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and (name := getattr(node.func, "id", "")) in kinds
        for keyword in node.keywords
        if keyword.arg == "code" and kinds[name] in STATUS_BY_ERROR
        for code in list_literal_codes(keyword.value)
    }
    assert len(answers) > 80
    assert answers <= set(codes.ERROR_SENTENCES_BY_STATUS)


def list_literal_codes(node: ast.expr, registry: Mapping[str, str] = codes.ERROR_SENTENCES) -> list[str]:
    return list_possible_codes(node, registry) if isinstance(node, ast.Constant | ast.JoinedStr) else []


def find_codes_in_files() -> dict[str, str]:
    """Return the codes of file errors with their places: arguments and values assigned to ``code``."""
    locations: dict[str, str] = {}
    for file, tree in parse_sources():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and file.parts[-2:] != ("documentation", "document.py"):
                name = (
                    node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                )
                for position in CODE_POSITIONS.get(name, ()):
                    arguments = node.args[position : position + 1]
                    locations |= {
                        code: f"{file}:{node.lineno}"
                        for expression in arguments
                        for code in list_literal_codes(expression, codes.FILE_PROBLEM_SENTENCES)
                    }
            elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "code":
                branches = (getattr(node.value, branch, None) for branch in ("body", "orelse"))
                locations |= {
                    code: f"{file}:{node.lineno}"
                    for expression in branches
                    if expression
                    for code in list_literal_codes(expression)
                }
    return locations


def test_registered_error_codes_are_raised_and_documented(
    session_settings: object,
) -> None:
    raised_codes = find_raised_codes()
    assert len(raised_codes) > 80
    assert not {
        code: location for code, location in raised_codes.items() if code not in codes.ERROR_SENTENCES
    }
    assert (
        load_document()["components"]["schemas"]["Problem"]["properties"]["code"]["x-codes"]
        == codes.ERROR_SENTENCES
    )


@pytest.mark.full
def test_codes_of_file_errors_are_registered() -> None:
    assert len(find_codes_in_files()) > 20
    # Sets and archives have ``add`` as well; only lower-case identifiers can be codes.
    locations = {
        code: location
        for code, location in find_codes_in_files().items()
        if code.islower() and code.isidentifier()
    }
    assert not {
        code: location for code, location in locations.items() if code not in codes.FILE_PROBLEM_SENTENCES
    }


def test_documented_codes_are_raised_in_the_code(session_settings: object) -> None:
    """The table of responses does not list errors that no longer exist."""
    framework = {"bad_request", "invalid_request", "database_unavailable", "too_slow"}
    documented = {example.partition(".")[2] for example in load_document()["components"]["examples"]}
    assert documented <= set(find_raised_codes()) | framework


def test_example_files_are_readable_by_the_service() -> None:
    assert parse_competition(examples.TOML).slug == "small-cup"
    rows = examples.TABLE.count("\n") - 1
    source = parse_secret(examples.SECRET.encode(), original_count=rows, anonymized_count=rows)
    assert sorted(source.tolist()) == [0, 1, 2]
    guess = parse_guess(examples.GUESS.encode(), original_count=rows, anonymized_count=rows)
    assert guess.tolist() == [-1, 2, 0]
