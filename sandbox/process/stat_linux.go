package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// startTimesKnown is true if StartTime is 0 for no process that runs.
const startTimesKnown = true

// StartTime returns when a process started, in clock ticks since boot, and 0 when there is no such process or it is a
// zombie: it has ended, and only its parent, which may never ask, does not know yet.
func StartTime(pid int) uint64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The second field is the program's name in parentheses and may itself hold spaces and parentheses.
	_, after, found := bytes.Cut(data[max(0, bytes.LastIndexByte(data, ')')):], []byte(") "))
	fields := strings.Fields(string(after))
	const stateField, startTimeField = 0, 19 // fields 3 and 22 of proc(5), counted from the third
	if !found || len(fields) <= startTimeField || strings.Contains("ZXx", fields[stateField]) {
		return 0
	}
	ticks, err := strconv.ParseUint(fields[startTimeField], 10, 64)
	if err != nil {
		return 0
	}
	return ticks
}

// MemoryBytes returns a process's proportional set size: its private pages and its part of the shared ones.
func MemoryBytes(pid int) int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		if len(fields) >= 2 && fields[0] == "Pss:" {
			kib, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				return 0
			}
			return kib << 10
		}
	}
	return 0
}
