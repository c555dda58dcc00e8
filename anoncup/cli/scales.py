"""``anoncup scales``: the scales of utility scores, computed from an original."""

from __future__ import annotations

from anoncup.cli.options import CompetitionFile, OriginalFiles


def scales(competition: CompetitionFile, original: OriginalFiles) -> None:
    """Print the competition file with the scales of its utility scores computed from the original."""
    from anoncup.cli.local_files import contest_of
    from anoncup.evaluation.scales import scales as scales_of
    from anoncup.rules.toml_text import with_scales

    contest = contest_of(competition, original)
    found = scales_of(contest.track, contest.prepared, contest.rules.measures)
    print(with_scales(contest.text, found), end="")
