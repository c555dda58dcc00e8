"""The track of PWS Cup 2017: a pseudonym for every customer and month, and attackers who know a part."""
