"""Memory for agent frameworks, over the API: one module each, with an extra of its name.

`openai_agents` (OpenAI Agents SDK), `langgraph`, `llama_index` and `pydantic_ai`. Each puts what is remembered before
the model, and hands over what the student said with what the agent replied.
"""
