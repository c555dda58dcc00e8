"""Functions reserved for organizers: dashboard, exports, disqualification, re-scoring."""
