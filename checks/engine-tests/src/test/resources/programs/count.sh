#!/bin/sh
# Starts a job for each text, and waits until all have ended.
if grep -q '"counted":{' "$HOLDFAST_JOB"; then
  echo 'holdfast: {"output": "counted"}'
else
  echo 'holdfast: {"children": {"startedAs": "count", "jobs": [{"kind": "count-words", "payload": "one two"}, {"kind": "count-words", "payload": "three"}]}}'
  echo 'holdfast: {"suspend": {"id": "counted", "sort": "children", "started": ["count"]}}'
fi
