"""Results for notebooks: each prints as a table and has a plot."""

import io
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, ClassVar

import pandas as pd

from anoncup.evaluation.evaluate import Verdict
from anoncup.rules.parameters import describe_parameters
from anoncup.tables.files import Remark
from anoncup.tracks.outcomes import Rate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from anoncup.evaluation.sample_contest import SampleContest
    from anoncup.excessive.threshold_advisor import ThresholdAdvice


class ResultTable(ABC):
    """A result that prints as ``table``, in terminals and in notebooks."""

    plotted_columns: ClassVar[tuple[str, ...]] = ()

    @property
    def warnings(self) -> tuple[Remark, ...]:
        """Remarks on the files and tables, such as cells that are spelled differently from the original's."""
        return ()

    @property
    @abstractmethod
    def table(self) -> pd.DataFrame:
        """The numbers."""

    @property
    def heading(self) -> str:
        """A line above the table; empty if the table says everything."""
        return ""

    def __str__(self) -> str:
        return "\n".join([*self._list_lines(), self.table.to_string()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(line)}</p>" for line in self._list_lines()) + self.table.to_html()

    def _list_lines(self) -> list[str]:
        """Return the lines above the table: the heading and the warnings."""
        warnings = dict.fromkeys(f"warning: {remark.message}" for remark in self.warnings)
        return [self.heading, *warnings] if self.heading else list(warnings)

    def plot(self) -> "Axes":
        """Draw the numbers as bars with matplotlib and return its axes."""
        axes: Axes = self.table[list(self.plotted_columns)].plot.barh()
        axes.invert_yaxis()
        return axes


@dataclass(frozen=True, repr=False)
class Score(ResultTable):
    """The complete result of a release. U, E and ``overall`` are losses in [0, 1]; 0 is best."""

    plotted_columns = ("value",)
    verdict: Verdict
    warnings: tuple[Remark, ...] = ()

    @property
    def utility(self) -> float:
        """The utility loss U."""
        return self.verdict.utility

    @property
    def security(self) -> float:
        """The security risk E."""
        return self.verdict.security

    @property
    def overall(self) -> float:
        return self.verdict.overall

    @property
    def is_accepted(self) -> bool:
        """Whether the rules of the competition accept the release."""
        return not self.verdict.violations

    @property
    def heading(self) -> str:
        reasons = "; ".join(str(violation.message) for violation in self.verdict.violations)
        decision = f"{self.verdict.verdict}: {reasons}" if reasons else self.verdict.verdict
        return f"{decision}. U {self.utility:.6f}, E {self.security:.6f}, overall {self.overall:.6f}"

    @property
    def table(self) -> pd.DataFrame:
        """The value of each measure and the rate of each attacker."""
        measures = {("measure", name): result.value for name, result in self.verdict.measures.items()}
        attackers = {("attacker", name): result.rate.rate for name, result in self.verdict.attackers.items()}
        values = pd.Series(measures | attackers, name="value")
        return values.rename_axis(["part", "name"]).to_frame()


@dataclass(frozen=True, repr=False)
class AttackRates(ResultTable):
    """The success rates of attackers, in [0, 1]; 0 is best for the team that made the release."""

    plotted_columns = ("rate", "baseline")
    rates: Mapping[str, Rate]
    warnings: tuple[Remark, ...] = ()

    @property
    def table(self) -> pd.DataFrame:
        """``rate``, its ``baseline`` of blind guessing, and what was found of ``trials`` rows."""
        rows = {
            name: {
                "rate": rate.rate,
                "baseline": rate.baseline,
                "correct": rate.correct,
                "trials": rate.trials,
            }
            for name, rate in self.rates.items()
        }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("attacker")


@dataclass(frozen=True, repr=False)
class Comparison(ResultTable):
    """The scores of several releases by name, best first."""

    plotted_columns = ("U", "E", "overall")
    scores: Mapping[str, Score]

    @property
    def warnings(self) -> tuple[Remark, ...]:
        """The warnings about all releases; those about one of them are in ``scores``."""
        return tuple(remark for score in self.scores.values() for remark in score.warnings)

    @property
    def table(self) -> pd.DataFrame:
        """U, E, ``overall`` and the decision, with a row for each release."""
        rows = {
            name: {
                "U": score.utility,
                "E": score.security,
                "overall": score.overall,
                "accepted": score.is_accepted,
            }
            for name, score in self.scores.items()
        }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("release")


@dataclass(frozen=True, repr=False)
class AdvisedThreshold(ResultTable):
    """Advice on a threshold, and a contest of the sample methods, cheats and the unchanged original."""

    plotted_columns = ("U", "E", "overall")
    advice: "ThresholdAdvice"
    contest: "SampleContest"

    @property
    def threshold(self) -> float | None:
        """The recommended threshold; None if none can be recommended."""
        return self.advice.threshold

    @property
    def heading(self) -> str:
        """What leads the contest if it should not, what helps, and the recommended threshold."""
        recommended = "none" if self.threshold is None else f"{self.threshold:g}"
        warnings = [str(part.message) for part in self.contest.warnings]
        remedies = [str(part.message) for part in self.contest.remedies]
        problem = [] if self.contest.problem is None else [str(self.contest.problem.message)]
        return ". ".join(
            [
                *warnings,
                *(["what helps: " + "; ".join(remedies)] if remedies else []),
                *problem,
                f"recommended threshold: {recommended}, which must be above {self.advice.low:.4f} "
                f"and below {self.advice.high:.4f}",
            ]
        )

    @property
    def table(self) -> pd.DataFrame:
        """The releases of the contest in the order of the ranking rule."""
        rows = [
            {
                "release": release.method or release.kind,
                "parameters": describe_parameters(release.parameters),
                "rank": release.rank,
                "U": release.utility,
                "E": release.security,
                "overall": release.overall,
                **({} if release.score is None else {"score": release.score}),
                "mean distance": release.mean_distance,
                "rejected": bool(release.violations),
            }
            for release in self.contest.releases
        ]
        table = pd.DataFrame(rows).astype({"rank": "Int64"}) if rows else pd.DataFrame({"release": []})
        return table.set_index("release")


@dataclass(frozen=True, slots=True, repr=False)
class AnonymizedTables:
    """A release and its secret, as the contents of the files to upload."""

    files: Mapping[str, bytes]
    secret_file: bytes

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables by name, with all cells as text."""
        return {name: read_text_table(content) for name, content in self.files.items()}

    @property
    def secret(self) -> pd.DataFrame:
        """The file secret.csv, whose rows are counted from 1."""
        return read_text_table(self.secret_file)

    def __repr__(self) -> str:
        sizes = [f"{name} ({len(table)} rows)" for name, table in self.tables.items()]
        return f"AnonymizedTables: {', '.join(sizes)}"


def read_text_table(content: bytes) -> pd.DataFrame:
    """Read a CSV file without interpreting its cells."""
    return pd.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False)
