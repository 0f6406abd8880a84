package workload

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// CPUTime of this machine since it started, of all its CPUs together, in ticks of the kernel.
type CPUTime struct{ Used, Total float64 }

// MachineCPUTime reads the CPU time of this machine, which must be Linux.
func MachineCPUTime() (CPUTime, error) {
	content, err := os.ReadFile("/proc/stat")
	if err != nil {
		return CPUTime{}, err
	}
	return parseCPUTime(content)
}

// Columns of a line of /proc/stat, from the first figure on.
const (
	idle   = 3
	iowait = 4
	steal  = 7
	// counted are the columns up to the time of guests, which is part of that of users.
	counted = 8
)

func parseCPUTime(content []byte) (CPUTime, error) {
	lines := bufio.NewScanner(bytes.NewReader(content))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) <= counted || fields[0] != "cpu" {
			continue
		}
		var t CPUTime
		for i, field := range fields[1 : counted+1] {
			ticks, err := strconv.ParseUint(field, 10, 64)
			if err != nil {
				return CPUTime{}, fmt.Errorf("/proc/stat: %w", err)
			}
			t.Total += float64(ticks)
			if i != idle && i != iowait && i != steal {
				t.Used += float64(ticks)
			}
		}
		return t, nil
	}
	return CPUTime{}, errors.Join(errors.New("/proc/stat has no line of all CPUs"), lines.Err())
}

// Since is the share of the time that was used since before, 0 to 1; 0 where no time has passed.
func (c CPUTime) Since(before CPUTime) float64 {
	if c.Total <= before.Total {
		return 0
	}
	return (c.Used - before.Used) / (c.Total - before.Total)
}
