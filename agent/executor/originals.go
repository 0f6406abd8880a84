package executor

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// record is a holding as the store has it.
type record struct {
	Setting  string `json:"setting"`
	Cgroup   string `json:"cgroup"`
	Original string `json:"original"`
	Owner    string `json:"owner"`
}

// load takes over what an earlier executor held. What it wrote last is not kept, so that a value that changes every second costs
// no checkpoint: whatever is found there counts as its own.
func (e *Executor) load() error {
	var records []record
	if _, err := e.options.Originals.Load(&records); err != nil {
		return fmt.Errorf("restore what was there before the agent: %w", err)
	}
	for _, r := range records {
		setting, known := keyed(r.Setting)
		if !known {
			continue // of another version, which restores it when it returns
		}
		e.held[target{setting, r.Cgroup}] = &holding{original: r.Original, owner: r.Owner, inherited: true, kept: true}
	}
	return nil
}

// save keeps the holdings when they are others than the store has. Where that fails it is tried again after a while, unless it
// insists; meanwhile the same error is returned.
func (e *Executor) save(now time.Time, insists bool) error {
	if !e.unsaved {
		return nil
	}
	if age := now.Sub(e.failedAt); e.unkept != nil && !insists && age >= 0 && age < keepEvery {
		return e.unkept
	}
	records := make([]record, 0, len(e.held))
	for t, h := range e.held {
		records = append(records, record{Setting: t.setting.Key(), Cgroup: t.of, Original: h.original, Owner: h.owner})
	}
	slices.SortFunc(records, func(a, b record) int {
		return cmp.Or(cmp.Compare(a.Cgroup, b.Cgroup), cmp.Compare(a.Setting, b.Setting))
	})
	if err := e.options.Originals.Save(records); err != nil {
		e.unkept, e.failedAt = fmt.Errorf("keep what was there before the agent: %w", err), now
		return e.unkept
	}
	for _, h := range e.held {
		h.kept = true
	}
	e.unsaved, e.unkept = false, nil
	return nil
}
