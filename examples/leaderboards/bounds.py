"""Certified bounds say for every r which false claims that leave r customers in place are rejected.

A team may hand in the original data and claim that customers made each other's purchases. No total changes,
and attackers find only the customers left in place.
"""

import anoncup

rules = anoncup.parse_competition(anoncup.template(2016))
tables = anoncup.load_tc400()
original = anoncup.TransactionOriginal(tables)
matrix = anoncup.TRACKS["transactions"].distances[rules.excessive.distance].matrix(original)
bounds = anoncup.certified_bounds(matrix)
customers, threshold = len(matrix), rules.excessive.threshold


def claim(permutation):
    """Score the original data with a permutation as the secret."""
    files = {"customers": tables.customers, "transactions": tables.transactions}
    return anoncup.score(files, files, permutation, competition=rules)


print(
    f"Mean distance of a claim that leaves at most r of {customers} customers in place; threshold {threshold}"
)
print("  r  simple bound  certified bounds  cheapest claim          U       E")
for r in (0, 50, 99, 105, 107, 200):
    simple, low, high = (sums[r] / customers for sums in (bounds.s_lower, bounds.lower, bounds.upper))
    score = claim(bounds.permutations[r])
    cheapest = f"{score.verdict.excessive.mean:.4f} {score.verdict.verdict}"
    print(f"{r:>3}  {simple:12.4f}  {low:.4f} .. {high:.4f}  {cheapest}", end="")
    print(f"  {score.utility:.4f}  {score.security:.4f}")
for name, sums in (("simple", bounds.s_lower), ("certified", bounds.lower)):
    rejected = bounds.fixed[sums > threshold * customers].max()
    print(f"The {name} bound proves that every claim with r up to {rejected} is rejected.")
