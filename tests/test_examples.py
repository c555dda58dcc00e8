"""The notebooks run completely, and that of the papers reproduces their numbers."""

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode

from tests.support.notebooks import execute_notebook, list_code_cells, read_notebook

pytestmark = pytest.mark.full

NUMBERS_CELL = """
import json
print(json.dumps({
    "draws": DRAWS,
    "threshold": threshold,
    "least": float(between.min()),
    "fixed": table_1.index.tolist(),
    "printed": table_1["P2 printed"].tolist(),
    "s_lower": table_1["s_lower(r)/400"].tolist(),
    "s_exact_0": float(s_exact_0),
    "below_the_curve": int((s_lower > threshold).sum()) - 1,
    "groups": [advice.groups, advice.alone],
    "cheats": {cheat.name: [cheat.fixed, cheat.expected] for cheat in advice.cheats},
    "simulated": simulated.T.to_dict(),
    "drawn": {name: sum(each.counts) for name, each in advice.histograms.items()},
    "zeros": zeros,
    "table_13": table_13.to_dict(),
}))
"""
"""Appended to the notebook as its last cell."""

Numbers = dict[str, Any]


@pytest.fixture(scope="module")
def executed_notebook(tmp_path_factory: pytest.TempPathFactory) -> NotebookNode:
    notebook = read_notebook("papers.ipynb")
    notebook.cells.append(nbformat.v4.new_code_cell(NUMBERS_CELL))
    execute_notebook(notebook, tmp_path_factory.mktemp("notebook"))
    return notebook


@pytest.fixture(scope="module")
def numbers(executed_notebook: NotebookNode) -> Numbers:
    results: Numbers = json.loads(executed_notebook.cells[-1].outputs[0].text)
    return results


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("first_submission.ipynb", 0),
        ("methods.ipynb", 1),
        ("attack_a_target.ipynb", 2),
        ("threshold.ipynb", 1),
    ],
)
def test_notebook_runs_without_warnings(name: str, figures: int, tmp_path: Path) -> None:
    notebook = read_notebook(name)
    execute_notebook(notebook, tmp_path)
    outputs = [output for cell in list_code_cells(notebook) for output in cell.outputs]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == figures
    assert not [output.text for output in outputs if "Warning" in output.get("text", "")]


def test_notebook_draws_two_figures_without_warnings(executed_notebook: NotebookNode) -> None:
    outputs = [output for cell in list_code_cells(executed_notebook) for output in cell.outputs]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 2
    assert not [output.text for output in outputs if "Warning" in output.get("text", "")]


def test_table_1_equals_the_papers(numbers: Numbers) -> None:
    expected = [0.6435287602, 0.7634816754, 0.8291073208, 0.8723424982, 0.8748393112]
    assert numbers["fixed"] == [99, 47, 19, 1, 0]
    assert numbers["s_lower"] == pytest.approx(expected, abs=1e-9)
    assert numbers["s_lower"] == pytest.approx(numbers["printed"], abs=1e-9)
    assert numbers["least"] == pytest.approx(0.7133620690, abs=1e-9)
    assert numbers["s_exact_0"] == pytest.approx(356.39559585829, abs=1e-9)


def test_notebooks_statements_about_the_curve_are_true(numbers: Numbers) -> None:
    assert numbers["threshold"] == 0.64
    assert numbers["below_the_curve"] == 100
    assert numbers["groups"] == [48, 15]
    assert numbers["cheats"]["shift"] == [0, 0]
    assert numbers["cheats"]["random"][1] == 1
    assert numbers["cheats"]["group"] == [100, 48]


def test_every_simulated_cheat_is_rejected(numbers: Numbers) -> None:
    assert numbers["drawn"] == dict.fromkeys(("shift", "random", "group"), numbers["draws"])
    shift, random, group = numbers["simulated"].values()
    assert shift["mean"] == pytest.approx(0.9843, abs=0.01)
    assert random["mean"] == pytest.approx(0.9818, abs=0.01)
    assert group["mean"] == pytest.approx(0.8643, abs=0.01)
    assert min(cheat["least"] for cheat in (shift, random, group)) > numbers["threshold"]


def test_same_utilities_are_0_as_in_the_paper(numbers: Numbers) -> None:
    assert {label: " ".join(names) for label, names in numbers["zeros"].items()} == {
        "Original": "U1 U2 U3 U4 U5 U6",
        "Da k-anonymity": "U1 U4 U5 U6",
        "Db noise": "U3 U6",
        "Dc cheating": "U1 U2 U3 U4 U6",
        "Dd unify 1": "U1 U2 U3 U4 U5 U6",
        "De unify 2": "U1 U4 U5 U6",
        "Df average": "U1 U2 U3 U6",
        "Dg swap": "U1 U2 U3 U6",
        "Dh delete": "U5",
    }


def test_notebooks_statements_about_the_methods_are_true(numbers: Numbers) -> None:
    table = numbers["table_13"]
    original, cheating, deleting = (table[name] for name in ("Original", "Dc cheating", "Dh delete"))
    assert len(original) == 14
    attackers = ("E1", "E2", "E3", "E4", "EUC1", "EUC2")
    assert max(cheating[name] for name in attackers) < 0.001
    assert original["E2"] == original["E3"] == original["EUC1"] == original["EUC2"] == 1
    assert original["E4"] < 0.3
    assert table["Da k-anonymity"]["S1"] == 3
    for label in ("Df average", "Dg swap"):
        assert table[label]["E1"] == original["E1"]
        assert [table[label][name] for name in ("E2", "EUC1", "EUC2")] == pytest.approx(
            [original["E1"]] * 3, abs=0.02
        )
    assert max(deleting["E3"], deleting["E4"]) < 0.1
    assert deleting["E2"] == deleting["EUC1"] == deleting["EUC2"] == 1
