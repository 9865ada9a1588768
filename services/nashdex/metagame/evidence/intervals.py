"""Numbers with their uncertainty, as documents hold them."""

from nashdex.core.documents import Model


class Interval(Model):
    """A 95 % interval. One of posterior draws is widened where needed to hold the estimate itself."""

    low: float
    high: float


class Estimate(Interval):
    """An estimate with its 95 % interval."""

    value: float
