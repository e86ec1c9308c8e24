"""What the small models of this process make of a message, before any mind is asked (spec 4, 5)."""

from dataclasses import dataclass, replace

import numpy as np

from graphmem.language.analysis import BANDS, MessageAnalysis
from graphmem.maths import features
from graphmem.model import Alternative, Message, Prediction, Vector
from graphmem.text.affect import AffectModel
from graphmem.text.doc import Doc, doc_of
from graphmem.text.match_model import MatchModel
from graphmem.text.pairs import Compared, pair_features


@dataclass(frozen=True)
class Sensed:
    """What the models sense of a message.

    emotion : float in [0, 1], strength of feeling
    match : float in [0, 1], chance that what was foreseen came true; None where nothing was
    parrot : what the student's own message before would have matched as a prediction; None where there was none
    likely : float in (0, 1], how likely the alternative that came nearest was thought, against the likeliest
    told : float in [0, 1], the chance that what it tells is grave: of band three
    """

    emotion: float = 0.0
    match: float | None = None
    parrot: float | None = None
    likely: float = 1.0
    told: float = 0.0


@dataclass(frozen=True)
class Senses:
    """The models, and whether embeddings are of the shipped model, which they were made for."""

    affect: AffectModel
    matches: MatchModel
    shipped: bool

    def of(
        self,
        message: Message,
        reading: MessageAnalysis,
        before: Message | None,
        expected: Prediction | None,
        previous: Message | None = None,
    ) -> Sensed:
        """Sense a message.

        Parameters
        ----------
        message : Message, with embedding
        reading : MessageAnalysis, of the message
        before : Message, what it answers, if anything
        expected : Prediction, with embeddings; None where nothing was foreseen in this session
        previous : Message, the student's own before it in this session, if there is one
        """
        said = self._compared(message)
        asked = self._asked(before, said)
        emotion = features.emotion(said.valence, self.affect.arousal(said.doc, reading.vector))
        sensed = Sensed(emotion=emotion, told=reading.scores.chance("band", BANDS[-1]))
        if expected is None:
            return sensed
        foreseen = (Alternative(expected.text, expected.chance, expected.embedding), *expected.alternatives)
        repeated = () if previous is None or previous.embedding is None else (previous,)
        # The forest judges many pairs in the time of one.
        pairs = [pair_features(asked, self._compared(each), said) for each in (*foreseen, *repeated)]
        chances = self.matches.chances(np.stack(pairs))
        best = int(np.argmax(chances[: len(foreseen)]))
        return replace(
            sensed,
            match=chances[best],
            parrot=chances[-1] if repeated else None,
            likely=foreseen[best].chance / max(each.chance for each in foreseen),
        )

    def _asked(self, before: Message | None, said: Compared) -> Compared:
        """What a message answers, as it is compared."""
        if before is None:
            return Compared(Doc(""), np.zeros_like(said.vector))
        return self._compared(replace(before, embedding=_or_nothing(before.embedding, said.vector)))

    def _compared(self, of: Message | Alternative) -> Compared:
        doc = doc_of(of) if isinstance(of, Message) else Doc(of.text)
        if of.embedding is None:
            raise ValueError("an embedding is missing")
        return Compared(doc, of.embedding, self.affect.valence(doc, of.embedding if self.shipped else None))


def _or_nothing(vector: Vector | None, like: Vector) -> Vector:
    """A vector, or one that is like nothing: a message that nobody embedded is compared in words alone."""
    return np.zeros_like(like) if vector is None else vector
