package process

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	cgroups "github.com/containerd/cgroups/v3"

	"koordinator.sh/koord/agent/host/files"
)

// Cgroups returns the paths of the cgroups that a process or thread is in, each once and sorted: one of version 2, and one for each
// hierarchy of version 1, which differ where a runtime left hierarchies out. One that has ended gives an error that files.IsGone
// knows.
func Cgroups(proc files.FS, pid int) ([]string, error) {
	content, err := proc.Read(strconv.Itoa(pid)+"/cgroup", nil)
	if err != nil {
		return nil, err
	}
	hierarchies, unified, err := cgroups.ParseCgroupFromReaderUnified(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("read the cgroups of process %d: %w", pid, err)
	}
	paths := append(slices.Collect(maps.Values(hierarchies)), unified)
	paths = slices.DeleteFunc(paths, func(path string) bool { return !strings.HasPrefix(path, "/") })
	slices.Sort(paths)
	return slices.Compact(paths), nil
}
