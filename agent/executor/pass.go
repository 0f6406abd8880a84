package executor

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/host/files"
)

// pass is one Apply.
type pass struct {
	executor *Executor
	now      time.Time
	changes  []*change
	outcome  Outcome
	// failed is what could not be brought about.
	failed map[target]failureRecord
	// force has what was refused tried although it is not due.
	force bool
}

// change is a target whose value is not the wanted one.
type change struct {
	target
	choice
	// current is the canonical value that is there, content how the kernel wrote it.
	current, content string
	// restores is set when no owner wants the target; content to write is the original then.
	restores bool
	failed   bool
}

// compareAll reads what is not known to be right, and collects what has to change.
func (p *pass) compareAll(chosen map[target]choice) {
	for t, wanted := range chosen {
		h := p.executor.managed[t]
		if h != nil && !h.inherited && h.value == wanted.value && p.verified(h) {
			h.owner = wanted.owner
			continue
		}
		p.compare(t, h, wanted)
	}
	for t, h := range p.executor.managed {
		if _, wanted := chosen[t]; !wanted {
			p.restore(t, h)
		}
	}
	slices.SortFunc(p.changes, func(a, b *change) int {
		return cmp.Or(cmp.Compare(a.depth(), b.depth()), cmp.Compare(a.of, b.of), cmp.Compare(a.setting.Rank(), b.setting.Rank()),
			cmp.Compare(a.setting.Key(), b.setting.Key()))
	})
}

// verified reports whether a value was seen to be there not long ago. One that was seen in the future was timed by a clock that was set
// back since.
func (p *pass) verified(h *managedFile) bool {
	age := p.now.Sub(h.verified)
	return age >= 0 && age < verifyInterval
}

// skipUnsaved drops the changes of what the store has no original of: what cannot be given back after a crash is not written. What it
// has one of is enforced further. Files that are omitted are looked at as new ones the next time.
func (p *pass) skipUnsaved(why error) {
	p.changes = slices.DeleteFunc(p.changes, func(c *change) bool {
		h := p.executor.managed[c.target]
		if h == nil || h.saved {
			return false
		}
		delete(p.executor.managed, c.target)
		p.fail(c.owner, c.target, why)
		return true
	})
}

// failAll fails everything that is wanted.
func (p *pass) failAll(why error) {
	before := len(p.outcome.Failures)
	for t, wanted := range p.executor.chosen {
		p.fail(wanted.owner, t, why)
	}
	slices.SortFunc(p.outcome.Failures[before:], func(a, b Failure) int {
		return cmp.Or(cmp.Compare(a.Cgroup, b.Cgroup), cmp.Compare(a.Setting, b.Setting))
	})
}

// compare reads a target that an owner wants something of.
func (p *pass) compare(t target, h *managedFile, wanted choice) {
	current, content, err := p.read(t)
	switch {
	case files.IsGone(err):
		p.stopManaging(t)
		return
	case err != nil:
		p.fail(wanted.owner, t, err)
		return
	}
	if h == nil {
		h = &managedFile{original: content, value: current}
		if current == wanted.value {
			h.original = cmp.Or(wanted.inherited, content)
		}
		p.executor.managed[t], p.executor.dirty = h, true
	} else if !h.inherited && current != h.value && current != wanted.value {
		// Another process wrote since: that is what this file is without the agent.
		h.original, p.executor.dirty = content, true
	}
	h.owner = wanted.owner
	if current == wanted.value {
		p.markVerified(h, current)
		return
	}
	p.changes = append(p.changes, &change{target: t, choice: wanted, current: current, content: content})
}

// restore gives back what no owner wants.
func (p *pass) restore(t target, h *managedFile) {
	current, content, err := p.read(t)
	original, decodeErr := t.setting.Decode(p.executor.options.Layout.Version, h.original)
	switch {
	case files.IsGone(err):
		p.stopManaging(t)
	case err != nil || decodeErr != nil:
		p.fail(h.owner, t, errors.Join(err, decodeErr))
	case current == original || !h.inherited && current != h.value:
		p.stopManaging(t) // it is what it was, or what another writer wants
	default:
		p.changes = append(p.changes, &change{
			target: t, choice: choice{owner: h.owner, value: original, why: "no feature sets it any more"}, current: current,
			content: content, restores: true,
		})
	}
}

// read returns the canonical value of a target, and the target's part of the content.
func (p *pass) read(t target) (current, content string, err error) {
	options := &p.executor.options
	at, err := options.open(t)
	if err != nil {
		return "", "", err
	}
	defer at.close()
	raw, err := at.tree.Read(at.path, nil)
	if err != nil {
		return "", "", err
	}
	content = t.setting.Own(options.Layout.Version, string(raw))
	current, err = t.setting.Decode(options.Layout.Version, content)
	return current, content, err
}

// errUnsupported is for settings that the kernel's version has no file for.
var errUnsupported = errors.New("setting is not supported by this kernel and cgroup version")

// write goes down for what grows, and up for what shrinks. Where the context ends between, what was written until then is recorded, so
// that it is not taken for the value of another writer.
func (p *pass) write(ctx context.Context) error {
	defer p.finish()
	for _, c := range p.changes {
		wider := c.setting.Join(c.current, c.value)
		if p.clearsValue(c) {
			wider = c.value
		}
		if c.setting.Looser(wider, c.current) || p.clearsValue(c) {
			if err := ctx.Err(); err != nil {
				return context.Cause(ctx)
			}
			p.set(c, wider)
		}
	}
	for _, c := range slices.Backward(p.changes) {
		if c.current != c.value && !c.failed {
			if err := ctx.Err(); err != nil {
				return context.Cause(ctx)
			}
			p.set(c, c.value)
		}
	}
	return nil
}

// set writes one value and audits it.
func (p *pass) set(c *change, value string) {
	options := &p.executor.options
	h := p.executor.managed[c.target]
	if h != nil && !p.force && h.refusal.backsOff(value, p.now) {
		c.failed = true
		p.fail(c.owner, c.target, h.refusal.err)
		return
	}
	at, err := options.open(c.target)
	defer at.close()
	var content string
	if err == nil {
		content, err = c.setting.Encode(options.Layout.Version, value)
	}
	if err == nil && c.restores && value == c.value {
		content = cmp.Or(p.executor.managed[c.target].original, content) // to the letter, with what the value leaves out
	}
	if err == nil {
		err = at.tree.Write(at.path, content)
	}
	if instead, answer, tried := p.restoreNearest(c, at, err); tried {
		c.value, value, err = instead, instead, answer
	}
	entry := audit.Entry{Time: p.now, Owner: c.owner, Object: at.object, Old: c.current, New: value, Why: c.why}
	if err != nil {
		c.failed, entry.New, entry.Error = true, c.current, err.Error()
	}
	if !files.IsGone(err) && p.executor.managed[c.target].shouldAudit(value, entry.Error, p.now) {
		options.Audit.Add(entry)
	}
	switch {
	case files.IsGone(err):
		p.executor.addCounts(c.owner, WriteCounts{Vanished: 1})
		p.stopManaging(c.target)
	case err != nil:
		p.fail(c.owner, c.target, err)
	default:
		c.current = value
		p.outcome.Writes++
		p.executor.addCounts(c.owner, WriteCounts{Writes: 1})
	}
	if h != nil {
		h.recordRefusal(value, err, p.now)
	}
}

// finish records what changes came to. Those that failed are looked at in the next pass.
func (p *pass) finish() {
	for _, c := range p.changes {
		h := p.executor.managed[c.target]
		switch {
		case h == nil:
		case c.restores && c.current == c.value:
			p.stopManaging(c.target)
		default:
			p.markVerified(h, c.current)
			if c.failed {
				h.verified = time.Time{}
			}
		}
	}
}

// markVerified notes that a value is there.
func (p *pass) markVerified(h *managedFile, value string) {
	h.value, h.verified, h.inherited = value, p.now, false
}

func (p *pass) stopManaging(t target) {
	if _, held := p.executor.managed[t]; held {
		delete(p.executor.managed, t)
		p.executor.dirty = true
	}
}

func (p *pass) fail(owner string, t target, err error) {
	p.executor.addCounts(owner, WriteCounts{Refused: 1})
	if p.failed == nil {
		p.failed = map[target]failureRecord{}
	}
	p.failed[t] = failureRecord{since: p.now, err: err}
	p.outcome.Failures = append(p.outcome.Failures, Failure{Owner: owner, Setting: t.setting.Key(), Cgroup: t.of, Err: err})
}
