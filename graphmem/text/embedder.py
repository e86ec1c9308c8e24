"""Turns texts into vectors of meaning, off the event loop and in batches (spec 17).

`make_embedder` reads the settings and gives the one `Embedder` of a process. Two encoders stand behind it: the
shipped model on onnxruntime, and any model by name or path on sentence-transformers (an extra).
"""

import asyncio
import importlib
import os
import sys
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmem.errors import SetupError, Unavailable
from graphmem.model import Matrix
from graphmem.ports import Embedder
from graphmem.settings import Settings

EMBEDDER_THREADS = 1
"""Processor threads of one embedding."""

EMBEDDER_BATCH = 32
"""Most texts embedded at once."""

SHIPPED = "all-MiniLM-L6-v2"
EMBEDDER_FOLDER = Path(__file__).with_name("weights") / SHIPPED
WORDS_FILE = "words.onnx"
DIMENSION = 384
EMBEDDED_CHARACTERS = 4096
"""Characters looked at: the model sees 256 tokens, some 1,200 characters of English; no need to tokenise the rest."""

Encode = Callable[[list[str]], Matrix]
"""Blocking: n texts to a float32 array of shape (n, dimension), rows of length 1."""


def make_embedder(settings: Settings) -> Embedder:
    """Load the embedder that `settings.embedder` names; takes a quarter of a second for the shipped one.

    Parameters
    ----------
    settings : `embedder` is `onnx:all-MiniLM-L6-v2` or `sentence-transformers:NAME_OR_PATH`

    Returns
    -------
    Embedder, to be closed with `aclose`

    Raises
    ------
    SetupError                      an unknown form or model, a missing extra, a damaged file

    Source: spec 17.

    Examples
    --------
    >>> embedder = make_embedder(Settings())
    >>> rows = asyncio.run(embedder.embed(["Half of 8 is 4.", "Eight halved gives four.", "I love football."]))
    >>> rows.shape, bool(rows[0] @ rows[1] > rows[0] @ rows[2])
    ((3, 384), True)
    >>> asyncio.run(embedder.aclose())
    """
    form, _, model = settings.embedder.partition(":")
    if form == "onnx" and model == SHIPPED:
        encode: Encode = shipped_network(EMBEDDER_THREADS).encode
        dimension = DIMENSION
    elif form == "sentence-transformers" and model:
        encode, dimension = sentence_transformers_encoder(model, EMBEDDER_THREADS)
    else:
        raise SetupError(
            f"There is no embedder {settings.embedder!r}: set GRAPHMEM_EMBEDDER to `onnx:{SHIPPED}` (shipped) "
            "or `sentence-transformers:NAME_OR_PATH`."
        )
    return BatchedEmbedder(settings.embedder, dimension, encode, EMBEDDER_BATCH)


class ShippedNetwork:
    """The shipped model on onnxruntime, one text at a time; may be used by several threads at once.

    Its activations are quantised with a scale taken from what runs together, so a text embedded beside others would
    get a slightly different vector (cosine 0.997, at worst 0.98). Alone, a text always gets the same one, bit for
    bit; and without padding that is no slower.

    Parameters
    ----------
    threads : int > 0, that one text is computed with
    folder : Path, of `model.onnx` and `tokenizer.json`

    Raises
    ------
    SetupError                      a file is missing or damaged

    Examples
    --------
    >>> vector, hidden = ShippedNetwork(1).seen("Half of 8 is 4.")
    >>> vector.shape, hidden.shape
    ((1, 384), (1, 8, 384))
    """

    def __init__(self, threads: int, folder: Path = EMBEDDER_FOLDER) -> None:
        self._tokenizer = open_tokenizer(folder)
        self._session = open_network(folder, threads)
        self.encode([""])  # the first run allocates: not in a user's turn

    def encode(self, texts: list[str]) -> Matrix:
        """Vectors of texts, rows of length 1."""
        return np.concatenate([self._session.run(["embedding"], self.ids(text))[0] for text in texts])

    def seen(self, text: str) -> tuple[Matrix, NDArray[np.float32]]:
        """The vector of a text, and what the lower layers see of its tokens, shape (1, tokens, 384)."""
        vector, hidden = self._session.run(["embedding", "hidden"], self.ids(text))
        return vector, hidden

    def seen_pair(self, first: str, second: str) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """What the lower layers see of two texts read together, shape (1, tokens, 384), and which tokens are second."""
        read = self._tokenizer.encode(seen_part(first), seen_part(second))
        (hidden,) = self._session.run(["hidden"], {"input_ids": np.array([read.ids], dtype=np.int64)})
        return hidden, np.array(read.type_ids, dtype=np.bool_)

    def seen_tokens(self, text: str) -> tuple[NDArray[np.float32], list[tuple[int, int]]]:
        """What the lower layers see of the tokens of a text, shape (1, tokens, 384), and where each stands in it."""
        read = self._tokenizer.encode(seen_part(text))
        (hidden,) = self._session.run(["hidden"], {"input_ids": np.array([read.ids], dtype=np.int64)})
        return hidden, read.offsets

    def seen_with_spans(self, text: str) -> tuple[Matrix, NDArray[np.float32], list[tuple[int, int]]]:
        """Return the vector, what the lower layers see of the tokens, shape (1, tokens, 384), and their spans."""
        read = self._tokenizer.encode(seen_part(text))
        ids = np.array([read.ids], dtype=np.int64)
        vector, hidden = self._session.run(["embedding", "hidden"], {"input_ids": ids})
        return vector, hidden, read.offsets

    def ids(self, text: str) -> dict[str, NDArray[np.int64]]:
        """The tokens of a text as a network takes them: `input_ids` of shape (1, tokens)."""
        return {"input_ids": np.array([self._tokenizer.encode(seen_part(text)).ids], dtype=np.int64)}


def open_tokenizer(folder: Path) -> Any:
    """The tokenizer of a network in a folder.

    Raises
    ------
    SetupError                      the file is missing or damaged
    """
    from tokenizers import Tokenizer

    try:
        return Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception as error:  # the library raises bare exceptions
        raise _damaged(folder, error) from error


def open_network(folder: Path, threads: int, name: str = "model.onnx") -> Any:
    """The onnxruntime session of a network in a folder.

    Raises
    ------
    SetupError                      the file is missing or damaged
    """
    # It would report the machine it runs on; set before the import, since it asks then.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # A spinning thread pool would take a whole core from Neo4j beside us.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(folder / name, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library raises bare exceptions
        raise _damaged(folder, error) from error


def _damaged(folder: Path, error: Exception) -> SetupError:
    return SetupError(f"The model in {folder} cannot be loaded ({error}): install graphmem again.")


@lru_cache(maxsize=2)
def shipped_network(threads: int) -> ShippedNetwork:
    """The shipped model, loaded once a process for the embedder and the encoder."""
    return ShippedNetwork(threads)


@lru_cache(maxsize=1)
def shipped_words() -> Any:
    """What the shipped model knows of single tokens, each at its place: `input_ids` to `words`; one session a process.

    Raises
    ------
    SetupError      the file is missing or damaged
    """
    return open_network(EMBEDDER_FOLDER, 1, WORDS_FILE)


def sentence_transformers_encoder(model: str, threads: int) -> tuple[Encode, int]:
    """Any model by name or local path, and its dimension; needs the extra `sentence-transformers`.

    Raises
    ------
    SetupError                      the extra is not installed, or there is no such model
    """
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise SetupError(
            f"`sentence-transformers:{model}` needs an extra: run `make extras` in a checkout, "
            f"else `{sys.executable} -m pip install 'sentence-transformers>=5'`."
        ) from error
    importlib.import_module("torch").set_num_threads(threads)
    try:
        transformer = SentenceTransformer(model)
    except Exception as error:  # a missing folder, a name nobody knows and no network all come as other classes
        raise SetupError(
            f"The embedding model {model!r} cannot be loaded ({error}): check the name or path and the network."
        ) from error

    def encode(texts: list[str]) -> Matrix:
        rows: Matrix = transformer.encode(
            [seen_part(text) for text in texts],
            batch_size=len(texts),
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        return rows

    return encode, encode([""]).shape[1]


def seen_part(text: str) -> str:
    """The part of a text that a network looks at, as valid Unicode."""
    # Half a surrogate pair cannot be written as UTF-8; U+FFFD stands for it, whole pairs become their character.
    return text[:EMBEDDED_CHARACTERS].encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@dataclass(frozen=True)
class _Request:
    texts: list[str]
    future: Future[Matrix] = field(default_factory=Future)


class BatchedEmbedder:
    """An `Embedder` that runs an encoder on one thread of its own.

    While one batch runs, further requests wait and then run together, up to `batch` texts. A long request goes in
    pieces of that size and queues anew for each, so a student's message never waits for a whole archive.

    Parameters
    ----------
    name : str                      as recorded in the graph, e.g. `onnx:all-MiniLM-L6-v2`
    dimension : int > 0
    encode : Encode                 called on the thread only, so it need not be safe for several
    batch : int > 0, texts
    """

    def __init__(self, name: str, dimension: int, encode: Encode, batch: int) -> None:
        self.name = name
        self.dimension = dimension
        self._encode = encode
        self._batch = batch
        self._waiting: deque[_Request] = deque()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedder")

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """Embed texts; see `Embedder.embed`.

        Only the first 256 tokens of a text count, and of these only what stands in its first 4,096 characters.
        Text that is not valid Unicode (half a surrogate pair) is read with a replacement character.

        Raises
        ------
        Unavailable                 the embedder has been closed
        """
        pieces = [texts[start : start + self._batch] for start in range(0, len(texts), self._batch)]
        rows = [await self._embed_piece(list(piece)) for piece in pieces]
        return np.concatenate(rows) if rows else np.empty((0, self.dimension), dtype=np.float32)

    async def aclose(self) -> None:
        """Finish what is queued, then release the thread; calling it again does nothing."""
        await asyncio.to_thread(self._thread.shutdown)

    async def _embed_piece(self, texts: list[str]) -> Matrix:
        request = _Request(texts)
        self._waiting.append(request)
        try:
            self._thread.submit(self._run_waiting)
        except RuntimeError as error:
            raise Unavailable("The embedder has been closed: this process is shutting down.") from error
        return await asyncio.wrap_future(request.future)

    def _run_waiting(self) -> None:
        batch: list[_Request] = []
        room = self._batch
        # Each request submits one run, so an earlier run may have taken everything already.
        while self._waiting and len(self._waiting[0].texts) <= room:
            request = self._waiting.popleft()
            if request.future.set_running_or_notify_cancel():
                batch.append(request)
                room -= len(request.texts)
        if batch:
            self._answer(batch)

    def _answer(self, batch: list[_Request]) -> None:
        try:
            rows = self._encode([text for request in batch for text in request.texts])
        except Exception as error:
            if len(batch) == 1:
                batch[0].future.set_exception(error)
            else:  # one by one, so that only the request at fault fails
                for request in batch:
                    self._answer([request])
            return
        start = 0
        for request in batch:
            request.future.set_result(rows[start : start + len(request.texts)])
            start += len(request.texts)
