package executor

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"koordinator.sh/koord/api/finding"
)

// record is a managed file as it is stored.
type record struct {
	Setting  string `json:"setting"`
	Cgroup   string `json:"cgroup"`
	Original string `json:"original"`
	Owner    string `json:"owner"`
	// Boot is the machine's in which the original was there; empty where it could not be read.
	Boot string `json:"boot,omitempty"`
}

// hintLoadErr says what to do about a store that cannot be read.
const hintLoadErr = "put the file back as it was; or drain and restart the node and remove the file"

// load takes over what an earlier executor held. The last written value is not stored, so that a value that changes every second needs
// no checkpoint: whatever load finds in the file counts as the executor's own. Originals from before a reboot are not restored. Where
// the store cannot be read nothing is managed, and loadErr says why.
func (e *Executor) load(now time.Time) {
	var records []record
	if _, err := e.options.Originals.Load(&records); err != nil {
		e.loadErr, e.storeFailedAt = finding.Wrap(fmt.Errorf("read saved original values: %w", err), finding.OriginalsDamaged, hintLoadErr), now
		return
	}
	e.loadErr = nil
	for _, r := range records {
		setting, known := settingByKey(r.Setting)
		switch {
		case r.Boot != e.bootID && r.Boot != "" && e.bootID != "":
			e.dirty = true
		case !known && r.Setting != "":
			e.unknownRecords = append(e.unknownRecords, r) // of another version, which restores it when it returns
		case known:
			e.managed[target{setting, r.Cgroup}] = &managedFile{original: r.Original, owner: r.Owner, inherited: true, saved: true}
		}
	}
}

// reload loads a store that could not be read, after a while or with force, and returns why it still cannot.
func (e *Executor) reload(now time.Time, force bool) error {
	if e.loadErr != nil && e.due(now, force) {
		e.load(now)
	}
	return e.loadErr
}

// due reports whether a store that failed is to be tried again.
func (e *Executor) due(now time.Time, force bool) bool {
	age := now.Sub(e.storeFailedAt)
	return force || age < 0 || age >= saveRetryInterval
}

// save stores the managed files when they changed. Where that fails it is tried again after a while, or at once with
// force; meanwhile the same error is returned.
func (e *Executor) save(now time.Time, force bool) error {
	if !e.dirty {
		return nil
	}
	if e.saveErr != nil && !e.due(now, force) {
		return e.saveErr
	}
	records := append(make([]record, 0, len(e.unknownRecords)+len(e.managed)), e.unknownRecords...)
	for t, h := range e.managed {
		records = append(records, record{Setting: t.setting.Key(), Cgroup: t.of, Original: h.original, Owner: h.owner, Boot: e.bootID})
	}
	slices.SortFunc(records, func(a, b record) int {
		return cmp.Or(cmp.Compare(a.Cgroup, b.Cgroup), cmp.Compare(a.Setting, b.Setting))
	})
	if err := e.options.Originals.Save(records); err != nil {
		e.saveErr, e.storeFailedAt = fmt.Errorf("save original values: %w", err), now
		return e.saveErr
	}
	for _, h := range e.managed {
		h.saved = true
	}
	e.dirty, e.saveErr = false, nil
	return nil
}
