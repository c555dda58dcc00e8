"""Every public function of measures, attackers and methods is in its track's registry."""

import inspect
from types import ModuleType

from anoncup.tracks.linkage import attackers as linkage_attackers
from anoncup.tracks.microdata import methods as microdata_methods
from anoncup.tracks.microdata import registry as microdata
from anoncup.tracks.microdata import utility as microdata_utility
from anoncup.tracks.microdata.attackers import assignment, euclidean, gower, quasi_identifiers, ranks
from anoncup.tracks.transactions import registry as transactions
from anoncup.tracks.transactions import utility as transaction_utility
from anoncup.tracks.transactions.attackers import assignment as transaction_assignment
from anoncup.tracks.transactions.attackers import baskets, records, spending


def list_public_functions(*modules: ModuleType) -> set[str]:
    """Return the names of the functions that the modules define."""
    return {
        name
        for module in modules
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and not name.startswith("_")
    }


def test_every_function_of_microdata_is_registered() -> None:
    helpers = {
        "mean_deviation",
        "count_original_rows",
        "find_largest_sensitive_cell",
        "find_largest_target_cell",
    }
    assert set(microdata.UTILITIES) == list_public_functions(microdata_utility) - helpers
    modules = (linkage_attackers, quasi_identifiers, ranks, euclidean, gower, assignment)
    helpers = {"find_nearest_matching", "find_nearest_in_class", "find_nearest_of_all", "sum_rows"}
    assert set(microdata.ATTACKERS) == list_public_functions(*modules) - helpers
    assert set(microdata.METHODS) == list_public_functions(microdata_methods) - {"shuffle_rows"}


def test_every_function_of_transactions_is_registered() -> None:
    helpers = {
        "signed_row_difference",
        "deciles",
        "count_original_records",
        "find_largest_price",
        "find_largest_spend",
    }
    assert set(transactions.TRANSACTION_UTILITIES) == list_public_functions(transaction_utility) - helpers
    modules = (baskets, records, spending, transaction_assignment)
    assert set(transactions.TRANSACTION_ATTACKERS) == list_public_functions(*modules) | {"own_row"}
