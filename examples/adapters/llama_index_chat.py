"""A chat engine of LlamaIndex that remembers Ada.

pip install "graphmem-client[llama-index]" llama-index-llms-openai; graphmem serve; graphmem enrol ada
export API=http://127.0.0.1:8000 APP_TOKEN=$(graphmem token --role app) PASSWORD="Ada's password"
python examples/adapters/llama_index_chat.py gpt-5
"""

import os
import sys
from typing import Any

from llama_index.core.chat_engine import SimpleChatEngine

from graphmem_client import Client
from graphmem_client.adapters.llama_index import GraphmemMemory


def chat(client: Client, student_id: str, model: Any, *said: str) -> list[str]:
    """Return the replies to what Ada says."""
    memory = GraphmemMemory(client=client, student_id=student_id)
    engine = SimpleChatEngine.from_defaults(llm=model, memory=memory, system_prompt="You are a kind tutor.")
    return [str(engine.chat(text)) for text in said]


def main(model: str) -> None:
    """Talk about a dog."""
    from llama_index.llms.openai import OpenAI

    with Client(os.environ["API"], os.environ["APP_TOKEN"]) as client:
        client.open_session("ada", os.environ["PASSWORD"])
        said = ("My dog is called Bello.", "What is my dog called?")
        print(*chat(client, "ada", OpenAI(model=model), *said), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1])
