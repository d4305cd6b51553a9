"""Counts the words of a text file."""
import collections, json, os

job = json.load(open(os.environ["HOLDFAST_JOB"]))
words = collections.Counter()
lines = open(job["payload"]["file"], encoding="utf-8").readlines()
for number, line in enumerate(lines, 1):
    words.update(line.lower().split())
    print("holdfast:", json.dumps({"progress": 100 * number / len(lines)}), flush=True)
print("holdfast:", json.dumps({"output": {"words": sum(words.values()), "top": words.most_common(3)}}))
