package resctrlfs

import (
	"fmt"
	"io/fs"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Read implements files.FS.
func (t *Tree) Read(path string, buffer []byte) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	content, err := t.show(path)
	if failed := t.failing("read", path); failed != nil {
		err = failed
	}
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return append(buffer[:0], content...), nil
}

func (t *Tree) show(path string) (string, error) {
	if content, has := t.info()[path]; has {
		return content, nil
	}
	name, within := t.split(path)
	switch counter, monitored := strings.CutPrefix(within, "mon_data/"); {
	case within == "schemata":
		return t.showSchemata(name), nil
	case within == "tasks":
		return t.showTasks(name), nil
	case monitored && t.processor.Monitors:
		if shown, has := t.groups[name].counters[counter]; has {
			return shown + "\n", nil
		}
		if strings.HasPrefix(counter, "mon_L3_") && strings.Contains(counter, "/") {
			return "0\n", nil
		}
	}
	return "", syscall.ENOENT
}

// info is what the processor can do.
func (t *Tree) info() map[string]string {
	out := map[string]string{"info/last_cmd_status": "ok\n"}
	for _, resource := range t.resources() {
		at := "info/" + resource + "/"
		out[at+"num_closids"] = fmt.Sprintln(t.processor.Groups)
		if resource == "MB" {
			out[at+"bandwidth_gran"], out[at+"min_bandwidth"] = fmt.Sprintln(t.processor.Step), fmt.Sprintln(t.processor.Least)
			continue
		}
		out[at+"cbm_mask"], out[at+"min_cbm_bits"] = fmt.Sprintf("%x\n", t.all(resource)), fmt.Sprintln(t.processor.LeastWays)
	}
	if t.processor.Monitors {
		out["info/L3_MON/mon_features"] = "llc_occupancy\nmbm_total_bytes\nmbm_local_bytes\n"
	}
	return out
}

// showSchemata pads names to the longest, masks with zeros and figures with blanks.
func (t *Tree) showSchemata(name string) string {
	width := 0
	for _, resource := range t.resources() {
		width = max(width, len(resource))
	}
	var out strings.Builder
	for _, resource := range t.resources() {
		var parts []string
		values := t.groups[name].schemata[resource]
		for _, cache := range slices.Sorted(maps.Keys(values)) {
			if resource == "MB" {
				parts = append(parts, fmt.Sprintf("%d=%*d", cache, len(fmt.Sprint(t.all(resource))), values[cache]))
				continue
			}
			parts = append(parts, fmt.Sprintf("%d=%0*x", cache, len(fmt.Sprintf("%x", t.all(resource))), values[cache]))
		}
		fmt.Fprintf(&out, "%*s:%s\n", width+2, resource, strings.Join(parts, ";"))
	}
	return out.String()
}

func (t *Tree) showTasks(name string) string {
	var out strings.Builder
	for _, thread := range slices.Sorted(maps.Keys(t.threads)) {
		if t.threads[thread] == name {
			fmt.Fprintln(&out, thread)
		}
	}
	return out.String()
}

// Write implements files.FS.
func (t *Tree) Write(path, value string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.failing("write", path)
	name, within := t.split(path)
	switch {
	case err != nil:
	case within == "schemata":
		err = t.setSchemata(name, value)
	case within == "tasks":
		err = t.setTask(name, value)
	default:
		if _, err = t.show(path); err == nil {
			err = syscall.EACCES
		}
	}
	if err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: err}
	}
	t.writes = append(t.writes, path+" "+strings.TrimSpace(value))
	return nil
}

// setSchemata takes lines, each of which has to end, and all of them or none.
func (t *Tree) setSchemata(name, value string) error {
	if !strings.HasSuffix(value, "\n") {
		return syscall.EINVAL
	}
	wanted := map[string]map[int]uint64{}
	for line := range strings.Lines(value) {
		resource, values, found := strings.Cut(strings.TrimSpace(line), ":")
		resource = strings.TrimSpace(resource)
		if !found || !slices.Contains(t.resources(), resource) {
			return syscall.EINVAL
		}
		wanted[resource] = map[int]uint64{}
		for part := range strings.SplitSeq(values, ";") {
			id, text, _ := strings.Cut(part, "=")
			cache, err := strconv.Atoi(strings.TrimSpace(id))
			if _, again := wanted[resource][cache]; err != nil || again || cache < 0 || cache >= t.processor.Caches {
				return syscall.EINVAL
			}
			if wanted[resource][cache], err = t.value(resource, strings.TrimSpace(text)); err != nil {
				return err
			}
		}
	}
	for resource, values := range wanted {
		maps.Copy(t.groups[name].schemata[resource], values)
	}
	return nil
}

// value of a cache: a mask of ways in a row, or bandwidth, which is put to the next step.
func (t *Tree) value(resource, text string) (uint64, error) {
	if resource == "MB" {
		value, err := strconv.ParseUint(text, 10, 32)
		if err != nil || value < t.processor.Least || value > t.processor.AllBandwidth {
			return 0, syscall.EINVAL
		}
		step := max(t.processor.Step, t.processor.Quantum)
		return min((value+step-1)/step*step, t.processor.AllBandwidth), nil
	}
	mask, err := strconv.ParseUint(text, 16, 32)
	if err != nil || mask == 0 || mask&^t.all(resource) != 0 || bits.OnesCount64(mask) < t.processor.LeastWays {
		return 0, syscall.EINVAL
	}
	if down := mask >> bits.TrailingZeros64(mask); down&(down+1) != 0 {
		return 0, syscall.EINVAL
	}
	return mask, nil
}

// setTask moves threads, separated by commas, until one of them cannot be.
func (t *Tree) setTask(name, value string) error {
	for text := range strings.SplitSeq(strings.TrimSpace(value), ",") {
		thread, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || thread < 0 {
			return syscall.EINVAL
		}
		if _, runs := t.threads[thread]; !runs {
			return syscall.ESRCH
		}
		t.threads[thread] = name
	}
	return nil
}
