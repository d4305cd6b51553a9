#!/bin/sh
# Stands for an agent that edits a repository, as unreliable as they come: in its first step it hangs
# once, in its second it makes the same mistake again and again until it gets a clean workspace.
set -eu
echo "step $HOLDFAST_STEP_ID, attempt $HOLDFAST_STEP_ATTEMPT"
case $HOLDFAST_STEP_ID in
  write)
    printf '#!/bin/sh\necho "Hello, ${1:-world}!"\n' > greet.sh
    chmod +x greet.sh
    if [ "$HOLDFAST_STEP_ATTEMPT" = 1 ]; then
      echo "thinking ..."
      sleep 1000
    fi
    ;;
  document)
    if [ "$HOLDFAST_STEP_ATTEMPT" = 1 ]; then
      echo "greet.sh is a novel" > notes.txt
    fi
    if [ -e notes.txt ]; then
      echo "cannot document a novel"
      exit 1
    fi
    printf '# Greetings\n\n    ./greet.sh NAME\n' > README.md
    ;;
  check)
    [ "$(./greet.sh Ada)" = "Hello, Ada!" ]
    grep -q greet.sh README.md
    ;;
esac
echo "done"
