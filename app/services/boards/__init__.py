"""Boards. What happened in a round (facts) becomes events, which are folded into stored standings.

A *release* is a scored submission; its *entry* on a board has its scores of a moment. *Targets* are the
finals that other teams attack. A *loss* is lowest first, a *score* is what the rules call it, and *overall*
is the mean of the utility loss and the risk. A *standing* is what holds for a team from a moment on.
"""
