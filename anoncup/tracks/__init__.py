"""The built-in tracks (kinds of contests), one package each; ``anoncup.plugins`` lists them.

Docstrings of the tracks cite these papers:

- P0: a study that re-identified the entries of PWS Cup 2015 by Euclidean distance.
- P1: the paper that presents PWS Cup 2015 (IPSJ Journal, vol. 57, no. 9, pp. 1900-1910, 2016).
- P2: Nojima et al., "How to Handle Excessively Anonymized Datasets" (2018).
- P3: a study that protects the purchase histories of PWS Cup 2016 by dummy records in clusters of customers.
- P4: the Japanese paper about the method of P0.

Notation of the microdata track: X is the original table with n rows, Y the anonymized table with n' rows, Q
the quasi-identifiers and S the sensitive columns. Notation of the transaction tracks: M is the original table
of customers and T that of their transactions; M' and T' are the anonymized tables (AT in the monthly track).
"""
