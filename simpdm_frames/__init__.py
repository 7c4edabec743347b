"""Fill the missing values of pandas and polars frames with SimpDM."""

__version__ = "0.1.0"
