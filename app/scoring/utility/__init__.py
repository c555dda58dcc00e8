"""The utility measures by name."""

from app.scoring.registry import Measure
from app.scoring.utility import microdata

UTILITIES = {
    "mean_mae": Measure("mean_mae", 1, microdata.mean_mae, in_data_units=True, weighs=True),
    "cross_mean": Measure(
        "cross_mean", 1, microdata.cross_mean, ("columns", "target"), in_data_units=True, weighs=True
    ),
    "cross_count": Measure("cross_count", 1, microdata.cross_count, ("columns",), weighs=True),
    "cor_mae": Measure("cor_mae", 1, microdata.cor_mae, weighs=True),
    "information_loss": Measure("information_loss", 1, microdata.information_loss, weighs=True),
    "row_difference": Measure("row_difference", 1, microdata.row_difference, weighs=True),
}
