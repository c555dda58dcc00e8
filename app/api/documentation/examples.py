"""Example files of a small contest for the OpenAPI document."""

import tomllib

TOML = """format = 1
slug = "small-cup"
title = { en = "Small cup", ja = "小さな杯" }
track = "microdata"
timezone = "Asia/Tokyo"

[columns]
quasi_identifiers = ["sex", "age"]
sensitive = ["income"]

[measures.mean_mae]
weight = 1.0

[[phases]]
name = "anonymization"
start = 2027-01-10T09:00:00+09:00
end = 2027-01-24T09:00:00+09:00
"""
TRACK: str = tomllib.loads(TOML)["track"]
TABLE = "sex,age,income\nf,30,412\nm,20,388\nf,40,405\n"
SECRET = "original_row\n2\n3\n1\n"  # noqa: S105  # a file
GUESS = "original_row\n0\n3\n1\n"
