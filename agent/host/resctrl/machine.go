package resctrl

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/decision/nodeqos/resctrl"
)

// ErrNotMounted is for a directory in which resctrl is not mounted.
var ErrNotMounted = errors.New("resctrl is not mounted")

// Capability is what processor and kernel can do.
type Capability struct {
	resctrl.Machine
	// Groups that there can be, with the root group; 0 when nothing bounds them.
	Groups int
	// Monitored are the counters of the last-level cache: llc_occupancy, mbm_total_bytes, mbm_local_bytes.
	Monitored []string
}

// Probe reads what can be divided. It returns ErrNotMounted, or that files of the kernel cannot be read or understood.
func Probe(tree, proc files.FS) (Capability, error) {
	if !tree.Exists("info") {
		return Capability{}, ErrNotMounted
	}
	content, err := tree.Read("schemata", nil)
	if err != nil {
		return Capability{}, err
	}
	root, err := ParseSchemata(string(content))
	if err != nil {
		return Capability{}, err
	}
	out := Capability{Machine: resctrl.Machine{Vendor: vendor(proc), Megabytes: mountedWith(proc, "mba_MBps")}}
	if out.CodeAndData = tree.Exists("info/L3CODE"); out.CodeAndData {
		err = out.cache(tree, "L3CODE", root)
	} else if tree.Exists("info/L3") {
		err = out.cache(tree, "L3", root)
	}
	if err == nil && tree.Exists("info/MB") {
		err = out.bandwidth(tree, root)
	}
	if err != nil {
		return Capability{}, fmt.Errorf("read what resctrl can divide: %w", err)
	}
	if content, err := tree.Read("info/L3_MON/mon_features", nil); err == nil {
		out.Monitored = strings.Fields(string(content))
	}
	return out, nil
}

// cache reads the ways of the last-level cache.
func (c *Capability) cache(tree files.FS, resource string, root Schemata) error {
	content, err := tree.Read("info/"+resource+"/cbm_mask", nil)
	if err != nil {
		return err
	}
	if c.Mask, err = resctrl.ParseMask(string(content)); err != nil {
		return err
	}
	least, err := number(tree, "info/"+resource+"/min_cbm_bits")
	if err != nil {
		return err
	}
	c.LeastWays, c.Caches = int(least), root.Caches(resource)
	return c.groups(tree, resource)
}

// bandwidth reads how memory bandwidth is counted.
func (c *Capability) bandwidth(tree files.FS, root Schemata) (err error) {
	if c.BandwidthStep, err = number(tree, "info/MB/bandwidth_gran"); err != nil {
		return err
	}
	if c.LeastBandwidth, err = number(tree, "info/MB/min_bandwidth"); err != nil {
		return err
	}
	c.Bandwidth = true
	if len(c.Caches) == 0 {
		c.Caches = root.Caches("MB")
	}
	return c.groups(tree, "MB")
}

// groups is the least that any resource allows.
func (c *Capability) groups(tree files.FS, resource string) error {
	count, err := number(tree, "info/"+resource+"/num_closids")
	if err != nil {
		return err
	}
	if c.Groups == 0 || int(count) < c.Groups {
		c.Groups = int(count)
	}
	return nil
}

func number(tree files.FS, path string) (int64, error) {
	content, err := tree.Read(path, nil)
	if err != nil {
		return 0, err
	}
	value, err := strconv.ParseInt(strings.TrimSpace(string(content)), 10, 32)
	if err != nil || value < 0 {
		return 0, fmt.Errorf("%s: %.40q is not a count", path, content)
	}
	return value, nil
}

// vendor of the processor. ARM's have a number for their implementer and no name.
func vendor(proc files.FS) resctrl.Vendor {
	content, err := proc.Read("cpuinfo", nil)
	if err != nil {
		return ""
	}
	for line := range bytes.Lines(content) {
		key, value, _ := bytes.Cut(line, []byte(":"))
		switch string(bytes.TrimSpace(key)) {
		case "vendor_id":
			return resctrl.Vendor(bytes.TrimSpace(value))
		case "CPU implementer":
			return resctrl.ARM
		}
	}
	return ""
}

// mountedWith reports whether resctrl was mounted with an option.
func mountedWith(proc files.FS, option string) bool {
	content, err := proc.Read("self/mounts", nil)
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(content)) {
		if fields := strings.Fields(line); len(fields) > 3 && fields[2] == "resctrl" {
			for set := range strings.SplitSeq(fields[3], ",") {
				if set == option {
					return true
				}
			}
		}
	}
	return false
}
