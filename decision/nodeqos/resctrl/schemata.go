package resctrl

import (
	"fmt"
	"slices"
	"strings"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// Machine is what the processor can divide.
type Machine struct {
	Vendor Vendor
	// Mask of all cache ways; 0 where the cache cannot be divided.
	Mask uint64
	// LeastWays that a mask may have; 1 where it is 0.
	LeastWays int
	// CodeAndData is true where code and data have separate shares of the cache; both get the same.
	CodeAndData bool
	// Bandwidth is true where memory bandwidth can be divided.
	Bandwidth bool
	// BandwidthStep and LeastBandwidth are in percent, of processors that count so; 10 where they are 0.
	BandwidthStep, LeastBandwidth int64
	// Megabytes is true where the kernel is configured to take bandwidth in megabytes per second, to which percentages cannot be converted.
	Megabytes bool
	// Caches are the ids of the last-level caches.
	Caches []int
}

// Schemata of one group of processes.
type Schemata struct {
	// L3 is the ways of each cache, and MB the bandwidth; nil is not written.
	L3 []CacheValue `json:"l3,omitempty"`
	MB []CacheValue `json:"mb,omitempty"`
	// CodeAndData is true where the ways are given to code and to data.
	CodeAndData bool `json:"codeAndData,omitempty"`
	// Problems say what could not be divided, and why; its share is left out.
	Problems []string `json:"problems,omitempty"`
}

// CacheValue is the value of one cache: a mask of ways or a bandwidth.
type CacheValue struct {
	Cache int    `json:"cache"`
	Value uint64 `json:"value"`
}

// OfClass is the schemata of the pods of a class. A class that is switched off gets everything.
func OfClass(machine Machine, qos *slov1alpha1.ResctrlQOSCfg) Schemata {
	start, end, bandwidth := int64(0), int64(100), int64(100)
	if on(qos) {
		set(&start, qos.CATRangeStartPercent)
		set(&end, qos.CATRangeEndPercent)
		set(&bandwidth, qos.MBAPercent)
	}
	s := newShares(machine)
	s.cache(machine.Caches, start, end)
	s.bandwidth(machine.Caches, bandwidth)
	return s.schemata()
}

func set(value *int64, setting *int64) {
	if setting != nil {
		*value = *setting
	}
}

// OfPod is the schemata of a pod by its annotation: shares for all caches, and others for single ones. What it does not say is
// left out, and is then everything.
func OfPod(machine Machine, config extension.ResctrlConfig) Schemata {
	s := newShares(machine)
	if share := config.LLC.Schemata.Range; len(share) > 0 {
		s.cacheRange(machine.Caches, share)
	}
	for _, single := range config.LLC.SchemataPerCache {
		if s.exists(single.CacheID) && len(single.Range) > 0 {
			s.cacheRange([]int{single.CacheID}, single.Range)
		}
	}
	if percent := config.MB.Schemata.Percent; percent != 0 {
		s.bandwidth(machine.Caches, int64(percent))
	}
	for _, single := range config.MB.SchemataPerCache {
		if s.exists(single.CacheID) && single.Percent != 0 {
			s.bandwidth([]int{single.CacheID}, int64(single.Percent))
		}
	}
	return s.schemata()
}

// shares collects the values of each cache.
type shares struct {
	machine Machine
	l3, mb  map[int]uint64
	out     Schemata
}

func newShares(machine Machine) *shares {
	return &shares{machine: machine, l3: map[int]uint64{}, mb: map[int]uint64{}}
}

func (s *shares) problem(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(s.out.Problems, text) {
		s.out.Problems = append(s.out.Problems, text)
	}
}

func (s *shares) exists(cache int) bool {
	if slices.Contains(s.machine.Caches, cache) {
		return true
	}
	s.problem("there is no cache %d", cache)
	return false
}

func (s *shares) cacheRange(caches []int, share []int) {
	if len(share) != 2 {
		s.problem("a range of cache has %d ends, not two", len(share))
		return
	}
	s.cache(caches, int64(share[0]), int64(share[1]))
}

func (s *shares) cache(caches []int, start, end int64) {
	if s.machine.Mask == 0 {
		return
	}
	mask, err := CacheMask(s.machine.Mask, start, end, s.machine.LeastWays)
	if err != nil {
		s.problem("%v", err)
		return
	}
	for _, cache := range caches {
		s.l3[cache] = mask
	}
}

func (s *shares) bandwidth(caches []int, percent int64) {
	if !s.machine.Bandwidth {
		return
	}
	if s.machine.Megabytes {
		s.problem("resctrl is mounted with mba_MBps: memory bandwidth is no share there")
		return
	}
	value, err := BandwidthInSteps(s.machine.Vendor, percent, s.machine.BandwidthStep, s.machine.LeastBandwidth)
	if err != nil {
		s.problem("%v", err)
		return
	}
	for _, cache := range caches {
		s.mb[cache] = uint64(value)
	}
}

func (s *shares) schemata() Schemata {
	s.out.L3, s.out.MB, s.out.CodeAndData = ordered(s.l3), ordered(s.mb), s.machine.CodeAndData
	return s.out
}

func ordered(values map[int]uint64) []CacheValue {
	var out []CacheValue
	for cache, value := range values {
		out = append(out, CacheValue{cache, value})
	}
	slices.SortFunc(out, func(a, b CacheValue) int { return a.Cache - b.Cache })
	return out
}

// Lines are the schemata as the kernel reads them, one line for each resource: L3:0=f;1=f and MB:0=100;1=100, with L3CODE and
// L3DATA in the place of L3 where code and data are separate.
func (s Schemata) Lines() []string {
	type resource struct {
		name, format string
		values       []CacheValue
	}
	resources := []resource{{"L3", "%d=%x", s.L3}, {"MB", "%d=%d", s.MB}}
	if s.CodeAndData {
		resources = []resource{{"L3CODE", "%d=%x", s.L3}, {"L3DATA", "%d=%x", s.L3}, {"MB", "%d=%d", s.MB}}
	}
	var out []string
	for _, resource := range resources {
		if len(resource.values) == 0 {
			continue
		}
		var parts []string
		for _, value := range resource.values {
			parts = append(parts, fmt.Sprintf(resource.format, value.Cache, value.Value))
		}
		out = append(out, resource.name+":"+strings.Join(parts, ";"))
	}
	return out
}

// Groups of processes under resctrl.
const (
	GroupLSR = "LSR"
	GroupLS  = "LS"
	GroupBE  = "BE"
	// PodGroupPrefix begins the name of the group of a pod with separate shares.
	PodGroupPrefix = "koordlet-"
)

// GroupOf names the group of a pod: its own where the annotation gives it shares, else that of its class; empty for SYSTEM
// pods, which stay in the root group.
func GroupOf(class extension.QoSClass, podUID string, ownShares bool) string {
	if ownShares {
		return PodGroupPrefix + podUID
	}
	switch class {
	case extension.QoSLSE, extension.QoSLSR:
		return GroupLSR
	case extension.QoSLS:
		return GroupLS
	case extension.QoSBE:
		return GroupBE
	}
	return ""
}
