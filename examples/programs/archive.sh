#!/bin/sh
# Packs the folder it is given into an artifact.
set -eu
echo 'holdfast: {"progress": 10, "message": "packing"}'
tar -czf "$HOLDFAST_ARTIFACTS/archive.tar.gz" -C "$1" .
echo "holdfast: {\"progress\": 100, \"output\": {\"files\": $(find "$1" -type f | wc -l)}}"
