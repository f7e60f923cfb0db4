"""The same with LangChain's vector store: search with scores, then the prompt."""

import json
import os
import sys
import time

import torch
from langchain_core.prompts import ChatPromptTemplate
from langchain_huggingface import HuggingFaceEmbeddings
from langchain_postgres import PGVector

torch.set_num_threads(1)


class TimedEmbeddings(HuggingFaceEmbeddings):
    last_ms: float = 0.0

    def embed_query(self, text: str) -> list[float]:
        start = time.perf_counter()
        vector = super().embed_query(text)
        self.last_ms = (time.perf_counter() - start) * 1000
        return vector


job = json.load(sys.stdin)
embeddings = TimedEmbeddings(model_name=os.environ["EMBEDDING_MODEL_DIR"], encode_kwargs={"normalize_embeddings": True})
store = PGVector(
    embeddings,
    connection=os.environ["DATABASE_URL"],
    collection_name="documents",
    embedding_length=384,
    create_extension=False,
)
prompt = ChatPromptTemplate.from_messages(
    [
        ("system", "Answer from the passages alone, and name their numbers."),
        ("user", "{passages}\n\nQuestion: {question}"),
    ]
)
measured = []
for number, question in enumerate(job["questions"]):
    start = time.perf_counter()
    found = store.similarity_search_with_score(question, k=5)
    searched = time.perf_counter()
    passages = "\n\n".join(f"[{place}] {document.page_content}" for place, (document, _) in enumerate(found, start=1))
    prompt.format_messages(passages=passages, question=question)
    end = time.perf_counter()
    assert len(found) == 5, found  # noqa: S101
    if number >= job["warm_up"]:
        measured.append(
            {
                "embed": embeddings.last_ms,
                "retrieve": (searched - start) * 1000 - embeddings.last_ms,
                "answer": (end - searched) * 1000,
                "total": (end - start) * 1000,
            }
        )
print(json.dumps({"measured": measured}))
