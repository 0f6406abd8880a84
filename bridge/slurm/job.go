package slurm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"koordinator.sh/koord/decision/noderesource/thirdparty"
)

// jobFormat has squeue print what parseJobs reads: ID, state, CPUs, nodes, and how long it has run.
const jobFormat = "%A|%t|%C|%D|%M"

// parseJobs reads the jobs on a node, as squeue printed them. Ending are CPUs of those that are ending already.
func parseJobs(output string, unit thirdparty.Amount) (works []thirdparty.Work, ending int64, err error) {
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		fields := strings.Split(line, "|")
		if len(fields) != 5 {
			return nil, 0, fmt.Errorf("squeue printed %.80q; want %s", line, jobFormat)
		}
		id, err := strconv.ParseUint(fields[0], 10, 32)
		if err != nil {
			return nil, 0, fmt.Errorf("squeue printed the job %.80q; want a number", fields[0])
		}
		cpus, err := positive(fields[2])
		if err != nil {
			return nil, 0, fmt.Errorf("job %d: %w", id, err)
		}
		nodes, err := positive(fields[3])
		if err != nil {
			return nil, 0, fmt.Errorf("job %d: %w", id, err)
		}
		ran, err := parseElapsed(fields[4])
		if err != nil {
			return nil, 0, fmt.Errorf("job %d: %w", id, err)
		}
		held := (cpus + nodes - 1) / nodes // squeue says only what a job has of all nodes together
		if fields[1] == "CG" {
			ending += held
			continue
		}
		works = append(works, thirdparty.Work{ID: fields[0], Held: times(unit, held), All: times(unit, cpus), Ran: ran})
	}
	return works, ending, nil
}

func positive(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%.80q is not a number above zero", text)
	}
	return n, nil
}

func times(unit thirdparty.Amount, count int64) thirdparty.Amount {
	return thirdparty.Amount{MilliCPU: unit.MilliCPU * count, Memory: unit.Memory * count}
}

// parseElapsed reads [DAYS-][[HOURS:]MINUTES:]SECONDS. Slurm prints INVALID for a job whose start the clock has passed backwards.
func parseElapsed(text string) (time.Duration, error) {
	if text == "INVALID" {
		return 0, nil
	}
	daysText, clockText, hasDays := strings.Cut(text, "-")
	if !hasDays {
		daysText, clockText = "0", text
	}
	days, err := strconv.ParseUint(daysText, 10, 16)
	parts := strings.Split(clockText, ":")
	if err != nil || len(parts) > 3 {
		return 0, fmt.Errorf("%.80q is no elapsed time", text)
	}
	elapsed, unit := time.Duration(days)*24*time.Hour, time.Second
	for _, part := range slices.Backward(parts) {
		n, err := strconv.ParseUint(part, 10, 16)
		if err != nil {
			return 0, fmt.Errorf("%.80q is no elapsed time", text)
		}
		elapsed += time.Duration(n) * unit
		unit *= 60
	}
	return elapsed, nil
}

// waitingReasons are why a pending job waits when it waits for resources. Others, such as a dependency, are not ended by more of them.
var waitingReasons = map[string]bool{"Resources": true, "Priority": true, "PartitionConfig": true, "PartitionDown": true, "ReqNodeNotAvail": true}

// anyWaits says whether one of the pending jobs, as squeue printed them with their partitions and reasons, waits for one of partitions.
func anyWaits(output string, ours func(partition string) bool) bool {
	for line := range strings.Lines(output) {
		partitions, reason, _ := strings.Cut(strings.TrimSpace(line), "|")
		reason, _, _ = strings.Cut(reason, ",") // as in ReqNodeNotAvail, UnavailableNodes:n1
		if waitingReasons[strings.Trim(reason, "()")] && slices.ContainsFunc(strings.Split(partitions, ","), ours) {
			return true
		}
	}
	return false
}
