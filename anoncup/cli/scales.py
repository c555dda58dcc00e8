"""``anoncup scales``: compute the scales of the utility scores from an original."""

from __future__ import annotations

from anoncup.cli.options import CompetitionFile, OriginalFiles


def scales(competition: CompetitionFile, original: OriginalFiles) -> None:
    """Print the competition file with the scales of its utility scores computed from the original."""
    from anoncup.cli.local_files import load_contest
    from anoncup.evaluation.scales import scales as scales_of
    from anoncup.rules.toml_text import replace_scales

    contest = load_contest(competition, original)
    values = scales_of(contest.track, contest.original, contest.rules.measures)
    print(replace_scales(contest.text, values), end="")
