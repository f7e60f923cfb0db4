"""A reader's process that answers with its environment."""

import json
import os
import sys

if __name__ == "__main__":
    json.dump({"title": None, "blocks": [[repr(dict(os.environ)), [], None, ""]], "notes": []}, sys.stdout)
