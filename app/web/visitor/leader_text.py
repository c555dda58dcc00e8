"""Who leads, and why, in sentences: one team, or several that share the first place, and who follows."""

from collections.abc import Iterator, Sequence

from anoncup.rules.model import Rules
from anoncup.schemas import AttackersRow, Board, BoardRow
from app.locale.language import Words
from app.web.site import notation
from app.web.site.names import listed, paragraph
from app.web.visitor.leader import Leader, leader_of


def told(board: Board, rules: Rules, t: Words, *, over: bool = False) -> str:
    """What a board says of its first ranks, as far as the reader may know; empty while nobody has one.

    ``over``: who leads has won.
    """
    leader = leader_of(board, rules)
    if leader is None:
        return ""
    if len(leader.rows) > 1:
        first = [*shared(leader, t), *followed(leader, t)]
    else:
        first = [single(leader, t, over=over), *why(leader, t), *second(leader, t)]
    return paragraph(first if over else [*first, *led_before(board, leader, t)], t)


def single(leader: Leader, t: Words, *, over: bool) -> str:
    row = leader.row
    exactly = f"{'' if leader.told else 'coarse_'}{leader.rule}"
    name = f"won_said_{exactly}" if over else f"lead_said_{exactly}"
    rank_sum = t.written(notation.numeral(row.rank_sum))
    return t.label(name).format(
        team=row.team, overall=score(row.overall, t), sum=rank_sum, **losses(row, leader, t)
    )


def shared(leader: Leader, t: Words) -> Iterator[str]:
    """Several on the first rank: with what, and, where it is the same, what they lose and risk."""
    rows, n = leader.rows, len(leader.rows)
    names, overall = names_of(rows, t), score(rows[0].overall, t)
    if leader.rule == "score":
        yield t.ngettext(
            "{n} team is in first place with the lowest overall score, {overall}: {names}.",
            "{n} teams share first place with the lowest overall score, {overall}: {names}.",
            n,
            overall=overall,
            names=names,
        )
    else:
        yield t.ngettext(
            "{n} team is in first place with the lowest sum of ranks: {names}.",
            "{n} teams share first place with the lowest sum of ranks: {names}.",
            n,
            names=names,
        )
    if leader.alike:
        yield t("All have a utility loss of about {utility} and a risk of about {security}.").format(
            **losses(rows[0], leader, t)
        )


def why(leader: Leader, t: Words) -> Iterator[str]:
    """What sets the risk of a single leader."""
    if not leader.told:
        return
    if not leader.counted:
        yield from beyond_chance(leader, t)
    elif leader.by_rival:
        found = t.written(notation.percent(leader.row.security or 0.0))
        yield t("Another team’s guess finds the most: {found} of the individuals.", found=found)
    elif leader.attacker:
        yield t(
            "Of the attackers that count, “{attacker}” finds the most: {found} of the individuals.",
            attacker=t.label(f"attacker_{leader.attacker}", leader.attacker),
            found=t.written(notation.percent(leader.row.security or 0.0)),
        )
    else:
        yield t("No attacker that counts finds anyone.")


def beyond_chance(leader: Leader, t: Words) -> Iterator[str]:
    """The same where individuals are not counted."""
    if not leader.row.security:
        yield t("No attacker that counts finds more than chance would.")
    elif leader.by_rival:
        yield t("Other teams’ guesses set its risk.")
    elif leader.attacker:
        attacker = t.label(f"attacker_{leader.attacker}", leader.attacker)
        yield t("Of the attackers that count, “{attacker}” sets its risk.", attacker=attacker)


def second(leader: Leader, t: Words) -> Iterator[str]:
    """A single second is compared with the leader, where that says something; else who follows is named."""
    if len(leader.following) != 1 or leader.rule != "score" or leader.comparison == "neither":
        yield from followed(leader, t)
        return
    row = leader.following[0]
    yield t.label(f"lead_vs_{leader.comparison}").format(second=row.team, **losses(row, leader, t))


def led_before(board: Board, leader: Leader, t: Words) -> Iterator[str]:
    """Who led on the board of a day ago, where others do now."""
    before = [row.team for row in board.rows if row.rank_before == 1]
    if before and {row.team for row in leader.rows} != set(before):
        yield t("A day ago {names} led.", names=listed(before, t))


def followed(leader: Leader, t: Words) -> Iterator[str]:
    """Who is next, by the true rank: after three on the first it is the fourth."""
    rows, n = leader.following, len(leader.following)
    if not rows:
        return
    names, rank = names_of(rows, t), rows[0].rank
    yield t.ngettext(
        "{names} follows at rank {rank}.",
        "{names} follow, sharing rank {rank}.",
        n,
        names=names,
        rank=rank,
    )


def attacks(first: Sequence[AttackersRow], t: Words, *, over: bool) -> str:
    """Who leads the re-identification board, or has won it; ``first``: all on its first rank, at least one."""
    return attack(first[0], t, over=over) if len(first) == 1 else shared_attacks(first, t)


def attack(row: AttackersRow, t: Words, *, over: bool) -> str:
    kind = "counted" if row.score is None else "score"
    return t.label(f"won_attacks_{kind}" if over else f"lead_attacks_{kind}").format(
        team=row.team,
        identified=t.shown(row.identified),
        tried=t.shown(row.tried),
        targets=t.shown(row.targets),
        score=score(row.score, t),
    )


def shared_attacks(first: Sequence[AttackersRow], t: Words) -> str:
    n, names, found = len(first), names_of(first, t), first[0].identified
    if first[0].score is None:
        return t.ngettext(
            "On the re-identification board {n} team is in first place with {identified} individuals identified: {names}.",
            "On the re-identification board {n} teams share first place with {identified} individuals identified each: {names}.",
            n,
            identified=found,
            names=names,
        )
    together = score(first[0].score, t)
    return t.ngettext(
        "On the re-identification board {n} team is in first place with {score}: {names}.",
        "On the re-identification board {n} teams share first place with {score} each: {names}.",
        n,
        score=together,
        names=names,
    )


def names_of(rows: Sequence[BoardRow] | Sequence[AttackersRow], t: Words) -> str:
    return listed([row.team for row in rows], t)


def losses(row: BoardRow, leader: Leader, t: Words) -> dict[str, str]:
    """U and E as the board shows them."""
    shown = {"utility": row.utility, "security": row.security}
    return {name: t.written(notation.score(value, leader.digits)) for name, value in shown.items()}


def score(number: float | None, t: Words) -> str:
    return t.written(notation.score(number))
