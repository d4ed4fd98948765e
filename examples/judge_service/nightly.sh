#!/bin/sh
# Sends the runs of a day to the judge: RUNS/DAY*.jsonl, verdicts to VERDICTS/DAY.jsonl. DAY is yesterday (UTC) unless
# it is given: nightly.sh 2026-01-31.
#
# Ends with the status of `proctor judge run`: 0 fine; 1 a person should look; 2 wrong use, or lines that were refused;
# 4 no service, or one that failed. A day without runs is 2 as well: silence is no good news.
set -eu
: "${JUDGE_URL:?say where the service is, for example http://127.0.0.1:8080}"
: "${JUDGE_TOKEN_FILE:?say which file holds its token}"
runs=${RUNS:-runs}
verdicts=${VERDICTS:-verdicts}
day=${1:-$(date -u -d yesterday +%F 2>/dev/null || date -u -v-1d +%F)}

set -- "$runs/$day"*.jsonl
if [ ! -e "$1" ]; then
  echo "nightly: FAILED, no runs of $day: there is no $runs/$day*.jsonl" >&2
  exit 2
fi
mkdir -p "$verdicts"
status=0
proctor judge run "$@" --service "$JUDGE_URL" --token-file "$JUDGE_TOKEN_FILE" \
  --at-least "${AT_LEAST:-70}" --json >"$verdicts/$day.part" || status=$?
if [ "$status" -le 1 ]; then
  mv "$verdicts/$day.part" "$verdicts/$day.jsonl"
else
  grep '^{"error"' "$verdicts/$day.part" >&2 || true # with --json an error is a line among the verdicts
fi
case $status in
  0) echo "nightly: $day is fine, see $verdicts/$day.jsonl" ;;
  1) echo "nightly: FAILED, $day has runs to look at, see above and $verdicts/$day.jsonl" >&2 ;;
  *) echo "nightly: FAILED, $day is not whole (status $status): start it again, and it goes on from there" >&2 ;;
esac
exit "$status"
