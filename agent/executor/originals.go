package executor

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"koordinator.sh/koord/api/finding"
)

// record is a holding as the store has it.
type record struct {
	Setting  string `json:"setting"`
	Cgroup   string `json:"cgroup"`
	Original string `json:"original"`
	Owner    string `json:"owner"`
	// Boot is the machine's in which the original was there; empty where that could not be told.
	Boot string `json:"boot,omitempty"`
}

// hintUnread says what to do about a store that cannot be read.
const hintUnread = "put the file back as it was; or drain and restart the node and remove the file"

// load takes over what an earlier executor held. What it wrote last is not kept, so that a value that changes every second costs
// no checkpoint: whatever is found there counts as its own. What a machine had before it was started anew is nothing to go back to.
// Where the store cannot be read nothing is held, and unread says why.
func (e *Executor) load(now time.Time) {
	var records []record
	if _, err := e.options.Originals.Load(&records); err != nil {
		e.unread, e.failedAt = finding.Wrap(fmt.Errorf("read what was there before the agent: %w", err), finding.OriginalsDamaged, hintUnread), now
		return
	}
	e.unread = nil
	for _, r := range records {
		setting, known := keyed(r.Setting)
		switch {
		case r.Boot != e.boot && r.Boot != "" && e.boot != "":
			e.unsaved = true
		case !known && r.Setting != "":
			e.foreign = append(e.foreign, r) // of another version, which restores it when it returns
		case known:
			e.held[target{setting, r.Cgroup}] = &holding{original: r.Original, owner: r.Owner, inherited: true, kept: true}
		}
	}
}

// reload loads a store that could not be read, after a while or when it insists, and returns why it still cannot.
func (e *Executor) reload(now time.Time, insists bool) error {
	if e.unread != nil && e.due(now, insists) {
		e.load(now)
	}
	return e.unread
}

// due tells whether a store that failed is to be tried again.
func (e *Executor) due(now time.Time, insists bool) bool {
	age := now.Sub(e.failedAt)
	return insists || age < 0 || age >= keepEvery
}

// save keeps the holdings when they are others than the store has. Where that fails it is tried again after a while, unless it
// insists; meanwhile the same error is returned.
func (e *Executor) save(now time.Time, insists bool) error {
	if !e.unsaved {
		return nil
	}
	if e.unkept != nil && !e.due(now, insists) {
		return e.unkept
	}
	records := append(make([]record, 0, len(e.foreign)+len(e.held)), e.foreign...)
	for t, h := range e.held {
		records = append(records, record{Setting: t.setting.Key(), Cgroup: t.of, Original: h.original, Owner: h.owner, Boot: e.boot})
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
