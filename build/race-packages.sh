#!/usr/bin/env bash
# Lists the packages whose tests the race detector watches: all of those that run beside others, and of the decisions, which are pure
# functions, and the commands, which run one after the other, those that start goroutines or share what they compute.
set -euo pipefail
cd "$(dirname "$0")/.."

for folder in agent bridge certificate controllers descheduler runtimeproxy scheduler source tui; do
	echo "./$folder/..."
done
git ls-files -co --exclude-standard 'decision/*.go' 'kubectl-plugin/*.go' |
	xargs grep -lE '"sync(/atomic)?"|^\s+go |\.Go\(|t\.Parallel\(' | xargs -n1 dirname | sort -u | sed 's#^#./#'
