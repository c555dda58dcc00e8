"""The formulas of all measures, distances and scores, by name, as MathML.

X is the original and Y the release; n and n′ are their numbers of individuals; Q and S are the
quasi-identifiers and the sensitive attributes; s_j is the individual of X that became individual j of Y.
Browsers show MathML without scripts.
"""

from collections.abc import Mapping

from markupsafe import Markup

from anoncup.plugins import BUILT_IN, INSTALLED


def _mrow(*parts: str) -> str:
    return f"<mrow>{''.join(parts)}</mrow>"


def _mi(name: str) -> str:
    return f"<mi>{name}</mi>"


def _mn(number: str) -> str:
    return f"<mn>{number}</mn>"


def _mo(sign: str) -> str:
    return f"<mo>{sign}</mo>"


def _upright_name(text: str) -> str:
    """Return the name of a function in upright letters."""
    return f'<mi mathvariant="normal">{text}</mi>'


def _msub(base: str, below: str) -> str:
    return f"<msub>{base}{below}</msub>"


def _msup(base: str, above: str) -> str:
    return f"<msup>{base}{above}</msup>"


def _msubsup(base: str, below: str, above: str) -> str:
    return f"<msubsup>{base}{below}{above}</msubsup>"


def _mfrac(above: str, below: str) -> str:
    return f"<mfrac>{above}{below}</mfrac>"


def _munder(sign: str, below: str) -> str:
    return f"<munder>{sign}{below}</munder>"


def _summation(index: str) -> str:
    return _munder('<mo movablelimits="false">∑</mo>', index)


def _minimum(index: str) -> str:
    return _munder('<mo movablelimits="false">min</mo>', index)


def _maximum(index: str) -> str:
    return _munder('<mo movablelimits="false">max</mo>', index)


def _bars(*parts: str) -> str:
    """Return the parts between vertical bars: an absolute value or a number of elements."""
    return _mrow(
        '<mo stretchy="true" form="prefix">|</mo>', *parts, '<mo stretchy="true" form="postfix">|</mo>'
    )


def _apply_function(function: str, *parts: str) -> str:
    return _mrow(function, '<mo stretchy="true">(</mo>', *parts, '<mo stretchy="true">)</mo>')


def _braces(*parts: str) -> str:
    return _mrow('<mo stretchy="true">{</mo>', *parts, '<mo stretchy="true">}</mo>')


def _prime(name: str) -> str:
    """Return the symbol with a prime, which marks values of the release."""
    return _mi(f"{name}′")  # a superscript prime would be too small to read


def _count(*parts: str) -> str:
    """Return the number of elements that meet a condition."""
    return _mrow(_mo("#"), _braces(*parts))


def _display_math(*parts: str) -> Markup:
    return Markup(f'<math display="block">{_mrow(*parts)}</math>')  # noqa: S704  # built from literals only


_EQUALS, _MINUS, _ELEMENT_OF, _PLUS = _mo("="), _mo("−"), _mo("∈"), _mo("+")
_X, _Y, _S, _Q, _A, _L = _mi("X"), _mi("Y"), _mi("S"), _mi("Q"), _mi("A"), _mi("l")
_ORIGINAL_SIZE, _RELEASE_SIZE = _mi("n"), _prime("n")
_CELLS = _mrow(_mi("R"), _mo("("), _A, _mo(")"))
_CLASSES, _CLASS = _mi("K"), _mi("c")
_MEAN = _mi("μ")

_K_MIN = _display_math(_minimum(_mrow(_CLASS, _ELEMENT_OF, _CLASSES)), _bars(_CLASS))
_K_MEAN = _display_math(_mfrac(_RELEASE_SIZE, _bars(_CLASSES)))


def _average(index: str, term: str, number: str) -> str:
    """Return the mean of a term over the ``number`` values of an index."""
    return _mrow(_mfrac(_mn("1"), number), _summation(index), term)


def _cell_values(table: str, target: str) -> str:
    """Return the values of the target column in the rows of one cell of the cross-table."""
    return _mrow(_msup(table, target), _mo("∣"), _msup(table, _A), _EQUALS, _mi("a"))


def _cross_table_gap(symbol: str) -> Markup:
    """Return the mean gap over the cells of the cross-table of sex and country."""
    return _display_math(
        _average(
            _mrow(_mi("z"), _ELEMENT_OF, _mi("Z")),
            _bars(_msub(_mi(symbol), _mi("z")), _MINUS, _msub(_prime(symbol), _mi("z"))),
            _bars(_mi("Z")),
        )
    )


_MICRODATA: Mapping[str, Markup] = {
    "mean_mae": _display_math(
        _average(
            _mrow(_L, _ELEMENT_OF, _S),
            _bars(_apply_function(_MEAN, _msup(_X, _L)), _MINUS, _apply_function(_MEAN, _msup(_Y, _L))),
            _bars(_S),
        ),
    ),
    "cross_mean": _display_math(
        _average(
            _mrow(_mi("a"), _ELEMENT_OF, _CELLS),
            _bars(
                _apply_function(_MEAN, _cell_values(_mi("x"), _mi("b"))),
                _MINUS,
                _apply_function(_MEAN, _cell_values(_mi("y"), _mi("b"))),
            ),
            _bars(_CELLS),
        )
    ),
    "cross_count": _display_math(
        _average(
            _mrow(_mi("a"), _ELEMENT_OF, _CELLS),
            _bars(
                _count(_mi("x"), _mo(":"), _msup(_mi("x"), _A), _EQUALS, _mi("a")),
                _MINUS,
                _count(_mi("y"), _mo(":"), _msup(_mi("y"), _A), _EQUALS, _mi("a")),
            ),
            _bars(_CELLS),
        )
    ),
    "cor_mae": _display_math(
        _average(
            _mrow(_mi("k"), _mo("&lt;"), _L, _ELEMENT_OF, _S),
            _bars(
                _msubsup(_mi("r"), _mrow(_mi("k"), _L), _X),
                _MINUS,
                _msubsup(_mi("r"), _mrow(_mi("k"), _L), _Y),
            ),
            _mrow(_bars(_S), _mo("("), _bars(_S), _MINUS, _mn("1"), _mo(")"), _mo("/"), _mn("2")),
        )
    ),
    "information_loss": _display_math(
        _mfrac(_mn("1"), _mrow(_RELEASE_SIZE, _bars(_S))),
        _summation(_mrow(_mi("j"), _mo("≤"), _RELEASE_SIZE)),
        _summation(_mrow(_L, _ELEMENT_OF, _S)),
        _mfrac(
            _bars(
                _msubsup(_mi("x"), _msub(_mi("s"), _mi("j")), _L), _MINUS, _msubsup(_mi("y"), _mi("j"), _L)
            ),
            _mrow(_upright_name("max"), _msup(_X, _L), _MINUS, _upright_name("min"), _msup(_X, _L)),
        ),
    ),
    "row_difference": _display_math(_ORIGINAL_SIZE, _MINUS, _RELEASE_SIZE),
    "k_min": _K_MIN,
    "k_mean": _K_MEAN,
    "classes": _display_math(_bars(_CLASSES)),
    "unique_share": _display_math(
        _mfrac(
            _count(_CLASS, _ELEMENT_OF, _CLASSES, _mo(":"), _bars(_CLASS), _EQUALS, _mn("1")), _RELEASE_SIZE
        )
    ),
    "l_diversity": _display_math(
        _minimum(_mrow(_CLASS, _ELEMENT_OF, _CLASSES, _mo(","), _L, _ELEMENT_OF, _S)),
        _count(_msubsup(_mi("y"), _mi("j"), _L), _mo(":"), _mi("j"), _ELEMENT_OF, _CLASS),
    ),
    "t_closeness": _display_math(
        _maximum(_mrow(_CLASS, _ELEMENT_OF, _CLASSES, _mo(","), _L, _ELEMENT_OF, _S)),
        _mfrac(_mn("1"), _mrow(_mi("m"), _MINUS, _mn("1"))),
        _summation(_mrow(_mi("v"), _mo("&lt;"), _mi("m"))),
        _bars(
            _msubsup(_mi("P"), _CLASS, _L),
            _mo("("),
            _mi("v"),
            _mo(")"),
            _MINUS,
            _msup(_mi("P"), _L),
            _mo("("),
            _mi("v"),
            _mo(")"),
        ),
    ),
}

_TRANSACTIONS: Mapping[str, Markup] = {
    "cmae_price": _cross_table_gap("p"),
    "cmae_spend": _cross_table_gap("b"),
    "rfm": _display_math(
        _average(
            _mrow(_mi("z"), _ELEMENT_OF, _msup(_braces(_mn("1"), _mo("…"), _mn("10")), _mn("3"))),
            _bars(_msub(_mi("N"), _mi("z")), _MINUS, _msub(_prime("N"), _mi("z"))),
            _mn("1000"),
        )
    ),
    "row_difference": _display_math(_bars(_prime("m"), _MINUS, _mi("m"))),
    "goods_cosine": _display_math(
        _mfrac(
            _mrow(
                _summation(_mrow(_mi("g"), _mo(","), _mi("h"))),
                _bars(
                    _msub(_mi("σ"), _mrow(_mi("g"), _mi("h"))),
                    _MINUS,
                    _msub(_prime("σ"), _mrow(_mi("g"), _mi("h"))),
                ),
            ),
            _mrow(
                _summation(_mrow(_mi("g"), _mo(","), _mi("h"))), _msub(_mi("σ"), _mrow(_mi("g"), _mi("h")))
            ),
        )
    ),
    "top_goods": _display_math(_mfrac(_bars(_mi("G"), _mo("∖"), _prime("G")), _bars(_mi("G")))),
    "k_min": _K_MIN,
    "k_mean": _K_MEAN,
    "basket_k_min": _K_MIN,
    "basket_k_mean": _K_MEAN,
}

_C, _P, _HALF = _mi("C"), _mi("p"), _mfrac(_mn("1"), _mn("2"))


def _total_variation(*index: str) -> str:
    """Return the total variation distance over the cells that the index enumerates."""
    return _mrow(
        _HALF,
        _summation(_mrow(*index)),
        _bars(_msub(_P, _mrow(*index)), _MINUS, _msub(_prime("p"), _mrow(*index))),
    )


_MEMBERSHIP: Mapping[str, Markup] = {
    "marginals": _display_math(
        _average(_mrow(_mi("c"), _ELEMENT_OF, _C), _total_variation(_mi("b")), _bars(_C))
    ),
    "pairs": _display_math(
        _average(
            _mrow(_mi("c"), _mo("&lt;"), _mi("d"), _ELEMENT_OF, _C),
            _total_variation(_mi("a"), _mo(","), _mi("b")),
            _mrow(_bars(_C), _mo("("), _bars(_C), _MINUS, _mn("1"), _mo(")"), _mo("/"), _mn("2")),
        )
    ),
    "correlations": _display_math(
        _average(
            _mrow(_mi("k"), _mo("&lt;"), _L, _ELEMENT_OF, _S),
            _mrow(
                _HALF,
                _bars(_msub(_mi("r"), _mrow(_mi("k"), _L)), _MINUS, _msub(_prime("r"), _mrow(_mi("k"), _L))),
            ),
            _mrow(_bars(_S), _mo("("), _bars(_S), _MINUS, _mn("1"), _mo(")"), _mo("/"), _mn("2")),
        )
    ),
    "tails": _display_math(
        _average(_mrow(_L, _ELEMENT_OF, _S), _bars(_msub(_prime("p"), _L), _MINUS, _mn("0.02")), _bars(_S))
    ),
    "copies": _display_math(
        _mfrac(_count(_mi("y"), _ELEMENT_OF, _Y, _mo(":"), _mi("y"), _ELEMENT_OF, _mi("M")), _bars(_Y))
    ),
    "propensity": _display_math(
        _mfrac(_mn("4"), _mi("N")),
        _summation(_mrow(_mi("i"), _mo("≤"), _mi("N"))),
        _msup(_mrow(_mo("("), _msub(_mi("q"), _mi("i")), _MINUS, _mi("c"), _mo(")")), _mn("2")),
    ),
}

_REMAINING_RECORD = _mrow(_mi("r"), _ELEMENT_OF, _mi("R"))
_PAIR = _mrow(_mi("i"), _mo(","), _mi("j"))
_COSINE_CHANGE = _display_math(
    _apply_function(
        _upright_name("min"),
        _mn("1"),
        _mo(","),
        _mfrac(
            _mrow(_summation(_PAIR), _bars(_msub(_mi("a"), _PAIR), _MINUS, _msub(_mi("c"), _PAIR))),
            _mrow(_summation(_PAIR), _msub(_mi("a"), _PAIR)),
        ),
    )
)
"""Relative change of the cosines between goods, at most 1."""


def _price_extreme(function: str) -> str:
    return _apply_function(
        _upright_name(function), _msub(_mi("p"), _mi("r")), _mo(","), _msub(_prime("p"), _mi("r"))
    )


_MONTHLY: Mapping[str, Markup] = {
    "itemcf_levels": _COSINE_CHANGE,
    "itemcf_small": _COSINE_CHANGE,
    "top_goods": _TRANSACTIONS["top_goods"],
    "top_cf": _COSINE_CHANGE,
    "date_shift": _display_math(
        _average(
            _REMAINING_RECORD,
            _bars(_msub(_mi("d"), _mi("r")), _MINUS, _msub(_prime("d"), _mi("r"))),
            _mrow(_mn("31"), _mi("m")),
        )
    ),
    "price_ratio": _display_math(
        _average(
            _REMAINING_RECORD,
            _mrow(_mo("("), _mn("1"), _MINUS, _mfrac(_price_extreme("min"), _price_extreme("max")), _mo(")")),
            _mi("m"),
        )
    ),
    "deleted": _display_math(_mn("1"), _MINUS, _mfrac(_prime("m"), _mi("m"))),
}

MEASURES: Mapping[str, Mapping[str, Markup]] = {
    "microdata": _MICRODATA,
    "transactions": _TRANSACTIONS,
    "membership": _MEMBERSHIP,
    "monthly": _MONTHLY,
}


def find_measure_formula(track: str, name: str) -> Markup | None:
    """Return the formula of a measure, which is built in or from an installed package, or None."""
    package_formula = INSTALLED.formulas.get(track, {}).get(name)
    built_in_formula = MEASURES.get(track, {}).get(name)
    return built_in_formula or (
        Markup(package_formula) if package_formula else None  # noqa: S704  # checked on loading
    )


def _jaccard_distance(intersection: str, union: str) -> Markup:
    return _display_math(_mn("1"), _MINUS, _mfrac(intersection, union))


_ORIGINAL_GOODS, _RELEASED_GOODS = _apply_function(_mi("I"), _mi("x")), _apply_function(_mi("I"), _mi("y"))
_SQUARE = _msup(_mrow(_mo("("), _msup(_mi("x"), _L), _MINUS, _msup(_mi("y"), _L), _mo(")")), _mn("2"))
DISTANCES: Mapping[str, Markup] = {
    "gower": _display_math(
        _mfrac(_mn("1"), _mrow(_bars(_Q), _PLUS, _bars(_S))),
        '<mo stretchy="true">(</mo>',
        _count(_mi("q"), _mo(":"), _msup(_mi("x"), _mi("q")), _mo("≠"), _msup(_mi("y"), _mi("q"))),
        _PLUS,
        _summation(_L),
        _apply_function(
            _upright_name("min"),
            _mn("1"),
            _mo(","),
            _mfrac(_bars(_msup(_mi("x"), _L), _MINUS, _msup(_mi("y"), _L)), _msub(_mi("ρ"), _L)),
        ),
        '<mo stretchy="true">)</mo>',
    ),
    "euclidean": _display_math(f"<msqrt>{_summation(_mrow(_L, _ELEMENT_OF, _S))}{_SQUARE}</msqrt>"),
    "jaccard": _jaccard_distance(
        _bars(_ORIGINAL_GOODS, _mo("∩"), _RELEASED_GOODS), _bars(_ORIGINAL_GOODS, _mo("∪"), _RELEASED_GOODS)
    ),
    "jaccard_quantity": _jaccard_distance(
        _mrow(
            _summation(_mi("g")),
            _apply_function(
                _upright_name("min"), _msub(_mi("q"), _mi("g")), _mo(","), _msub(_prime("q"), _mi("g"))
            ),
        ),
        _mrow(
            _summation(_mi("g")),
            _apply_function(
                _upright_name("max"), _msub(_mi("q"), _mi("g")), _mo(","), _msub(_prime("q"), _mi("g"))
            ),
        ),
    ),
}


def find_distance_formula(track: str, name: str) -> Markup | None:
    """Return the formula of a distance of a built-in track.

    Return None for tracks of packages: their distances may have the same names but other meanings.
    """
    return DISTANCES.get(name) if track in BUILT_IN else None


_VALUE, _SCALE, _WEIGHT = _msub(_mi("v"), _mi("k")), _msub(_mi("t"), _mi("k")), _msub(_mi("w"), _mi("k"))
SCORES: Mapping[str, Markup] = {
    "measure": _display_math(
        _msub(_mi("u"), _mi("k")),
        _EQUALS,
        _apply_function(_upright_name("min"), _mn("1"), _mo(","), _mfrac(_VALUE, _SCALE)),
    ),
    "utility": _display_math(
        _mi("U"),
        _EQUALS,
        _mfrac(
            _mrow(_summation(_mi("k")), _WEIGHT, _msub(_mi("u"), _mi("k"))),
            _mrow(_summation(_mi("k")), _WEIGHT),
        ),
    ),
    "largest_utility": _display_math(_mi("U"), _EQUALS, _maximum(_mi("k")), _msub(_mi("u"), _mi("k"))),
    "risk": _display_math(
        _msub(_mi("e"), _mi("a")),
        _EQUALS,
        _apply_function(
            _upright_name("max"),
            _mn("0"),
            _mo(","),
            _mfrac(_mrow(_msub(_mi("r"), _mi("a")), _mo("−"), _mi("c")), _mrow(_mn("1"), _mo("−"), _mi("c"))),
        ),
    ),
    "rate": _display_math(
        _msub(_mi("e"), _mi("a")),
        _EQUALS,
        _mfrac(
            _count(_mi("j"), _mo(":"), _msub(_mi("g"), _mi("j")), _EQUALS, _msub(_mi("s"), _mi("j"))),
            _RELEASE_SIZE,
        ),
    ),
    "security": _display_math(_mi("E"), _EQUALS, _maximum(_mi("a")), _msub(_mi("e"), _mi("a"))),
    "overall": _display_math(_mfrac(_mrow(_mi("U"), _PLUS, _mi("E")), _mn("2"))),
    "mean_distance": _display_math(
        _mfrac(_mn("1"), _ORIGINAL_SIZE),
        _summation(_mrow(_mi("i"), _mo("≤"), _ORIGINAL_SIZE)),
        _msub(_mi("d"), _mi("i")),
    ),
    "largest_distance": _display_math(
        _maximum(_mrow(_mi("i"), _mo("≤"), _ORIGINAL_SIZE)), _msub(_mi("d"), _mi("i"))
    ),
}
"""Formulas of the scores, and of the distances that the rule against excessive anonymization uses."""
