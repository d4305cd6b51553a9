# The last step: what the agent made must work.
set -eu
[ "$(./greet.sh Ada)" = "Hello, Ada!" ]
grep -q greet.sh README.md
echo "all is well"
