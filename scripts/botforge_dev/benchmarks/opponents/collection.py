"""Make LangChain's own tables and a collection in them."""

import json
import os

from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_postgres import PGVector

store = PGVector(
    DeterministicFakeEmbedding(size=384),  # nothing is embedded here
    connection=os.environ["DATABASE_URL"],
    collection_name="documents",
    embedding_length=384,
    create_extension=False,
)
with store.session_maker() as session:
    print(json.dumps({"id": str(store.get_collection(session).uuid)}))
