package parameter

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/decision/nodeqos/sysctl"
)

// Parameter is one of the machine's.
type Parameter struct {
	// Name as decision/nodeqos/sysctl has it.
	Name string
	tree files.Tree
	path string
	// least and most that the kernel takes.
	least, most int64
	// switches are the parameter's values when it is a list of them, of which feature is meant.
	switches bool
	feature  string
}

// parameters in the order of their names in decision/nodeqos/sysctl. The features of the scheduler moved; a kernel has one of the files.
var parameters = []Parameter{
	{Name: sysctl.MinFreeKbytes, tree: files.Proc, path: "sys/vm/min_free_kbytes", most: math.MaxInt32},
	{Name: sysctl.WatermarkScaleFactor, tree: files.Proc, path: "sys/vm/watermark_scale_factor", least: 1, most: 3000},
	{Name: sysctl.MemcgReapBackground, tree: files.Sys, path: "kernel/mm/memcg_reaper/reap_background", most: 1},
	{Name: sysctl.SchedGroupIdentityEnabled, tree: files.Proc, path: "sys/kernel/sched_group_identity_enabled", most: 1},
	{Name: sysctl.SchedIdleSaverWmark, tree: files.Proc, path: "sys/kernel/sched_idle_saver_wmark", most: math.MaxInt64},
	{Name: sysctl.PageCacheLimitEnabled, tree: files.Sys, path: "kernel/mm/pagecache_limit/enabled", most: 1},
	{Name: sysctl.SchedFeatures, tree: files.Sys, path: "kernel/debug/sched/features", switches: true},
	{Name: sysctl.SchedFeatures, tree: files.Sys, path: "kernel/debug/sched_features", switches: true},
}

// Find returns the parameters that a setting may be in; of the value of SchedFeatures the feature is taken.
func Find(setting sysctl.Setting) []Parameter {
	var found []Parameter
	for _, p := range parameters {
		if p.Name == setting.Name {
			if p.switches {
				p.feature = strings.TrimPrefix(setting.Value, off)
			}
			found = append(found, p)
		}
	}
	return found
}

// off stands before the name of a feature that is turned off.
const off = "NO_"

// ByKey returns the parameter that has a key.
func ByKey(key string) (Parameter, bool) {
	path, feature, isFeature := strings.Cut(key, " ")
	index := slices.IndexFunc(parameters, func(p Parameter) bool { return p.key() == path })
	if index < 0 || parameters[index].switches != isFeature || strings.ContainsAny(feature, " \n") {
		return Parameter{}, false
	}
	found := parameters[index]
	found.feature = feature
	return found, true
}

func (p Parameter) key() string { return "/" + p.tree.Prefix() + p.path }

// Key returns the name under which Keyed finds the parameter.
func (p Parameter) Key() string {
	if p.switches {
		return p.key() + " " + p.feature
	}
	return p.key()
}

// Supported reports whether the kernel has the parameter, and the feature where one is meant.
func (p Parameter) Supported(proc, sys files.FS) bool {
	tree := proc
	if p.tree == files.Sys {
		tree = sys
	}
	if tree == nil || !p.switches {
		return tree != nil && tree.Exists(p.path)
	}
	content, err := tree.Read(p.path, nil)
	if err == nil {
		_, err = p.Decode(cgroup.V1, string(content))
	}
	return err == nil
}

// Locate returns the tree and the file.
func (p Parameter) Locate(cgroup.Layout, string) (files.Tree, string, bool) {
	return p.tree, p.path, true
}

// Encode returns what is written for a value.
func (p Parameter) Encode(_ cgroup.Version, value string) (string, error) {
	if p.switches {
		if p.feature == "" || value != p.feature && value != off+p.feature {
			return "", fmt.Errorf("value %.64q does not turn feature %.64q on or off", value, p.feature)
		}
		return value, nil
	}
	parsed, err := strconv.ParseInt(value, 10, 64)
	switch {
	case err != nil:
		return "", fmt.Errorf("value %.64q is not an integer", value)
	case parsed < p.least || parsed > p.most:
		return "", fmt.Errorf("value %d is not within %d and %d", parsed, p.least, p.most)
	}
	return strconv.FormatInt(parsed, 10), nil
}

// Decode returns the value in what was read.
func (p Parameter) Decode(_ cgroup.Version, content string) (string, error) {
	if p.switches {
		for word := range strings.FieldsSeq(content) {
			if strings.TrimPrefix(word, off) == p.feature {
				return word, nil
			}
		}
		return "", fmt.Errorf("the kernel has no feature %.64q", p.feature)
	}
	parsed, err := strconv.ParseInt(strings.TrimSpace(content), 10, 64)
	if err != nil {
		return "", fmt.Errorf("content %.64q is not an integer", content)
	}
	return strconv.FormatInt(parsed, 10), nil
}

// Own returns the part of the content that is the parameter's, as it can be written back.
func (p Parameter) Own(version cgroup.Version, content string) string {
	if p.switches {
		if value, err := p.Decode(version, content); err == nil {
			return value
		}
	}
	return strings.TrimSpace(content)
}

// Looser is never true: no order holds between parameters.
func (Parameter) Looser(string, string) bool { return false }

// Join returns the first value.
func (Parameter) Join(a, _ string) string { return a }

// Rank is the place of a parameter among those of the machine.
func (p Parameter) Rank() int {
	return slices.IndexFunc(parameters, func(other Parameter) bool { return other.path == p.path })
}
