package yarnagent

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"time"

	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/host/process"
)

// variable is in the environment of all processes that the NodeManager starts for a container.
const variable = "CONTAINER_ID="

// processes are those of the machine.
type processes struct{ proc files.FS }

// of finds the processes of containers by the environment that they were started with. Denied is why that of a process could not be read
// which may be one of theirs; nil where all could be.
func (p *processes) of(wanted map[string]bool) (found map[string][]int, denied, err error) {
	names, err := p.proc.Directories(".")
	if err != nil {
		return nil, nil, err
	}
	found = map[string][]int{}
	var buffer []byte
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		content, err := p.proc.Read(name+"/environ", buffer)
		if errors.Is(err, fs.ErrPermission) {
			denied = err
		}
		if err != nil {
			continue // it has ended, or is another's
		}
		buffer = content
		if id := containerIn(content); wanted[id] {
			found[id] = append(found[id], pid)
		}
	}
	for _, pids := range found {
		slices.Sort(pids)
	}
	return found, denied, nil
}

// containerIn is the ID in an environment; empty where there is none.
func containerIn(environment []byte) string {
	for entry := range bytes.SplitSeq(environment, []byte{0}) {
		if id, has := bytes.CutPrefix(entry, []byte(variable)); has {
			return string(id)
		}
	}
	return ""
}

// ticks are how many units of a process's start are in a second, which is the same on all architectures of Linux.
const ticks = 100

// started is when the oldest of some processes was; zero where that is not known.
func (p *processes) started(pids []int) time.Time {
	booted, known := p.booted()
	if !known {
		return time.Time{}
	}
	var oldest time.Time
	for _, pid := range pids {
		stat, err := p.proc.Read(strconv.Itoa(pid)+"/stat", nil)
		if err != nil {
			continue
		}
		start, err := process.StartOf(string(stat))
		if err != nil {
			continue
		}
		at := booted.Add(time.Duration(min(start, 1<<40)) * (time.Second / ticks))
		if oldest.IsZero() || at.Before(oldest) {
			oldest = at
		}
	}
	return oldest
}

// booted is when the machine was started, to the second.
func (p *processes) booted() (time.Time, bool) {
	content, err := p.proc.Read("stat", nil)
	if err != nil {
		return time.Time{}, false
	}
	for line := range bytes.Lines(content) {
		if text, has := bytes.CutPrefix(line, []byte("btime ")); has {
			seconds, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
			return time.Unix(seconds, 0), err == nil
		}
	}
	return time.Time{}, false
}
