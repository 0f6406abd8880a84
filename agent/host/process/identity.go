package process

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
)

// Identity distinguishes a process from all others since the machine was started.
type Identity struct {
	PID int
	// Start is when it was started, in clock ticks since the machine was.
	Start uint64
	// Cgroup that it is in.
	Cgroup string
}

// String is what Parse reads.
func (i Identity) String() string {
	return strconv.Itoa(i.PID) + "@" + strconv.FormatUint(i.Start, 10) + " " + i.Cgroup
}

// Parse reads an identity.
func Parse(text string) (Identity, error) {
	numbers, group, hasGroup := strings.Cut(text, " ")
	pid, start, isBoth := strings.Cut(numbers, "@")
	var out Identity
	var err, startErr error
	out.PID, err = strconv.Atoi(pid)
	out.Start, startErr = strconv.ParseUint(start, 10, 64)
	out.Cgroup = group
	if err := errors.Join(err, startErr); err != nil || !hasGroup || !isBoth || group == "" || out.PID < 1 || out.PID > math.MaxInt32 {
		return Identity{}, fmt.Errorf("%.64q names no process: %w", text, errors.Join(err, errForeign))
	}
	return out, nil
}

// errForeign is for a number that another process has; it counts as gone.
var errForeign = fmt.Errorf("it is another process: %w", syscall.ESRCH)

// In lists the processes in a cgroup, by number. Those that end meanwhile are left out.
func In(cgroups, proc files.FS, layout cgroup.Layout, at string) ([]Identity, error) {
	content, err := cgroups.Read(layout.Statistic(cgroup.Processes, at), nil)
	if err != nil {
		return nil, err
	}
	var found []Identity
	for word := range strings.FieldsSeq(string(content)) {
		pid, err := strconv.Atoi(word)
		if err != nil || pid < 1 {
			continue // of another PID namespace
		}
		stat, err := proc.Read(word+"/stat", nil)
		if err != nil {
			continue
		}
		if start, err := StartOf(string(stat)); err == nil {
			found = append(found, Identity{PID: pid, Start: start, Cgroup: at})
		}
	}
	slices.SortFunc(found, func(a, b Identity) int { return a.PID - b.PID })
	return found, nil
}

// StartOf reads when a process or a thread was started, in clock ticks since the machine was, from its stat in /proc. Its name there is
// in parentheses and may contain anything, parentheses too.
func StartOf(stat string) (uint64, error) {
	const startField = 22 - 3 // counted from the one after the name
	end := strings.LastIndexByte(stat, ')')
	fields := strings.Fields(stat[end+1:])
	if end < 0 || len(fields) <= startField {
		return 0, fmt.Errorf("content %.64q has no time of start", stat)
	}
	return strconv.ParseUint(fields[startField], 10, 64)
}

// isIn reads /proc/PID/cgroup: lines of a number, controllers and a path.
func isIn(content string, version cgroup.Version, at string) bool {
	for line := range strings.SplitSeq(content, "\n") {
		parts := strings.SplitN(line, ":", 3)
		if len(parts) != 3 || strings.Trim(parts[2], "/") != strings.Trim(at, "/") {
			continue
		}
		if version == cgroup.V2 && parts[0] == "0" || slices.Contains(strings.Split(parts[1], ","), "cpu") {
			return true
		}
	}
	return false
}
