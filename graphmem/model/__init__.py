"""The nouns: what graphmem speaks of, as frozen values without behaviour (spec 1)."""

from graphmem.model.concern import *
from graphmem.model.conversation import *
from graphmem.model.enums import *
from graphmem.model.fields import *
from graphmem.model.memory import *
from graphmem.model.student import *
from graphmem.model.uncertainty import *
from graphmem.model.world import *
