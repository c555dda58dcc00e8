"""The formula of every measure, distance and score, as MathML by name.

X is the original, Y the release, n and n′ their individuals; Q and S the quasi-identifiers and the sensitive
attributes; s_j the individual of X that individual j of Y is. Browsers show MathML without any script.
"""

from collections.abc import Mapping

from markupsafe import Markup

from anoncup.plugins import BUILT_IN, INSTALLED


def row(*parts: str) -> str:
    return f"<mrow>{''.join(parts)}</mrow>"


def i(name: str) -> str:
    return f"<mi>{name}</mi>"


def n(number: str) -> str:
    return f"<mn>{number}</mn>"


def o(sign: str) -> str:
    return f"<mo>{sign}</mo>"


def words(text: str) -> str:
    """The name of a function, upright."""
    return f'<mi mathvariant="normal">{text}</mi>'


def sub(base: str, below: str) -> str:
    return f"<msub>{base}{below}</msub>"


def sup(base: str, above: str) -> str:
    return f"<msup>{base}{above}</msup>"


def both(base: str, below: str, above: str) -> str:
    return f"<msubsup>{base}{below}{above}</msubsup>"


def frac(above: str, below: str) -> str:
    return f"<mfrac>{above}{below}</mfrac>"


def under(sign: str, below: str) -> str:
    return f"<munder>{sign}{below}</munder>"


def total(over: str) -> str:
    return under('<mo movablelimits="false">∑</mo>', over)


def least(over: str) -> str:
    return under('<mo movablelimits="false">min</mo>', over)


def most(over: str) -> str:
    return under('<mo movablelimits="false">max</mo>', over)


def size(*parts: str) -> str:
    """An absolute value, or the number of elements."""
    return row(
        '<mo stretchy="true" form="prefix">|</mo>', *parts, '<mo stretchy="true" form="postfix">|</mo>'
    )


def call(function: str, *parts: str) -> str:
    return row(function, '<mo stretchy="true">(</mo>', *parts, '<mo stretchy="true">)</mo>')


def braced(*parts: str) -> str:
    return row('<mo stretchy="true">{</mo>', *parts, '<mo stretchy="true">}</mo>')


def prime(name: str) -> str:
    """What belongs to the release."""
    return i(f"{name}′")  # a raised stroke would be too small to read


def count(*parts: str) -> str:
    """How many there are of what is said."""
    return row(o("#"), braced(*parts))


def block(*parts: str) -> Markup:
    return Markup(f'<math display="block">{row(*parts)}</math>')  # noqa: S704  # all parts are written here


EQUALS, MINUS, IN, PLUS = o("="), o("−"), o("∈"), o("+")
X, Y, S, Q, A, L = i("X"), i("Y"), i("S"), i("Q"), i("A"), i("l")
ROWS, ROWS_LEFT = i("n"), prime("n")
CELLS = row(i("R"), o("("), A, o(")"))
CLASSES, CLASS = i("K"), i("c")
MEAN = i("μ")

K_MIN = block(least(row(CLASS, IN, CLASSES)), size(CLASS))
K_MEAN = block(frac(ROWS_LEFT, size(CLASSES)))


def averaged(over: str, each: str, number: str) -> str:
    """The mean over some of what is said of each."""
    return row(frac(n("1"), number), total(over), each)


def cell(table: str, target: str) -> str:
    """The target's values in the rows of a cell of the cross-table."""
    return row(sup(table, target), o("∣"), sup(table, A), EQUALS, i("a"))


def cross(price: str) -> Markup:
    """The mean gap over the cells of sex and country."""
    return block(
        averaged(
            row(i("z"), IN, i("Z")),
            size(sub(i(price), i("z")), MINUS, sub(prime(price), i("z"))),
            size(i("Z")),
        )
    )


MICRODATA: Mapping[str, Markup] = {
    "mean_mae": block(
        averaged(row(L, IN, S), size(call(MEAN, sup(X, L)), MINUS, call(MEAN, sup(Y, L))), size(S)),
    ),
    "cross_mean": block(
        averaged(
            row(i("a"), IN, CELLS),
            size(call(MEAN, cell(i("x"), i("b"))), MINUS, call(MEAN, cell(i("y"), i("b")))),
            size(CELLS),
        )
    ),
    "cross_count": block(
        averaged(
            row(i("a"), IN, CELLS),
            size(
                count(i("x"), o(":"), sup(i("x"), A), EQUALS, i("a")),
                MINUS,
                count(i("y"), o(":"), sup(i("y"), A), EQUALS, i("a")),
            ),
            size(CELLS),
        )
    ),
    "cor_mae": block(
        averaged(
            row(i("k"), o("&lt;"), L, IN, S),
            size(both(i("r"), row(i("k"), L), X), MINUS, both(i("r"), row(i("k"), L), Y)),
            row(size(S), o("("), size(S), MINUS, n("1"), o(")"), o("/"), n("2")),
        )
    ),
    "information_loss": block(
        frac(n("1"), row(ROWS_LEFT, size(S))),
        total(row(i("j"), o("≤"), ROWS_LEFT)),
        total(row(L, IN, S)),
        frac(
            size(both(i("x"), sub(i("s"), i("j")), L), MINUS, both(i("y"), i("j"), L)),
            row(words("max"), sup(X, L), MINUS, words("min"), sup(X, L)),
        ),
    ),
    "row_difference": block(ROWS, MINUS, ROWS_LEFT),
    "k_min": K_MIN,
    "k_mean": K_MEAN,
    "classes": block(size(CLASSES)),
    "unique_share": block(frac(count(CLASS, IN, CLASSES, o(":"), size(CLASS), EQUALS, n("1")), ROWS_LEFT)),
    "l_diversity": block(
        least(row(CLASS, IN, CLASSES, o(","), L, IN, S)),
        count(both(i("y"), i("j"), L), o(":"), i("j"), IN, CLASS),
    ),
    "t_closeness": block(
        most(row(CLASS, IN, CLASSES, o(","), L, IN, S)),
        frac(n("1"), row(i("m"), MINUS, n("1"))),
        total(row(i("v"), o("&lt;"), i("m"))),
        size(both(i("P"), CLASS, L), o("("), i("v"), o(")"), MINUS, sup(i("P"), L), o("("), i("v"), o(")")),
    ),
}

TRANSACTIONS: Mapping[str, Markup] = {
    "cmae_price": cross("p"),
    "cmae_spend": cross("b"),
    "rfm": block(
        averaged(
            row(i("z"), IN, sup(braced(n("1"), o("…"), n("10")), n("3"))),
            size(sub(i("N"), i("z")), MINUS, sub(prime("N"), i("z"))),
            n("1000"),
        )
    ),
    "row_difference": block(size(prime("m"), MINUS, i("m"))),
    "goods_cosine": block(
        frac(
            row(
                total(row(i("g"), o(","), i("h"))),
                size(sub(i("σ"), row(i("g"), i("h"))), MINUS, sub(prime("σ"), row(i("g"), i("h")))),
            ),
            row(total(row(i("g"), o(","), i("h"))), sub(i("σ"), row(i("g"), i("h")))),
        )
    ),
    "top_goods": block(frac(size(i("G"), o("∖"), prime("G")), size(i("G")))),
    "k_min": K_MIN,
    "k_mean": K_MEAN,
    "basket_k_min": K_MIN,
    "basket_k_mean": K_MEAN,
}

C, P, HALF = i("C"), i("p"), frac(n("1"), n("2"))


def variation(*place: str) -> str:
    """The total variation distance over some cells."""
    return row(HALF, total(row(*place)), size(sub(P, row(*place)), MINUS, sub(prime("p"), row(*place))))


MEMBERSHIP: Mapping[str, Markup] = {
    "marginals": block(averaged(row(i("c"), IN, C), variation(i("b")), size(C))),
    "pairs": block(
        averaged(
            row(i("c"), o("&lt;"), i("d"), IN, C),
            variation(i("a"), o(","), i("b")),
            row(size(C), o("("), size(C), MINUS, n("1"), o(")"), o("/"), n("2")),
        )
    ),
    "correlations": block(
        averaged(
            row(i("k"), o("&lt;"), L, IN, S),
            row(
                HALF,
                size(sub(i("r"), row(i("k"), L)), MINUS, sub(prime("r"), row(i("k"), L))),
            ),
            row(size(S), o("("), size(S), MINUS, n("1"), o(")"), o("/"), n("2")),
        )
    ),
    "tails": block(averaged(row(L, IN, S), size(sub(prime("p"), L), MINUS, n("0.02")), size(S))),
    "copies": block(frac(count(i("y"), IN, Y, o(":"), i("y"), IN, i("M")), size(Y))),
    "propensity": block(
        frac(n("4"), i("N")),
        total(row(i("i"), o("≤"), i("N"))),
        sup(row(o("("), sub(i("q"), i("i")), MINUS, i("c"), o(")")), n("2")),
    ),
}

LEFT = row(i("r"), IN, i("R"))
PAIR = row(i("i"), o(","), i("j"))
LIKENESS = block(
    call(
        words("min"),
        n("1"),
        o(","),
        frac(
            row(total(PAIR), size(sub(i("a"), PAIR), MINUS, sub(i("c"), PAIR))),
            row(total(PAIR), sub(i("a"), PAIR)),
        ),
    )
)
"""How far the cosines of goods have moved."""


def price_by(function: str) -> str:
    return call(words(function), sub(i("p"), i("r")), o(","), sub(prime("p"), i("r")))


MONTHLY: Mapping[str, Markup] = {
    "itemcf_levels": LIKENESS,
    "itemcf_small": LIKENESS,
    "top_goods": TRANSACTIONS["top_goods"],
    "top_cf": LIKENESS,
    "date_shift": block(
        averaged(LEFT, size(sub(i("d"), i("r")), MINUS, sub(prime("d"), i("r"))), row(n("31"), i("m")))
    ),
    "price_ratio": block(
        averaged(LEFT, row(o("("), n("1"), MINUS, frac(price_by("min"), price_by("max")), o(")")), i("m"))
    ),
    "deleted": block(n("1"), MINUS, frac(prime("m"), i("m"))),
}

MEASURES: Mapping[str, Mapping[str, Markup]] = {
    "microdata": MICRODATA,
    "transactions": TRANSACTIONS,
    "membership": MEMBERSHIP,
    "monthly": MONTHLY,
}
"""Of each track's measures."""


def of_measure(track: str, name: str) -> Markup | None:
    """A measure's, of a package its own; None if nobody wrote one."""
    brought = INSTALLED.formulas.get(track, {}).get(name)
    ours = MEASURES.get(track, {}).get(name)
    return ours or (Markup(brought) if brought else None)  # noqa: S704  # a math element, as it was taken in


def jaccard(meet: str, join: str) -> Markup:
    return block(n("1"), MINUS, frac(meet, join))


GOODS, GOODS_AFTER = call(i("I"), i("x")), call(i("I"), i("y"))
SQUARE = sup(row(o("("), sup(i("x"), L), MINUS, sup(i("y"), L), o(")")), n("2"))
DISTANCES: Mapping[str, Markup] = {
    "gower": block(
        frac(n("1"), row(size(Q), PLUS, size(S))),
        '<mo stretchy="true">(</mo>',
        count(i("q"), o(":"), sup(i("x"), i("q")), o("≠"), sup(i("y"), i("q"))),
        PLUS,
        total(L),
        call(
            words("min"),
            n("1"),
            o(","),
            frac(size(sup(i("x"), L), MINUS, sup(i("y"), L)), sub(i("ρ"), L)),
        ),
        '<mo stretchy="true">)</mo>',
    ),
    "euclidean": block(f"<msqrt>{total(row(L, IN, S))}{SQUARE}</msqrt>"),
    "jaccard": jaccard(size(GOODS, o("∩"), GOODS_AFTER), size(GOODS, o("∪"), GOODS_AFTER)),
    "jaccard_quantity": jaccard(
        row(total(i("g")), call(words("min"), sub(i("q"), i("g")), o(","), sub(prime("q"), i("g")))),
        row(total(i("g")), call(words("max"), sub(i("q"), i("g")), o(","), sub(prime("q"), i("g")))),
    ),
}


def of_distance(track: str, name: str) -> Markup | None:
    """That of a track of ours: a package's may be called alike, and is another one."""
    return DISTANCES.get(name) if track in BUILT_IN else None


VALUE, SCALE, WEIGHT = sub(i("v"), i("k")), sub(i("t"), i("k")), sub(i("w"), i("k"))
SCORES: Mapping[str, Markup] = {
    "measure": block(sub(i("u"), i("k")), EQUALS, call(words("min"), n("1"), o(","), frac(VALUE, SCALE))),
    "utility": block(
        i("U"),
        EQUALS,
        frac(row(total(i("k")), WEIGHT, sub(i("u"), i("k"))), row(total(i("k")), WEIGHT)),
    ),
    "largest_utility": block(i("U"), EQUALS, most(i("k")), sub(i("u"), i("k"))),
    "risk": block(
        sub(i("e"), i("a")),
        EQUALS,
        call(
            words("max"),
            n("0"),
            o(","),
            frac(row(sub(i("r"), i("a")), o("−"), i("c")), row(n("1"), o("−"), i("c"))),
        ),
    ),
    "rate": block(
        sub(i("e"), i("a")),
        EQUALS,
        frac(count(i("j"), o(":"), sub(i("g"), i("j")), EQUALS, sub(i("s"), i("j"))), ROWS_LEFT),
    ),
    "security": block(i("E"), EQUALS, most(i("a")), sub(i("e"), i("a"))),
    "overall": block(frac(row(i("U"), PLUS, i("E")), n("2"))),
    "mean_distance": block(
        frac(n("1"), ROWS),
        total(row(i("i"), o("≤"), ROWS)),
        sub(i("d"), i("i")),
    ),
    "largest_distance": block(most(row(i("i"), o("≤"), ROWS)), sub(i("d"), i("i"))),
}
"""How values become scores, and what the excessive rule looks at."""
