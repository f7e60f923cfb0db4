"""What developers run: the local stack, the build, evaluation and benchmarks. Never deployed.

It may import anything of ``botforge``; ``botforge`` never imports it.
"""
