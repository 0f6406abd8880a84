package executor

import (
	"cmp"
	"fmt"
	"slices"

	"koordinator.sh/koord/agent/host/cgroup"
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
		setting, known := cgroup.Named(r.Setting)
		if !known {
			continue // of another version, which restores it when it returns
		}
		e.held[target{setting, r.Cgroup}] = &holding{original: r.Original, owner: r.Owner, inherited: true}
	}
	return nil
}

// save keeps the holdings when they are others than the store has.
func (e *Executor) save() error {
	if !e.unsaved {
		return nil
	}
	records := make([]record, 0, len(e.held))
	for t, h := range e.held {
		records = append(records, record{Setting: t.setting.Name, Cgroup: t.cgroup, Original: h.original, Owner: h.owner})
	}
	slices.SortFunc(records, func(a, b record) int {
		return cmp.Or(cmp.Compare(a.Cgroup, b.Cgroup), cmp.Compare(a.Setting, b.Setting))
	})
	if err := e.options.Originals.Save(records); err != nil {
		return fmt.Errorf("keep what was there before the agent: %w", err)
	}
	e.unsaved = false
	return nil
}
