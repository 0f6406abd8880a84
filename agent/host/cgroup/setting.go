package cgroup

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"koordinator.sh/koord/agent/host/files"
)

// Setting is something that can be set of a cgroup. Its value is text as version 1 has it, whatever the version.
type Setting struct {
	// Name is the file's in version 1, or in version 2 where only that has it.
	Name string
	// controller is the hierarchy of version 1.
	controller string
	// v2 is the file's name in version 2; empty where there is none.
	v2 string
	// onlyV2 is true for what version 1 does not have.
	onlyV2 bool
	// keyed files have a line for each device, and device is the one that is meant.
	keyed  bool
	device string
	form   form
}

// The settings.
var (
	CPUShares     = Setting{Name: "cpu.shares", controller: "cpu", v2: "cpu.weight", form: weight{}}
	CPUQuota      = Setting{Name: "cpu.cfs_quota_us", controller: "cpu", v2: "cpu.max", form: quota{}}
	CPUBurst      = Setting{Name: "cpu.cfs_burst_us", controller: "cpu", v2: "cpu.max.burst", form: number{most: maxBurst}}
	CPUIdle       = Setting{Name: "cpu.idle", controller: "cpu", v2: "cpu.idle", form: idle{}}
	CPUBvt        = Setting{Name: "cpu.bvt_warp_ns", controller: "cpu", v2: "cpu.bvt_warp_ns", form: number{least: -1, most: 2}}
	CPUSet        = Setting{Name: "cpuset.cpus", controller: "cpuset", v2: "cpuset.cpus", form: set{}}
	MemoryNodes   = Setting{Name: "cpuset.mems", controller: "cpuset", v2: "cpuset.mems", form: set{}}
	MemoryLimit   = Setting{Name: "memory.limit_in_bytes", controller: "memory", v2: "memory.max", form: amount{limitable: true, negative: true}}
	MemoryMin     = Setting{Name: "memory.min", controller: "memory", v2: "memory.min", form: amount{}}
	MemoryLow     = Setting{Name: "memory.low", controller: "memory", v2: "memory.low", form: amount{}}
	MemoryHigh    = Setting{Name: "memory.high", controller: "memory", v2: "memory.high", form: amount{limitable: true}}
	OOMGroup      = Setting{Name: "memory.oom.group", controller: "memory", v2: "memory.oom.group", form: number{most: 1}}
	WmarkRatio    = Setting{Name: "memory.wmark_ratio", controller: "memory", v2: "memory.wmark_ratio", form: number{most: 100}}
	WmarkScale    = Setting{Name: "memory.wmark_scale_factor", controller: "memory", v2: "memory.wmark_scale_factor", form: number{least: 1, most: 1000}}
	WmarkMinAdj   = Setting{Name: "memory.wmark_min_adj", controller: "memory", v2: "memory.wmark_min_adj", form: number{least: -25, most: 50}}
	OOMPriority   = Setting{Name: "memory.priority", controller: "memory", v2: "memory.priority", form: number{most: 12}}
	PriorityOOM   = Setting{Name: "memory.use_priority_oom", controller: "memory", v2: "memory.use_priority_oom", form: number{most: 1}}
	MemoryReclaim = Setting{Name: "memory.reclaim", v2: "memory.reclaim", onlyV2: true, form: amount{}}
	// Bounds of a group's page cache, in bytes, 0 for none; with PageCacheSync the process that exceeds it reclaims.
	PageCacheLimit  = Setting{Name: "memory.pagecache_limit.size", controller: "memory", v2: "memory.pagecache_limit.size", form: amount{}}
	PageCacheSync   = Setting{Name: "memory.pagecache_limit.sync", controller: "memory", v2: "memory.pagecache_limit.sync", form: number{most: 1}}
	PageCacheEnable = Setting{Name: "memory.pagecache_limit.enable", controller: "memory", v2: "memory.pagecache_limit.enable", form: number{most: 1}}
	// NetworkClass is the class of a network device's queue, as 0xMMMMNNNN; processes that use the network of the host have one.
	NetworkClass = Setting{Name: "net_cls.classid", controller: "net_cls", form: number{most: 1<<32 - 1}}
)

// maxBurst bounds cpu.cfs_burst_us, in microseconds: what the kernel counts in a period.
const maxBurst = 1 << 44 / 1000

// Path returns the file of a setting, relative to the root of all hierarchies; false where the version has none.
func (l Layout) Path(s Setting, cgroup string) (string, bool) {
	switch {
	case l.Version == V2:
		return path.Join(cgroup, s.v2), s.v2 != ""
	case s.onlyV2:
		return "", false
	}
	return path.Join(s.controller, cgroup, s.Name), true
}

// Key returns the name under which Keyed finds the setting.
func (s Setting) Key() string {
	if s.keyed {
		return s.Name + " " + s.device
	}
	return s.Name
}

// Locate returns the tree and the file of a setting; false where the version has none.
func (s Setting) Locate(layout Layout, cgroup string) (files.Tree, string, bool) {
	path, has := layout.Path(s, cgroup)
	return files.Cgroup, path, has
}

// Canonical returns a value as it reads back once it was written.
func (s Setting) Canonical(version Version, value string) (string, error) {
	content, err := s.Encode(version, value)
	if err != nil {
		return "", err
	}
	return s.Decode(version, content)
}

// Encode returns what is written for a value. It fails on what no kernel takes.
func (s Setting) Encode(version Version, value string) (string, error) {
	content, err := s.form.encode(version, value)
	switch {
	case err != nil || !s.keyed:
		return content, err
	case !deviceName.MatchString(s.device):
		return "", fmt.Errorf("%q is not a device", clip(s.device))
	}
	return s.device + " " + content, nil
}

// Decode returns the value in what was read. The kernel writes values in its own way, and so does this, one way for each:
// two that mean the same are equal.
func (s Setting) Decode(version Version, content string) (string, error) {
	if s.keyed {
		content = line(content, s.device)
	}
	return s.form.decode(version, content)
}

// Own returns the part of a file's content that is the setting's, as it can be written back: all of it to the letter, or for one
// device what is said of it.
func (s Setting) Own(version Version, content string) string {
	if !s.keyed {
		return strings.TrimSpace(content)
	}
	own := ""
	value, err := s.Decode(version, content)
	if err == nil {
		own, err = s.Encode(version, value)
	}
	if err != nil {
		return strings.TrimSpace(content) // the caller that decodes it reports the error
	}
	return own
}

// Looser reports whether the first value lets a cgroup have something that the second does not. Children may have no more than
// their parent.
func (s Setting) Looser(a, b string) bool { return s.form.looser(a, b) }

// Join returns a value that lets a cgroup have what either does.
func (s Setting) Join(a, b string) string {
	if form, joins := s.form.(joiner); joins {
		return form.join(a, b)
	}
	if s.Looser(a, b) {
		return a
	}
	return b
}

// settings in the order in which those of one cgroup are written when they grow; when they shrink it is the reverse. The kernel
// takes shares of no idle cgroup, and no burst above the quota.
var settings = []Setting{
	CPUIdle, CPUQuota, CPUShares, CPUBurst, CPUBvt, CPUSet, MemoryNodes, MemoryLimit, MemoryHigh, MemoryLow, MemoryMin, OOMGroup, WmarkRatio,
	WmarkScale, WmarkMinAdj, OOMPriority, PriorityOOM, PageCacheLimit, PageCacheSync, PageCacheEnable, MemoryReclaim, NetworkClass, IOModel, IOCost, IOLatency, IOWeight, IOBFQWeight, IOReadBPS,
	IOWriteBPS, IOReadIOPS, IOWriteIOPS,
}

// ByName returns the setting of a name.
func ByName(name string) (Setting, bool) {
	index := slices.IndexFunc(settings, func(s Setting) bool { return s.Name == name })
	if index < 0 {
		return Setting{}, false
	}
	return settings[index], true
}

// ByKey returns the setting that has a key.
func ByKey(key string) (Setting, bool) {
	name, device, isKeyed := strings.Cut(key, " ")
	setting, known := ByName(name)
	if !known || setting.keyed != isKeyed || isKeyed && !deviceName.MatchString(device) {
		return Setting{}, false
	}
	return setting.On(device), true
}

// Rank is the setting's place in the order in which settings that grow are written.
func (s Setting) Rank() int {
	return slices.IndexFunc(settings, func(other Setting) bool { return other.Name == s.Name })
}
