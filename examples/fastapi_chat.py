"""A chat app on FastAPI: your model, graphmem's memory, a sign-on of yours.

graphmem serve; graphmem enrol ada
export API=http://127.0.0.1:8000 APP_TOKEN=$(graphmem token --role app)
uvicorn --app-dir examples fastapi_chat:app --port 8080
JSON="Content-Type: application/json"
curl -s localhost:8080/session -H "$JSON" -d '{"student_id": "ada", "password": "..."}'
curl -s localhost:8080/chat -H "$JSON" -d '{"student_id": "ada", "text": "Hello!"}'
"""

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from uuid import uuid4

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from graphmem_client import AsyncClient
from graphmem_client.errors import GraphmemError, Locked


class SignOn(BaseModel):
    """Who signs on; examples/sign_on.py does without a password."""

    student_id: str
    password: str


class Said(BaseModel):
    """A message."""

    student_id: str
    text: str


async def reply_of_model(messages: Sequence[dict[str, str]]) -> str:
    """Ask your model: `messages` is what OpenAI's protocol takes."""
    return f"I have read {len(messages)} messages."


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Hold one client, and with it the sessions, while the app runs."""
    async with AsyncClient(os.environ["API"], os.environ["APP_TOKEN"]) as client:
        app.state.client = client
        yield


app = FastAPI(lifespan=lifespan)


@app.exception_handler(GraphmemError)
async def refused(_: Request, error: GraphmemError) -> JSONResponse:
    """Pass a refusal on, with its code and what to do."""
    return JSONResponse({"code": error.code, "message": str(error)}, 401 if isinstance(error, Locked) else 400)


@app.post("/session")
async def sign_on(given: SignOn) -> dict[str, str]:
    """Open the student's memory."""
    await app.state.client.open_session(given.student_id, given.password)
    return {"student_id": given.student_id}


@app.post("/chat")
async def chat(said: Said) -> dict[str, str | None]:
    """Answer a message with what is remembered, and remember it with the answer."""
    client: AsyncClient = app.state.client
    if said.student_id not in client.sessions:
        raise HTTPException(401, "Sign on first.")
    context = await client.context(said.student_id, said.text, history=6)
    messages = [{"role": each.role, "content": each.content} for each in context.messages]
    reply = await reply_of_model([*messages, {"role": "user", "content": said.text}])
    turn = await client.handle_turn(said.student_id, uuid4().hex, said.text, reply=reply)
    # A person should look, and the student should see where to find help.
    return {"reply": reply, "help": turn.concern.help if turn.concern else None}


@app.delete("/session/{student_id}")
async def sign_off(student_id: str) -> dict[str, bool]:
    """End the session: what was said is consolidated, and locked again."""
    return {"closed": await app.state.client.close_session(student_id)}
