"""all-MiniLM-L6-v2 by ONNX Runtime (the layer) or sentence-transformers (container images), and a cache in front."""
