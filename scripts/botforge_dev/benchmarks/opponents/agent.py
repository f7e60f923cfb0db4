"""The same conversations with LangChain's agent: its OpenAI model, and a tool that asks the same server."""

import json
import sys
import time

import httpx
from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

job = json.load(sys.stdin)
http = httpx.Client(base_url=job["tools"], trust_env=False)


@tool
def calculator(expression: str) -> str:
    """Calculate an arithmetic expression."""
    reply = http.post("/execute", json={"tool_name": "calculator", "parameters": {"expression": expression}})
    return reply.raise_for_status().text


model = ChatOpenAI(model="gpt-4o-mini", api_key=job["key"], base_url=job["llm"])
agent = create_agent(model, [calculator], system_prompt="You act for the user through the tools that you are given.")
totals = []
for number in range(job["warm_up"] + job["conversations"]):
    start = time.perf_counter()
    found = agent.invoke({"messages": [{"role": "user", "content": f"Count on from {number}."}]})
    totals.append(time.perf_counter() - start)
    assert sum(message.type == "tool" for message in found["messages"]) == job["rounds"], found  # noqa: S101
print(json.dumps({"totals": totals}))
