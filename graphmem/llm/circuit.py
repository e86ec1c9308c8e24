"""A circuit breaker: after some failures in a row a language model is left alone for a while."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Circuit:
    """State of a circuit breaker; each event gives the next circuit, and time is an argument.

    `limit` failures in a row open it for `pause` seconds; then one question is let through to try, and the
    others go on waiting until that one has succeeded or another pause has passed.

    Examples
    --------
    >>> circuit = Circuit(limit=2, pause=30.0).failed(now=0.0).failed(now=1.0)
    >>> circuit.admits(now=30.0), circuit.admits(now=31.0)
    (False, True)
    >>> circuit.asked(now=31.0).admits(now=32.0)
    False
    >>> circuit.asked(now=31.0).succeeded().admits(now=32.0)
    True
    """

    limit: int
    pause: float
    failures: int = 0
    resumes_at: float = 0.0

    def admits(self, now: float) -> bool:
        """True if a request may go to the model at `now`, in seconds."""
        return self.failures < self.limit or now >= self.resumes_at

    def asked(self, now: float) -> "Circuit":
        """After a question was let through: while on trial, nobody else is for a pause."""
        return self if self.failures < self.limit else replace(self, resumes_at=now + self.pause)

    def failed(self, now: float) -> "Circuit":
        """After the model could not be reached."""
        return replace(self, failures=self.failures + 1, resumes_at=now + self.pause)

    def succeeded(self) -> "Circuit":
        """After the model answered, be it nonsense."""
        return replace(self, failures=0, resumes_at=0.0)
