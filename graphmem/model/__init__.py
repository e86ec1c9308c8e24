"""The nouns: what graphmem speaks of, as frozen values without behaviour (spec 1)."""

from graphmem.model.compression import *
from graphmem.model.concern import *
from graphmem.model.conversation import *
from graphmem.model.enums import *
from graphmem.model.identity import *
from graphmem.model.integrity import *
from graphmem.model.jobs import *
from graphmem.model.memory import *
from graphmem.model.notes import *
from graphmem.model.questions import *
from graphmem.model.surprise import *
from graphmem.model.turn import *
from graphmem.model.uncertainty import *
from graphmem.model.vectors import *
from graphmem.model.world import *
