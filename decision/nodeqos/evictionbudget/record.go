package evictionbudget

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Keys of the ConfigMap in which evictions are counted.
const (
	evictionsKey = "evictions"
	limitKey     = "limit"
)

// Record is what is remembered of evictions.
type Record struct {
	Evicted []Count
	// Limit is how many evictions within Window the last one that was admitted counted against; 0 where nothing was bounded.
	Limit int
}

// ParseRecord reads the data of a ConfigMap; that of a new one is empty.
func ParseRecord(data map[string]string) (Record, error) {
	var out Record
	if text := data[evictionsKey]; text != "" {
		if err := json.Unmarshal([]byte(text), &out.Evicted); err != nil {
			return Record{}, fmt.Errorf("read key %s: %w", evictionsKey, err)
		}
	}
	if text := data[limitKey]; text != "" {
		limit, err := strconv.Atoi(text)
		if err != nil || limit < 0 {
			return Record{}, fmt.Errorf("read key %s: %q is not a number of pods", limitKey, text)
		}
		out.Limit = limit
	}
	return out, nil
}

// Record is what a verdict has remembered.
func (v Verdict) Record() Record { return Record{Evicted: v.Evicted, Limit: v.Limit} }

// Data is a record as a ConfigMap has it.
func (r Record) Data() map[string]string {
	counts := r.Evicted
	if counts == nil {
		counts = []Count{}
	}
	text, _ := json.Marshal(counts) // times and numbers can always be encoded
	data := map[string]string{evictionsKey: string(text)}
	if r.Limit > 0 {
		data[limitKey] = strconv.Itoa(r.Limit)
	}
	return data
}

// Used is how many evictions there were within Window before a time, and UsedUp whether that is as many as are allowed.
func (r Record) Used(now time.Time) (used int, usedUp bool) {
	for _, c := range recent(r.Evicted, now) {
		used += c.Count
	}
	return used, r.Limit > 0 && used >= r.Limit
}
