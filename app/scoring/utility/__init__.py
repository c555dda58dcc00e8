"""The utility measures of each track by name."""

from anoncup.lazy import deferred_in
from anoncup.rules.parameters import Parameter
from anoncup.tracks.parts import Measure

_by = deferred_in(__name__)
_columns = Parameter("columns", "columns", "quasi_identifiers")
_target = Parameter("target", "columns", "sensitive", default=1)

UTILITIES = {
    "mean_mae": Measure(
        "mean_mae",
        1,
        _by("microdata.mean_mae"),
        in_data_units=True,
        weighs=True,
        reads_secret=False,
        scale=_by("microdata.mean_deviation"),
    ),
    "cross_mean": Measure(
        "cross_mean",
        1,
        _by("microdata.cross_mean"),
        (_columns, _target),
        in_data_units=True,
        weighs=True,
        reads_secret=False,
        crosses=_columns.name,
    ),
    "cross_count": Measure(
        "cross_count",
        1,
        _by("microdata.cross_count"),
        (_columns,),
        weighs=True,
        reads_secret=False,
        crosses=_columns.name,
    ),
    "cor_mae": Measure("cor_mae", 1, _by("microdata.cor_mae"), weighs=True, reads_secret=False),
    "information_loss": Measure(
        "information_loss",
        1,
        _by("microdata.information_loss"),
        weighs=True,
    ),
    "row_difference": Measure(
        "row_difference",
        1,
        _by("microdata.row_difference"),
        weighs=True,
        reads_secret=False,
        scale=_by("microdata.original_rows"),
    ),
}

TRANSACTION_UTILITIES = {
    "cmae_price": Measure(
        "cmae_price", 1, _by("transactions.cmae_price"), in_data_units=True, weighs=True, reads_secret=False
    ),
    "cmae_spend": Measure(
        "cmae_spend", 1, _by("transactions.cmae_spend"), in_data_units=True, weighs=True, reads_secret=False
    ),
    "rfm": Measure("rfm", 1, _by("transactions.rfm"), weighs=True, reads_secret=False),
    "row_difference": Measure(
        "row_difference",
        1,
        _by("transactions.row_difference"),
        details=_by("transactions.signed_row_difference"),
        weighs=True,
        reads_secret=False,
        scale=_by("transactions.original_records"),
    ),
    "goods_cosine": Measure(
        "goods_cosine", 1, _by("transactions.goods_cosine"), weighs=True, reads_secret=False
    ),
    "top_goods": Measure("top_goods", 1, _by("transactions.top_goods"), weighs=True, reads_secret=False),
}
