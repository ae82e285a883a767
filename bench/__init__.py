"""Measurements of Hart on this machine: ``python -m bench`` (or ``make bench``)."""
