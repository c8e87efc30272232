#!/bin/sh
# A model loop: MODEL is any command that reads a conversation and writes a turn, MEMORY a folder of notes.
# usage: MODEL='your-model --chat' MEMORY=~/memdir examples/loop.sh "What do you know about my sister?"
talk=$(mktemp) && trap 'rm -f "$talk"' EXIT
{ memdir actions --prompt; printf '\nUser: %s\n' "$1"; } >"$talk"
for turn in 1 2 3 4 5 6 7 8; do
  said=$(${MODEL:?} <"$talk") || exit 1
  reply=$(printf '%s' "$said" | sed -n '/<reply>/,/<\/reply>/{s/<\/*reply>//g;p;}')
  result=$(printf '%s' "$said" | memdir exec --memory "${MEMORY:?}"); code=$?
  [ -n "$reply" ] && [ "$code" -eq 0 ] && printf '%s\n' "$reply" && exit 0
  printf '\nAssistant: %s\n\nUser: %s\n' "$said" "$result" >>"$talk"
done
echo "no reply after 8 turns" >&2; exit 1
