#!/bin/sh
# Stands for an agent that edits a repository. It is as unreliable as they come: in its first step it
# hangs once, in its second it makes the same mistake again and again until it gets a clean workspace.
set -eu
field() {
  sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" "$HOLDFAST_RETRY_CONTEXT" | head -n 1
}

echo "step $HOLDFAST_STEP_ID, attempt $HOLDFAST_STEP_ATTEMPT"
if [ -n "$(field summary)" ]; then
  echo "the last attempt failed: $(field summary)"
fi

case $HOLDFAST_STEP_ID in
  greet)
    printf '#!/bin/sh\necho "Hello, ${1:-world}!"\n' > greet.sh
    chmod +x greet.sh
    if [ "$HOLDFAST_STEP_ATTEMPT" = 1 ]; then
      echo "thinking ..."
      sleep 1000
    fi
    echo "greet.sh says hello"
    ;;
  document)
    # Once it has written nonsense it believes it, whatever it is told: a loop.
    if [ "$HOLDFAST_STEP_ATTEMPT" = 1 ]; then
      echo "greet.sh is a novel" > notes.txt
    fi
    if [ -e notes.txt ]; then
      echo "cannot document a novel"
      exit 1
    fi
    printf '# Greetings\n\n    ./greet.sh NAME\n' > README.md
    echo "README.md tells how to use it"
    ;;
esac
