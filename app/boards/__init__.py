"""Boards. What happened in a round (facts) becomes events, which are folded into stored standings.

board | folded by | stored in | shown by
--- | --- | --- | ---
anonymization | ``release_board`` | ``Standing`` | ``anonymization``, ``history``, ``total``
re-identification | ``attack_board`` | ``AttackStanding`` | ``reidentification``, ``total``
attack matrix | the database | ``Guess`` | ``matrix``

A *release* is here a submission that has been scored; its *entry* on a board has its scores of a moment.
*Targets* are the finals that other teams attack. *Utility* is U, the utility loss, and *security* is E, the
risk: 0 is best of both, and of *overall*, their mean. *Rival risk* is the part of E that guesses found.
A *loss* is lowest first, a *score* is what the rules call it. A *standing* is what holds for a team from a
moment on.
"""
