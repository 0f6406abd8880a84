package memoryqos

import (
	"fmt"
	"math"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/capacity"
	"koordinator.sh/koord/decision/core/waterfall"
)

// Unbounded is the memory.high of a group without a bound; it is written as max.
const Unbounded = math.MaxInt64

// Values are what is written for one group of processes. Nil is not written.
type Values struct {
	// Min, Low and High in bytes; High only for containers.
	Min  *int64 `json:"min,omitempty"`
	Low  *int64 `json:"low,omitempty"`
	High *int64 `json:"high,omitempty"`
	// WmarkRatio is memory.wmark_ratio in percent, WmarkScaleFactor memory.wmark_scale_factor, WmarkMinAdj memory.wmark_min_adj.
	WmarkRatio       *int64 `json:"wmarkRatio,omitempty"`
	WmarkScaleFactor *int64 `json:"wmarkScaleFactor,omitempty"`
	WmarkMinAdj      *int64 `json:"wmarkMinAdj,omitempty"`
	// UsePriorityOOM, Priority and OOMGroup are for the out-of-memory killer.
	UsePriorityOOM *int64 `json:"usePriorityOOM,omitempty"`
	Priority       *int64 `json:"priority,omitempty"`
	OOMGroup       *int64 `json:"oomGroup,omitempty"`
	// PageCacheEnable bounds the page cache to PageCacheLimit bytes, which is a whole number of pages and no more than the limit;
	// PageCacheReclaimSync has the process that exceeds it reclaim itself.
	PageCacheEnable      *int64 `json:"pageCacheEnable,omitempty"`
	PageCacheLimit       *int64 `json:"pageCacheLimit,omitempty"`
	PageCacheReclaimSync *int64 `json:"pageCacheReclaimSync,omitempty"`
	// Notes say which values are not what their formula gives, and why.
	Notes []string `json:"notes,omitempty"`
}

// Amounts of one pod or container, in bytes.
type Amounts struct {
	// Request; 0 for none.
	Request int64 `json:"request"`
	// Limit; 0 for none.
	Limit int64 `json:"limit"`
}

// static takes over what does not depend on amounts.
func static(settings slov1alpha1.MemoryQOS) Values {
	return Values{
		WmarkRatio: settings.WmarkRatio, WmarkScaleFactor: settings.WmarkScalePermill, WmarkMinAdj: settings.WmarkMinAdj,
		UsePriorityOOM: settings.PriorityEnable, Priority: settings.Priority, OOMGroup: settings.OomKillGroup,
		PageCacheEnable: settings.PageCacheEnable, PageCacheReclaimSync: settings.PageCacheReclaimSync,
	}
}

// protect computes min and low.
func (v *Values) protect(settings slov1alpha1.MemoryQOS, amounts Amounts) {
	request := max(amounts.Request, 0)
	if settings.MinLimitPercent != nil {
		v.Min = new(capacity.Percent(request, max(*settings.MinLimitPercent, 0)))
	}
	if settings.LowLimitPercent != nil {
		v.Low = new(capacity.Percent(request, max(*settings.LowLimitPercent, 0)))
	}
	if v.Min != nil && v.Low != nil && *v.Low > 0 && *v.Low < *v.Min {
		v.Notes = append(v.Notes, fmt.Sprintf("low is raised from %d to min", *v.Low))
		*v.Low = *v.Min
	}
}

// boundCache computes the bound of the page cache: the size, or else the percentage of the limit. The kernel takes no more than the
// limit.
func (v *Values) boundCache(settings slov1alpha1.MemoryQOS, amounts Amounts, pageSize int64) {
	bound := int64(0)
	switch {
	case settings.PageCacheLimitSize != nil:
		bound = max(*settings.PageCacheLimitSize, 0)
	case settings.PageCacheLimitPercent != nil && amounts.Limit > 0:
		bound = capacity.Percent(amounts.Limit, max(*settings.PageCacheLimitPercent, 0))
	default:
		if settings.PageCacheEnable != nil && *settings.PageCacheEnable == 1 {
			v.Notes = append(v.Notes, "the page cache has no bound: there is no size, and no limit of which to take a percentage")
		}
		return
	}
	if amounts.Limit > 0 && bound > amounts.Limit {
		v.Notes = append(v.Notes, fmt.Sprintf("the bound of the page cache is lowered from %d to the limit", bound))
		bound = amounts.Limit
	}
	v.PageCacheLimit = new(bound - bound%max(pageSize, 1))
}

// throttle computes high, step by step where it is bounded. The page size rounds it down, because the kernel counts pages.
func (v *Values) throttle(settings slov1alpha1.MemoryQOS, amounts Amounts, allocatable, pageSize int64, w *waterfall.Waterfall) {
	if settings.ThrottlingPercent == nil {
		return
	}
	if *settings.ThrottlingPercent <= 0 {
		v.High = new(int64(Unbounded))
		return
	}
	request, limit, what := max(amounts.Request, 0), amounts.Limit, "limit"
	if limit <= 0 {
		limit, what = max(allocatable, 0), "allocatable"
	}
	pageSize = max(pageSize, 1)
	w.Inform("request", request, diagnosticsv1alpha1.Bytes, "")
	w.Step(diagnosticsv1alpha1.Start, what, limit, "")
	w.Step(diagnosticsv1alpha1.Minus, "request", request, "")
	w.Step(diagnosticsv1alpha1.Times, "throttling", *settings.ThrottlingPercent, "of what lies between")
	w.Step(diagnosticsv1alpha1.Plus, "request", request, "")
	w.Step(diagnosticsv1alpha1.Max, "floor", 0, "not below 0")
	w.Step(diagnosticsv1alpha1.Minus, "page", w.Value()%pageSize, "rounded down to a whole page")
	if v.Min != nil && w.Value() < *v.Min {
		w.Step(diagnosticsv1alpha1.Max, "min", *v.Min, "what is protected may be used")
	}
	v.High = new(w.Value())
}
