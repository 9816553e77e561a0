# How far a long command is: on a terminal a line that changes every second, elsewhere a line every 15 s. To be sourced.

# Seconds between two reports.
progress_s=15
if [ -t 2 ]; then progress_s=1; fi

# Prints the state and the seconds since the start.
report_progress() {
  if [ -t 2 ]; then
    printf '\r\033[K   %s (%d s)' "$1" "$2" >&2
  else
    printf '   %s (%d s)\n' "$1" "$2" >&2
  fi
}

# Copies lines to the file OUTPUT and gives each to READER, a function that keeps $state; before each report READER gets
# an empty line.
follow_lines() {
  local reader=$1 output=$2 line part="" began=$SECONDS reported=$SECONDS state="starting"
  while true; do
    if IFS= read -r -t 1 line; then
      printf '%s\n' "$part$line" >> "$output"
      "$reader" "$part$line"
      part=""
    elif [ $? -gt 128 ]; then
      part+=$line # The time is up: the line may have begun.
    else
      break
    fi
    if [ $((SECONDS - reported)) -ge "$progress_s" ]; then
      reported=$SECONDS
      "$reader" ""
      report_progress "$state" $((SECONDS - began))
    fi
  done
  if [ -t 2 ]; then printf '\r\033[K' >&2; fi
}

# with_progress READER COMMAND…: runs the command and reports its progress as READER tells it. What the command prints
# is shown only if it fails; the result is the command's.
with_progress() {
  local reader=$1 status=0 output lines follower
  shift
  output=$(mktemp)
  exec {lines}> >(follow_lines "$reader" "$output")
  follower=$!
  # In the foreground, so that an interrupt reaches it.
  "$@" >&"$lines" 2>&1 || status=$?
  exec {lines}>&-
  wait "$follower"
  if [ "$status" != 0 ]; then cat "$output" >&2; fi
  rm -f "$output"
  return "$status"
}

# timed WHAT COMMAND…: runs the command, and keeps in ${times[@]} how long it took, if that was some seconds.
times=()
timed() {
  local what=$1 began=$SECONDS
  shift
  "$@"
  if [ $((SECONDS - began)) -ge "${least_timed_s:-2}" ]; then times+=("$what $((SECONDS - began)) s"); fi
}

# What took its time, with commas between: Debian's packages 31 s, the engine 250 s.
times_text() {
  local each text=""
  for each in "${times[@]}"; do text+="${text:+, }$each"; done
  printf '%s\n' "$text"
}
