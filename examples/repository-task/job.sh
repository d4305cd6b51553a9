#!/bin/sh
# Makes a small repository beside the job, and prints the payload of a workspace job for it.
set -eu
repository=${1:-$(mktemp -d)/greetings}
if [ ! -d "$repository/.git" ]; then
  git init -q -b main "$repository"
  echo "A place for greetings." > "$repository/LICENSE"
  git -C "$repository" add -A
  git -C "$repository" -c user.name=Ada -c user.email=ada@localhost commit -q -m "A place for greetings"
fi
cat <<JSON
{
  "objective": "A script that greets people, with instructions",
  "repository": {"url": "$repository", "ref": "main"},
  "constraints": ["POSIX shell only"],
  "steps": [
    {"id": "greet", "title": "Write the script", "instructions": "greet.sh greets whoever is named", "runtime": "agent"},
    {"id": "document", "title": "Write the instructions", "instructions": "README.md tells how to use it", "runtime": "agent"},
    {"id": "check", "title": "See that it works", "runtime": "tests"}
  ]
}
JSON
