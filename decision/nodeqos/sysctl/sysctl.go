package sysctl

import (
	"fmt"
	"math/bits"
	"regexp"
	"slices"
	"strconv"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// Bounds of the settings.
const (
	LeastMinFreeKbytes = 10_240
	MostMinFreeKbytes  = 10_485_760
	LeastWatermark     = 10
	MostWatermark      = 400
)

// Names of the settings.
const (
	MinFreeKbytes             = "vm.min_free_kbytes"
	WatermarkScaleFactor      = "vm.watermark_scale_factor"
	MemcgReapBackground       = "memcg_reaper.reap_background"
	SchedGroupIdentityEnabled = "kernel.sched_group_identity_enabled"
	SchedIdleSaverWmark       = "kernel.sched_idle_saver_wmark"
	PageCacheLimitEnabled     = "pagecache_limit.enabled"
	SchedFeatures             = "sched_features"
)

// Setting to write.
type Setting struct {
	// Name of the setting; SchedFeatures comes once for each feature.
	Name string `json:"name"`
	// Value to write: a number, or for a feature its name, with NO_ in front to turn it off.
	Value string `json:"value"`
	// Note says how the value came about where that is not plain.
	Note string `json:"note,omitempty"`
}

// Problem is a setting that is not written because its value makes no sense.
type Problem struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Result is the settings of one node in a fixed order.
type Result struct {
	Settings []Setting `json:"settings,omitempty"`
	Problems []Problem `json:"problems,omitempty"`
}

// Of decides the settings of a node with so many bytes of memory. The strategy may be nil.
func Of(strategy *slov1alpha1.SystemStrategy, totalMemory int64) Result {
	var out Result
	if strategy == nil {
		return out
	}
	out.minFree(strategy.MinFreeKbytesFactor, totalMemory)
	out.watermark(strategy.WatermarkScaleFactor)
	out.toggle(MemcgReapBackground, strategy.MemcgReapBackGround)
	out.toggle(SchedGroupIdentityEnabled, strategy.SchedGroupIdentityEnabled)
	if wmark := strategy.SchedIdleSaverWmark; wmark != nil && *wmark < 0 {
		out.refuse(SchedIdleSaverWmark, fmt.Sprintf("%d is below zero", *wmark))
	} else if wmark != nil {
		out.set(SchedIdleSaverWmark, *wmark, "")
	}
	out.toggle(PageCacheLimitEnabled, strategy.PageCacheLimitEnabled)
	out.features(strategy.SchedFeatures)
	return out
}

func (r *Result) set(name string, value int64, note string) {
	r.Settings = append(r.Settings, Setting{Name: name, Value: strconv.FormatInt(value, 10), Note: note})
}

func (r *Result) refuse(name, reason string) {
	r.Problems = append(r.Problems, Problem{Name: name, Reason: reason})
}

// minFree is a share of the node's memory, within bounds: too little and allocations in interrupts fail, too much and the
// node has no memory left for pods.
func (r *Result) minFree(factor *int64, totalMemory int64) {
	switch {
	case factor == nil:
		return
	case *factor <= 0:
		r.refuse(MinFreeKbytes, fmt.Sprintf("a factor of %d is not above zero", *factor))
		return
	case totalMemory <= 0:
		r.refuse(MinFreeKbytes, "the memory of the node is not known")
		return
	}
	total := totalMemory / 1024
	high, low := bits.Mul64(uint64(total), uint64(*factor))
	wanted := int64(MostMinFreeKbytes)
	if high < 10_000 {
		quotient, _ := bits.Div64(high, low, 10_000)
		wanted = int64(min(quotient, 1<<62))
	}
	note := fmt.Sprintf("%d of 10000 parts of %d KiB", *factor, total)
	value := min(max(wanted, LeastMinFreeKbytes), MostMinFreeKbytes)
	if value != wanted {
		note += fmt.Sprintf(", between %d and %d", LeastMinFreeKbytes, MostMinFreeKbytes)
	}
	r.set(MinFreeKbytes, value, note)
}

func (r *Result) watermark(factor *int64) {
	if factor == nil {
		return
	}
	value := min(max(*factor, LeastWatermark), MostWatermark)
	note := ""
	if value != *factor {
		note = fmt.Sprintf("%d is not between %d and %d", *factor, LeastWatermark, MostWatermark)
	}
	r.set(WatermarkScaleFactor, value, note)
}

func (r *Result) toggle(name string, value *int64) {
	switch {
	case value == nil:
	case *value != 0 && *value != 1:
		r.refuse(name, fmt.Sprintf("%d is neither 0 nor 1", *value))
	default:
		r.set(name, *value, "")
	}
}

// featureName is what the kernel's scheduler features are called. Anything else would write into a file of the kernel's
// debugging interface what somebody thought up.
var featureName = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,63}$`)

func (r *Result) features(wanted map[string]bool) {
	names := make([]string, 0, len(wanted))
	for name := range wanted {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if !featureName.MatchString(name) {
			r.refuse(SchedFeatures, fmt.Sprintf("%.80q is not a name of a feature", name))
			continue
		}
		value := name
		if !wanted[name] {
			value = "NO_" + name
		}
		r.Settings = append(r.Settings, Setting{Name: SchedFeatures, Value: value})
	}
}
