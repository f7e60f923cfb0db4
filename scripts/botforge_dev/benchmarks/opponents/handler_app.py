"""The query function as it is commonly put together: FastAPI and Mangum around a LangChain agent with a retriever."""

import os

import boto3
from fastapi import FastAPI
from langchain.agents import create_agent
from langchain_core.tools import create_retriever_tool
from langchain_huggingface import HuggingFaceEmbeddings
from langchain_openai import ChatOpenAI
from langchain_postgres import PGVector
from mangum import Mangum
from pydantic import BaseModel

s3 = boto3.client("s3")
embeddings = HuggingFaceEmbeddings(
    model_name=os.environ["EMBEDDING_MODEL_DIR"], encode_kwargs={"normalize_embeddings": True}
)
store = PGVector(
    embeddings,
    connection=os.environ["DATABASE_URL"],
    collection_name="documents",
    embedding_length=384,
    create_extension=False,
)
search = create_retriever_tool(store.as_retriever(), "search_documents", "Passages of the bot's documents.")
agent = create_agent(ChatOpenAI(model="gpt-4o-mini", api_key="none", base_url="http://127.0.0.1:1"), [search])
app = FastAPI()


class Question(BaseModel):
    user_id: str
    bot_id: str
    client_id: str
    query: str


@app.post("/vector/query")
def query(question: Question) -> dict[str, str]:
    reply = agent.invoke({"messages": [{"role": "user", "content": question.query}]})
    return {"response": reply["messages"][-1].content}


handler = Mangum(app, lifespan="off")
