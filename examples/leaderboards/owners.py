"""The utility on a board tells which team a target belongs to, although no name stands on the target.

Twelve teams use one method in different strengths. The board shows each team's utility loss U. Anybody can
compute U of a target: most measures read no secret, and for the others an attacker's answer is good enough.
"""

import numpy as np

import anoncup

TEAMS = 12
rules = anoncup.parse_competition(anoncup.template(2015))
original = anoncup.generate_households(200)


def measure_as_outsider(target):
    """Return U of a target, with an attacker's one-to-one guess in place of the secret."""
    guess = anoncup.guess(original, target, "euc2_assignment", competition=rules)["link"]
    return anoncup.score(original, target, guess, competition=rules).utility


# The teams, and what others get: a board with names, and targets without.
releases = [
    anoncup.anonymize(original, "add_noise", competition=rules, seed=team, strength=0.05 + 0.02 * team)
    for team in range(TEAMS)
]
targets = [release.tables["anonymized"] for release in releases]
pairs = zip(targets, releases, strict=True)
board = np.array(
    [anoncup.score(original, target, own.secret, competition=rules).utility for target, own in pairs]
)

# An outsider: measure each target and look for the closest row of the board. Rows that are equal are guessed.
measured = np.array([measure_as_outsider(target) for target in targets])
print("decimals of U  teams named right")
for digits in (6, 4, 3, 2, 1):
    distances = np.abs(measured[:, None] - board.round(digits))
    is_closest = distances <= distances.min(axis=1, keepdims=True)
    right = (is_closest.diagonal() / is_closest.sum(axis=1)).sum()
    print(f"{digits:>13}  {right:>9.1f} of {TEAMS}")
print(f"{'no board':>13}  {1:>9.1f} of {TEAMS}")
