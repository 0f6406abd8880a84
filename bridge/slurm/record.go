package slurm

import (
	"fmt"
	"iter"
	"regexp"
	"strconv"
	"strings"
)

// unlimited is how scontrol prints that a number has no bound.
const unlimited = "UNLIMITED"

// record is one line of `scontrol --oneliner show`: words KEY=VALUE.
type record string

// records are the lines of an output.
func records(output string) iter.Seq[record] {
	return func(yield func(record) bool) {
		for line := range strings.Lines(output) {
			if line = strings.TrimSpace(line); line != "" && !yield(record(line)) {
				return
			}
		}
	}
}

// get is the value of a key; empty where there is none. The first one counts: texts that people enter, such as Comment and Reason, come last
// and may look like anything.
func (r record) get(key string) string {
	for rest := string(r); ; {
		at := strings.Index(rest, key+"=")
		if at < 0 {
			return ""
		}
		if at == 0 || rest[at-1] == ' ' {
			value, _, _ := strings.Cut(rest[at+len(key)+1:], " ")
			return value
		}
		rest = rest[at+len(key)+1:]
	}
}

// number is a value of at least zero.
func (r record) number(key string) (int64, error) {
	n, err := strconv.ParseInt(r.get(key), 10, 64)
	if err != nil || n < 0 || n > mostNumber {
		return 0, fmt.Errorf("%s is %q; want a number", key, r.get(key))
	}
	return n, nil
}

// mostNumber bounds CPUs and MiB of one node, so that sums stay in range.
const mostNumber = 1 << 40

// nodeNames are names of nodes that are no expressions, such as n[1-9].
var nodeNames = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$`)

// node is a node of Slurm.
type node struct {
	name string
	// cpus and mib are its size, usedCPUs and usedMiB what is allocated.
	cpus, mib, usedCPUs, usedMiB int64
	// partitions that it is in.
	partitions []string
	// closed is true when it starts nothing new.
	closed bool
}

// openStates are the states in which a node starts jobs.
var openStates = map[string]bool{"IDLE": true, "MIXED": true, "ALLOCATED": true, "COMPLETING": true}

// parseNode reads a node.
func parseNode(r record) (n node, err error) {
	n.name = r.get("NodeName")
	if !nodeNames.MatchString(n.name) {
		return n, fmt.Errorf("NodeName is %q; want the name of a node", n.name)
	}
	for key, into := range map[string]*int64{"CPUTot": &n.cpus, "RealMemory": &n.mib, "CPUAlloc": &n.usedCPUs, "AllocMem": &n.usedMiB} {
		if *into, err = r.number(key); err != nil {
			return n, fmt.Errorf("node %q: %w", n.name, err)
		}
	}
	n.partitions = strings.Split(r.get("Partitions"), ",")
	for state := range strings.SplitSeq(r.get("State"), "+") {
		n.closed = n.closed || !openStates[strings.TrimRight(state, "*~#!%$@^-")]
	}
	return n, nil
}

// partition is a partition of Slurm.
type partition struct {
	name string
	// nodes is the expression that names its nodes.
	nodes string
	// cpusPerNode is the most that it allocates of a node; below zero without a bound.
	cpusPerNode int64
	// up is true when it starts jobs.
	up bool
}

// parsePartition reads a partition.
func parsePartition(r record) (p partition, err error) {
	p = partition{name: r.get("PartitionName"), nodes: r.get("Nodes"), cpusPerNode: -1, up: r.get("State") == "UP"}
	if p.name == "" {
		return p, fmt.Errorf("a partition has no PartitionName: %.80q", string(r))
	}
	if r.get("MaxCPUsPerNode") != unlimited {
		if p.cpusPerNode, err = r.number("MaxCPUsPerNode"); err != nil {
			return p, fmt.Errorf("partition %q: %w", p.name, err)
		}
	}
	return p, nil
}

// parseMemoryPerCPU reads the memory of a CPU, in MiB, from `scontrol show config`.
func parseMemoryPerCPU(output string) (int64, error) {
	found := map[string]int64{}
	for line := range strings.Lines(output) {
		key, value, _ := strings.Cut(line, "=")
		if n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64); err == nil && n <= mostNumber {
			found[strings.TrimSpace(key)] = n
		}
	}
	most, usual := found["MaxMemPerCPU"], found["DefMemPerCPU"]
	if most <= 0 || usual <= 0 || usual > most {
		return 0, fmt.Errorf("slurm.conf must set MaxMemPerCPU, and DefMemPerCPU to at most that: otherwise jobs use any amount of memory of a node")
	}
	return most, nil
}
