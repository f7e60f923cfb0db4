"""The embedding artefact: made by ``export`` (rarely, with torch), its weights written by ``weights`` (by everyone)."""
