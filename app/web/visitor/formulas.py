"""The formula of every measure, distance and score, as MathML by name.

X is the original and Y the release; n and n′ are their numbers of individuals; Q and S are the
quasi-identifiers and the sensitive attributes; s_j is the individual of X who is individual j of Y. MathML
needs no script in the browser.
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


def mo(sign: str) -> str:
    return f"<mo>{sign}</mo>"


def function_name(text: str) -> str:
    """Return the name of a function, in upright letters."""
    return f'<mi mathvariant="normal">{text}</mi>'


def msub(base: str, below: str) -> str:
    return f"<msub>{base}{below}</msub>"


def msup(base: str, above: str) -> str:
    return f"<msup>{base}{above}</msup>"


def msubsup(base: str, below: str, above: str) -> str:
    return f"<msubsup>{base}{below}{above}</msubsup>"


def mfrac(above: str, below: str) -> str:
    return f"<mfrac>{above}{below}</mfrac>"


def munder(sign: str, below: str) -> str:
    return f"<munder>{sign}{below}</munder>"


def _summation(index: str) -> str:
    return munder('<mo movablelimits="false">∑</mo>', index)


def minimum(index: str) -> str:
    return munder('<mo movablelimits="false">min</mo>', index)


def maximum(index: str) -> str:
    return munder('<mo movablelimits="false">max</mo>', index)


def bars(*parts: str) -> str:
    """Return the parts between bars: an absolute value or the number of elements."""
    return _mrow(
        '<mo stretchy="true" form="prefix">|</mo>', *parts, '<mo stretchy="true" form="postfix">|</mo>'
    )


def _apply_function(function: str, *parts: str) -> str:
    return _mrow(function, '<mo stretchy="true">(</mo>', *parts, '<mo stretchy="true">)</mo>')


def braces(*parts: str) -> str:
    return _mrow('<mo stretchy="true">{</mo>', *parts, '<mo stretchy="true">}</mo>')


def _prime(name: str) -> str:
    """Return the symbol with the stroke that marks values of the release."""
    return _mi(f"{name}′")  # a superscript stroke would be too small to read


def count(*parts: str) -> str:
    """Return the number of elements that meet a condition."""
    return _mrow(mo("#"), braces(*parts))


def _display_math(*parts: str) -> Markup:
    return Markup(f'<math display="block">{_mrow(*parts)}</math>')  # noqa: S704  # built from literals only


EQUALS, MINUS, ELEMENT_OF, PLUS = mo("="), mo("−"), mo("∈"), mo("+")
X, Y, S, Q, A, L = _mi("X"), _mi("Y"), _mi("S"), _mi("Q"), _mi("A"), _mi("l")
ORIGINAL_SIZE, RELEASE_SIZE = _mi("n"), _prime("n")
_CELLS = _mrow(_mi("R"), mo("("), A, mo(")"))
CLASSES, CLASS = _mi("K"), _mi("c")
_MEAN = _mi("μ")

_K_MIN = _display_math(minimum(_mrow(CLASS, ELEMENT_OF, CLASSES)), bars(CLASS))
_K_MEAN = _display_math(mfrac(RELEASE_SIZE, bars(CLASSES)))


def average(index: str, term: str, number: str) -> str:
    """Return the mean of a term over ``number`` values of an index."""
    return _mrow(mfrac(_mn("1"), number), _summation(index), term)


def cell(table: str, target: str) -> str:
    """Return the values of the target column in the rows of a cell of the cross-table."""
    return _mrow(msup(table, target), mo("∣"), msup(table, A), EQUALS, _mi("a"))


def _cross_table_gap(symbol: str) -> Markup:
    """Return the mean gap over the cells of the cross-table of sex and country."""
    return _display_math(
        average(
            _mrow(_mi("z"), ELEMENT_OF, _mi("Z")),
            bars(msub(_mi(symbol), _mi("z")), MINUS, msub(_prime(symbol), _mi("z"))),
            bars(_mi("Z")),
        )
    )


MICRODATA: Mapping[str, Markup] = {
    "mean_mae": _display_math(
        average(
            _mrow(L, ELEMENT_OF, S),
            bars(_apply_function(_MEAN, msup(X, L)), MINUS, _apply_function(_MEAN, msup(Y, L))),
            bars(S),
        ),
    ),
    "cross_mean": _display_math(
        average(
            _mrow(_mi("a"), ELEMENT_OF, _CELLS),
            bars(
                _apply_function(_MEAN, cell(_mi("x"), _mi("b"))),
                MINUS,
                _apply_function(_MEAN, cell(_mi("y"), _mi("b"))),
            ),
            bars(_CELLS),
        )
    ),
    "cross_count": _display_math(
        average(
            _mrow(_mi("a"), ELEMENT_OF, _CELLS),
            bars(
                count(_mi("x"), mo(":"), msup(_mi("x"), A), EQUALS, _mi("a")),
                MINUS,
                count(_mi("y"), mo(":"), msup(_mi("y"), A), EQUALS, _mi("a")),
            ),
            bars(_CELLS),
        )
    ),
    "cor_mae": _display_math(
        average(
            _mrow(_mi("k"), mo("&lt;"), L, ELEMENT_OF, S),
            bars(msubsup(_mi("r"), _mrow(_mi("k"), L), X), MINUS, msubsup(_mi("r"), _mrow(_mi("k"), L), Y)),
            _mrow(bars(S), mo("("), bars(S), MINUS, _mn("1"), mo(")"), mo("/"), _mn("2")),
        )
    ),
    "information_loss": _display_math(
        mfrac(_mn("1"), _mrow(RELEASE_SIZE, bars(S))),
        _summation(_mrow(_mi("j"), mo("≤"), RELEASE_SIZE)),
        _summation(_mrow(L, ELEMENT_OF, S)),
        mfrac(
            bars(msubsup(_mi("x"), msub(_mi("s"), _mi("j")), L), MINUS, msubsup(_mi("y"), _mi("j"), L)),
            _mrow(function_name("max"), msup(X, L), MINUS, function_name("min"), msup(X, L)),
        ),
    ),
    "row_difference": _display_math(ORIGINAL_SIZE, MINUS, RELEASE_SIZE),
    "k_min": _K_MIN,
    "k_mean": _K_MEAN,
    "classes": _display_math(bars(CLASSES)),
    "unique_share": _display_math(
        mfrac(count(CLASS, ELEMENT_OF, CLASSES, mo(":"), bars(CLASS), EQUALS, _mn("1")), RELEASE_SIZE)
    ),
    "l_diversity": _display_math(
        minimum(_mrow(CLASS, ELEMENT_OF, CLASSES, mo(","), L, ELEMENT_OF, S)),
        count(msubsup(_mi("y"), _mi("j"), L), mo(":"), _mi("j"), ELEMENT_OF, CLASS),
    ),
    "t_closeness": _display_math(
        maximum(_mrow(CLASS, ELEMENT_OF, CLASSES, mo(","), L, ELEMENT_OF, S)),
        mfrac(_mn("1"), _mrow(_mi("m"), MINUS, _mn("1"))),
        _summation(_mrow(_mi("v"), mo("&lt;"), _mi("m"))),
        bars(
            msubsup(_mi("P"), CLASS, L),
            mo("("),
            _mi("v"),
            mo(")"),
            MINUS,
            msup(_mi("P"), L),
            mo("("),
            _mi("v"),
            mo(")"),
        ),
    ),
}

_TRANSACTIONS: Mapping[str, Markup] = {
    "cmae_price": _cross_table_gap("p"),
    "cmae_spend": _cross_table_gap("b"),
    "rfm": _display_math(
        average(
            _mrow(_mi("z"), ELEMENT_OF, msup(braces(_mn("1"), mo("…"), _mn("10")), _mn("3"))),
            bars(msub(_mi("N"), _mi("z")), MINUS, msub(_prime("N"), _mi("z"))),
            _mn("1000"),
        )
    ),
    "row_difference": _display_math(bars(_prime("m"), MINUS, _mi("m"))),
    "goods_cosine": _display_math(
        mfrac(
            _mrow(
                _summation(_mrow(_mi("g"), mo(","), _mi("h"))),
                bars(
                    msub(_mi("σ"), _mrow(_mi("g"), _mi("h"))),
                    MINUS,
                    msub(_prime("σ"), _mrow(_mi("g"), _mi("h"))),
                ),
            ),
            _mrow(_summation(_mrow(_mi("g"), mo(","), _mi("h"))), msub(_mi("σ"), _mrow(_mi("g"), _mi("h")))),
        )
    ),
    "top_goods": _display_math(mfrac(bars(_mi("G"), mo("∖"), _prime("G")), bars(_mi("G")))),
    "k_min": _K_MIN,
    "k_mean": _K_MEAN,
    "basket_k_min": _K_MIN,
    "basket_k_mean": _K_MEAN,
}

C, P, HALF = _mi("C"), _mi("p"), mfrac(_mn("1"), _mn("2"))


def _total_variation(*index: str) -> str:
    """Return the total variation distance over the cells with this index."""
    return _mrow(
        HALF, _summation(_mrow(*index)), bars(msub(P, _mrow(*index)), MINUS, msub(_prime("p"), _mrow(*index)))
    )


_MEMBERSHIP: Mapping[str, Markup] = {
    "marginals": _display_math(average(_mrow(_mi("c"), ELEMENT_OF, C), _total_variation(_mi("b")), bars(C))),
    "pairs": _display_math(
        average(
            _mrow(_mi("c"), mo("&lt;"), _mi("d"), ELEMENT_OF, C),
            _total_variation(_mi("a"), mo(","), _mi("b")),
            _mrow(bars(C), mo("("), bars(C), MINUS, _mn("1"), mo(")"), mo("/"), _mn("2")),
        )
    ),
    "correlations": _display_math(
        average(
            _mrow(_mi("k"), mo("&lt;"), L, ELEMENT_OF, S),
            _mrow(
                HALF,
                bars(msub(_mi("r"), _mrow(_mi("k"), L)), MINUS, msub(_prime("r"), _mrow(_mi("k"), L))),
            ),
            _mrow(bars(S), mo("("), bars(S), MINUS, _mn("1"), mo(")"), mo("/"), _mn("2")),
        )
    ),
    "tails": _display_math(
        average(_mrow(L, ELEMENT_OF, S), bars(msub(_prime("p"), L), MINUS, _mn("0.02")), bars(S))
    ),
    "copies": _display_math(
        mfrac(count(_mi("y"), ELEMENT_OF, Y, mo(":"), _mi("y"), ELEMENT_OF, _mi("M")), bars(Y))
    ),
    "propensity": _display_math(
        mfrac(_mn("4"), _mi("N")),
        _summation(_mrow(_mi("i"), mo("≤"), _mi("N"))),
        msup(_mrow(mo("("), msub(_mi("q"), _mi("i")), MINUS, _mi("c"), mo(")")), _mn("2")),
    ),
}

_REMAINING_RECORD = _mrow(_mi("r"), ELEMENT_OF, _mi("R"))
_PAIR = _mrow(_mi("i"), mo(","), _mi("j"))
_COSINE_CHANGE = _display_math(
    _apply_function(
        function_name("min"),
        _mn("1"),
        mo(","),
        mfrac(
            _mrow(_summation(_PAIR), bars(msub(_mi("a"), _PAIR), MINUS, msub(_mi("c"), _PAIR))),
            _mrow(_summation(_PAIR), msub(_mi("a"), _PAIR)),
        ),
    )
)
"""Relative change of the cosines between goods, at most 1."""


def _price_extreme(function: str) -> str:
    return _apply_function(
        function_name(function), msub(_mi("p"), _mi("r")), mo(","), msub(_prime("p"), _mi("r"))
    )


_MONTHLY: Mapping[str, Markup] = {
    "itemcf_levels": _COSINE_CHANGE,
    "itemcf_small": _COSINE_CHANGE,
    "top_goods": _TRANSACTIONS["top_goods"],
    "top_cf": _COSINE_CHANGE,
    "date_shift": _display_math(
        average(
            _REMAINING_RECORD,
            bars(msub(_mi("d"), _mi("r")), MINUS, msub(_prime("d"), _mi("r"))),
            _mrow(_mn("31"), _mi("m")),
        )
    ),
    "price_ratio": _display_math(
        average(
            _REMAINING_RECORD,
            _mrow(mo("("), _mn("1"), MINUS, mfrac(_price_extreme("min"), _price_extreme("max")), mo(")")),
            _mi("m"),
        )
    ),
    "deleted": _display_math(_mn("1"), MINUS, mfrac(_prime("m"), _mi("m"))),
}

MEASURES: Mapping[str, Mapping[str, Markup]] = {
    "microdata": MICRODATA,
    "transactions": _TRANSACTIONS,
    "membership": _MEMBERSHIP,
    "monthly": _MONTHLY,
}


def measure_formula(track: str, name: str) -> Markup | None:
    """Return the formula of a measure, built in or of an installed package; None if there is none."""
    package_formula = INSTALLED.formulas.get(track, {}).get(name)
    built_in_formula = MEASURES.get(track, {}).get(name)
    return built_in_formula or (
        Markup(package_formula) if package_formula else None  # noqa: S704  # checked when it was loaded
    )


def _jaccard_distance(intersection: str, union: str) -> Markup:
    return _display_math(_mn("1"), MINUS, mfrac(intersection, union))


GOODS, GOODS_AFTER = _apply_function(_mi("I"), _mi("x")), _apply_function(_mi("I"), _mi("y"))
_SQUARE = msup(_mrow(mo("("), msup(_mi("x"), L), MINUS, msup(_mi("y"), L), mo(")")), _mn("2"))
DISTANCES: Mapping[str, Markup] = {
    "gower": _display_math(
        mfrac(_mn("1"), _mrow(bars(Q), PLUS, bars(S))),
        '<mo stretchy="true">(</mo>',
        count(_mi("q"), mo(":"), msup(_mi("x"), _mi("q")), mo("≠"), msup(_mi("y"), _mi("q"))),
        PLUS,
        _summation(L),
        _apply_function(
            function_name("min"),
            _mn("1"),
            mo(","),
            mfrac(bars(msup(_mi("x"), L), MINUS, msup(_mi("y"), L)), msub(_mi("ρ"), L)),
        ),
        '<mo stretchy="true">)</mo>',
    ),
    "euclidean": _display_math(f"<msqrt>{_summation(_mrow(L, ELEMENT_OF, S))}{_SQUARE}</msqrt>"),
    "jaccard": _jaccard_distance(bars(GOODS, mo("∩"), GOODS_AFTER), bars(GOODS, mo("∪"), GOODS_AFTER)),
    "jaccard_quantity": _jaccard_distance(
        _mrow(
            _summation(_mi("g")),
            _apply_function(
                function_name("min"), msub(_mi("q"), _mi("g")), mo(","), msub(_prime("q"), _mi("g"))
            ),
        ),
        _mrow(
            _summation(_mi("g")),
            _apply_function(
                function_name("max"), msub(_mi("q"), _mi("g")), mo(","), msub(_prime("q"), _mi("g"))
            ),
        ),
    ),
}


def distance_formula(track: str, name: str) -> Markup | None:
    """Return the formula of a distance of a built-in track.

    Tracks of packages have none: their distances may have the same names with another meaning.
    """
    return DISTANCES.get(name) if track in BUILT_IN else None


VALUE, SCALE, WEIGHT = msub(_mi("v"), _mi("k")), msub(_mi("t"), _mi("k")), msub(_mi("w"), _mi("k"))
SCORES: Mapping[str, Markup] = {
    "measure": _display_math(
        msub(_mi("u"), _mi("k")),
        EQUALS,
        _apply_function(function_name("min"), _mn("1"), mo(","), mfrac(VALUE, SCALE)),
    ),
    "utility": _display_math(
        _mi("U"),
        EQUALS,
        mfrac(
            _mrow(_summation(_mi("k")), WEIGHT, msub(_mi("u"), _mi("k"))), _mrow(_summation(_mi("k")), WEIGHT)
        ),
    ),
    "largest_utility": _display_math(_mi("U"), EQUALS, maximum(_mi("k")), msub(_mi("u"), _mi("k"))),
    "risk": _display_math(
        msub(_mi("e"), _mi("a")),
        EQUALS,
        _apply_function(
            function_name("max"),
            _mn("0"),
            mo(","),
            mfrac(_mrow(msub(_mi("r"), _mi("a")), mo("−"), _mi("c")), _mrow(_mn("1"), mo("−"), _mi("c"))),
        ),
    ),
    "rate": _display_math(
        msub(_mi("e"), _mi("a")),
        EQUALS,
        mfrac(
            count(_mi("j"), mo(":"), msub(_mi("g"), _mi("j")), EQUALS, msub(_mi("s"), _mi("j"))), RELEASE_SIZE
        ),
    ),
    "security": _display_math(_mi("E"), EQUALS, maximum(_mi("a")), msub(_mi("e"), _mi("a"))),
    "overall": _display_math(mfrac(_mrow(_mi("U"), PLUS, _mi("E")), _mn("2"))),
    "mean_distance": _display_math(
        mfrac(_mn("1"), ORIGINAL_SIZE),
        _summation(_mrow(_mi("i"), mo("≤"), ORIGINAL_SIZE)),
        msub(_mi("d"), _mi("i")),
    ),
    "largest_distance": _display_math(
        maximum(_mrow(_mi("i"), mo("≤"), ORIGINAL_SIZE)), msub(_mi("d"), _mi("i"))
    ),
}
"""Formulas of the scores, and of the distances that the rule against excessive anonymization uses."""
