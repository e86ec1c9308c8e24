"""Names that the scripts of the detector of danger take from the training of the embedder."""

from train.embedder import TOKENS as TOKENS
from train.graph import LAYERS as LAYERS
from train.graph import MICROSOFT as MICROSOFT
from train.graph import SHARED_LAYERS as SHARED_LAYERS
from train.graph import Graph as Graph
from train.graph import Weights as Weights
from train.graph import layer as layer
from train.graph import norm as norm
