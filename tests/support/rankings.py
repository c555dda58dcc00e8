"""Rankings of each kind, for laws that hold for all of them."""

RANKINGS = {
    "score": '[ranking]\nrule = "score"\nfinals = 2\n',
    "rank_sum": '[ranking]\nrule = "rank_sum"\n',
    "formula": '[ranking]\norder = "descending"\ndefence = "1 - utility - strongest() / 3 - penalty"\n'
    'attack = "mean_per_target - penalty + identified / 100"\n',
    "formula that compares": "[ranking]\ndefence = \"rank('security') + utility + penalty\"\n"
    "attack = \"identified - penalty + rank('mean_per_target') / 4\"\n",
}
