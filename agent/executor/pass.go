package executor

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
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
}

// change is a target whose value is not the wanted one.
type change struct {
	target
	path string
	choice
	// current is the canonical value that is there, content how the kernel wrote it.
	current, content string
	// restores is set when no owner wants the target; content to write is the original then.
	restores bool
	failed   bool
}

// look reads what is not known to be right, and collects what has to change.
func (p *pass) look(chosen map[target]choice) {
	for t, wanted := range chosen {
		h := p.executor.held[t]
		if h != nil && !h.inherited && h.value == wanted.value && p.now.Sub(h.verified) < verifyEvery {
			h.owner = wanted.owner
			continue
		}
		p.compare(t, h, wanted)
	}
	for t, h := range p.executor.held {
		if _, wanted := chosen[t]; !wanted {
			p.restore(t, h)
		}
	}
	slices.SortFunc(p.changes, func(a, b *change) int {
		return cmp.Or(cmp.Compare(a.depth(), b.depth()), cmp.Compare(a.cgroup, b.cgroup), cmp.Compare(a.setting.Rank(), b.setting.Rank()))
	})
}

// compare reads a target that an owner wants something of.
func (p *pass) compare(t target, h *holding, wanted choice) {
	path, current, content, err := p.read(t)
	switch {
	case files.IsGone(err):
		p.forget(t)
		return
	case err != nil:
		p.fail(wanted.owner, t, err)
		return
	}
	if h == nil {
		h = &holding{original: content, value: current}
		p.executor.held[t], p.executor.unsaved = h, true
	} else if !h.inherited && current != h.value && current != wanted.value {
		// Somebody else wrote since: that is what this file is without the agent.
		h.original, p.executor.unsaved = content, true
	}
	h.owner = wanted.owner
	if current == wanted.value {
		p.settle(h, current)
		return
	}
	p.changes = append(p.changes, &change{target: t, path: path, choice: wanted, current: current, content: content})
}

// restore gives back what no owner wants.
func (p *pass) restore(t target, h *holding) {
	path, current, content, err := p.read(t)
	original, decodeErr := t.setting.Decode(p.executor.options.Layout.Version, h.original)
	switch {
	case files.IsGone(err):
		p.forget(t)
	case err != nil || decodeErr != nil:
		p.fail(h.owner, t, errors.Join(err, decodeErr))
	case current == original || !h.inherited && current != h.value:
		p.forget(t) // it is what it was, or what somebody else wants
	default:
		p.changes = append(p.changes, &change{
			target: t, path: path, choice: choice{owner: h.owner, value: original, why: "no feature wants it any more"}, current: current,
			content: content, restores: true,
		})
	}
}

func (p *pass) read(t target) (path, current, content string, err error) {
	options := &p.executor.options
	path, has := options.Layout.Path(t.setting, t.cgroup)
	if !has {
		return "", "", "", errUnsupported
	}
	raw, err := options.Tree.Read(path, nil)
	if err != nil {
		return path, "", "", err
	}
	content = strings.TrimSpace(string(raw))
	current, err = t.setting.Decode(options.Layout.Version, content)
	return path, current, content, err
}

// errUnsupported is for settings that the kernel's version has no file for.
var errUnsupported = errors.New("this version of cgroups has no such setting")

// write goes down for what grows, and up for what shrinks.
func (p *pass) write(ctx context.Context) error {
	for _, c := range p.changes {
		if wider := c.setting.Join(c.current, c.value); c.setting.Looser(wider, c.current) {
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
		p.finish(c)
	}
	return nil
}

// set writes one value and tells the audit log.
func (p *pass) set(c *change, value string) {
	options := &p.executor.options
	content, err := c.setting.Encode(options.Layout.Version, value)
	if err == nil && c.restores && value == c.value {
		content = cmp.Or(p.executor.held[c.target].original, content) // to the letter, with what the value leaves out
	}
	if err == nil {
		err = options.Tree.Write(c.path, content)
	}
	entry := audit.Entry{Time: p.now, Owner: c.owner, Object: c.path, Old: c.current, New: value, Why: c.why}
	if err != nil {
		c.failed, entry.New, entry.Error = true, c.current, err.Error()
	}
	if !files.IsGone(err) {
		options.Audit.Add(entry)
	}
	switch {
	case files.IsGone(err):
		p.forget(c.target)
	case err != nil:
		p.fail(c.owner, c.target, err)
	default:
		c.current = value
		p.outcome.Writes++
	}
}

// finish records what a change came to.
func (p *pass) finish(c *change) {
	h := p.executor.held[c.target]
	switch {
	case h == nil:
	case c.restores && c.current == c.value:
		p.forget(c.target)
	default:
		p.settle(h, c.current)
		if c.failed {
			h.verified = time.Time{}
		}
	}
}

// settle notes that a value is there.
func (p *pass) settle(h *holding, value string) {
	h.value, h.verified, h.inherited = value, p.now, false
}

func (p *pass) forget(t target) {
	if _, held := p.executor.held[t]; held {
		delete(p.executor.held, t)
		p.executor.unsaved = true
	}
}

func (p *pass) fail(owner string, t target, err error) {
	p.outcome.Failures = append(p.outcome.Failures, Failure{Owner: owner, Setting: t.setting.Name, Cgroup: t.cgroup, Err: err})
}
