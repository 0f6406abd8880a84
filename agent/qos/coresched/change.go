package coresched

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"syscall"
	"time"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/host/coresched"
	"koordinator.sh/koord/agent/qos"
	decision "koordinator.sh/koord/decision/nodeqos/coresched"
)

// change gives a thread the cookie of its group, or takes it away. The thread is held before it is looked at: one that has ended
// meanwhile, and whose number another thread has, is left alone; should that happen between reading and the call, it is undone.
func (r *Reconciler) change(at time.Time, in container, members []decision.Member, change decision.Change) error {
	same, release, err := r.options.Kernel.Pin(change.Thread)
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	if err != nil {
		return err
	}
	defer release()
	if !qos.Within(r.options.Proc, change.Thread, in.cgroup) {
		return nil
	}
	now, err := coresched.Cookies(r.options.Kernel, []int{change.Thread})
	if err != nil {
		return err
	}
	if cookie, runs := now[change.Thread]; !runs || change.Cookie && cookie != 0 && cookie == r.assigned[change.Group] {
		return nil // its process got it meanwhile
	}
	scope := coresched.Thread
	if slices.Contains(in.processes, change.Thread) && !in.hasOwnCookie {
		scope = coresched.Process
	}
	cookie, err := r.apply(members, change, scope, pending{Group: change.Group, Thread: change.Thread, Cgroup: in.cgroup, Before: now[change.Thread]})
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	if !same() {
		err = errors.Join(err, r.undo(change.Thread, in.cgroup, cookie))
	}
	r.audit(at, in, change, now[change.Thread], cookie, err)
	if err != nil {
		return fmt.Errorf("give thread %d of %s its cookie: %w", change.Thread, in.name, err)
	}
	return nil
}

// apply does it by one of three ways, and returns the cookie that the thread has then.
func (r *Reconciler) apply(members []decision.Member, change decision.Change, scope coresched.Scope, intent pending) (uint64, error) {
	kernel := r.options.Kernel
	if !change.Cookie {
		return 0, coresched.Clear(kernel, change.Thread, scope)
	}
	if cookie := r.assigned[change.Group]; cookie != 0 {
		for _, member := range members {
			for _, thread := range member.Threads {
				if thread.Cookie != cookie {
					continue
				}
				err := coresched.Copy(kernel, cookie, thread.ID, change.Thread, scope)
				if err == nil {
					return cookie, nil
				}
				if !errors.Is(err, coresched.ErrOtherCookie) && !errors.Is(err, syscall.ESRCH) {
					return 0, err
				}
			}
		}
	}
	r.pending = &intent
	if err := r.save(); err != nil {
		r.pending = nil
		return 0, err
	}
	cookie, err := coresched.New(kernel, change.Thread, scope)
	r.pending = nil
	if err != nil {
		return 0, errors.Join(err, r.save())
	}
	r.assigned[change.Group] = cookie
	markHolder(members, change, cookie)
	return cookie, r.save()
}

// markHolder notes that a thread has a cookie, so that others get theirs from it.
func markHolder(members []decision.Member, change decision.Change, cookie uint64) {
	threads := members[change.Member].Threads
	for i := range threads {
		if threads[i].ID == change.Thread {
			threads[i].Cookie = cookie
		}
	}
}

// undo takes the cookie from another thread that has the thread's number now.
func (r *Reconciler) undo(thread int, at string, cookie uint64) error {
	if qos.Within(r.options.Proc, thread, at) {
		return nil
	}
	now, err := coresched.Cookies(r.options.Kernel, []int{thread})
	if err != nil || cookie == 0 || now[thread] != cookie {
		return err
	}
	return coresched.Clear(r.options.Kernel, thread, coresched.Thread)
}

func (r *Reconciler) audit(at time.Time, in container, change decision.Change, before, after uint64, err error) {
	entry := audit.Entry{
		Time: at, Owner: r.Name(), Object: fmt.Sprintf("core scheduling cookie of thread %d", change.Thread),
		Old: strconv.FormatUint(before, 16), New: strconv.FormatUint(after, 16), Why: fmt.Sprintf("%s of group %q: %s", in.name, change.Group, in.group.Reason),
	}
	if err != nil {
		entry.New, entry.Error = entry.Old, err.Error()
	}
	r.options.Audit.Add(entry)
}

// Restore implements qos.Reconciler: whatever process has a cookie that the agent gave out loses it, in a pod or not.
func (r *Reconciler) Restore(ctx context.Context) error {
	if len(r.assigned) == 0 {
		return nil
	}
	names, err := r.options.Proc.Directories(".")
	if err != nil {
		return fmt.Errorf("list processes: %w", err)
	}
	given := slices.Collect(maps.Values(r.assigned))
	var problems []error
	for _, name := range names {
		process, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		problems = append(problems, r.clearProcess(process, given))
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("take cookies away: %w", err)
	}
	clear(r.assigned)
	return r.save()
}

// clearProcess takes the cookies from the threads of a process.
func (r *Reconciler) clearProcess(process int, given []uint64) error {
	names, err := r.options.Proc.Directories(fmt.Sprintf("%d/task", process))
	if err != nil {
		return nil // it has ended
	}
	var threads []int
	for _, name := range names {
		if thread, err := strconv.Atoi(name); err == nil {
			threads = append(threads, thread)
		}
	}
	cookies, err := coresched.Cookies(r.options.Kernel, threads)
	if err != nil {
		return err
	}
	var problems []error
	cleared, taken := 0, uint64(0)
	for _, thread := range threads {
		if cookie := cookies[thread]; cookie == 0 || !slices.Contains(given, cookie) {
			continue
		}
		switch err := coresched.Clear(r.options.Kernel, thread, coresched.Thread); {
		case errors.Is(err, syscall.ESRCH): // it has ended
		case err != nil:
			problems = append(problems, fmt.Errorf("thread %d: %w", thread, err))
		default:
			cleared, taken = cleared+1, cookies[thread]
		}
	}
	err = errors.Join(problems...)
	if cleared > 0 || err != nil {
		r.auditClear(process, cleared, taken, err)
	}
	return err
}

// auditClear audits all threads of a process at once.
func (r *Reconciler) auditClear(process, cleared int, cookie uint64, err error) {
	entry := audit.Entry{
		Time: r.options.Clock.Now(), Owner: r.Name(), Object: fmt.Sprintf("core scheduling cookie of %d threads of process %d", cleared, process),
		Old: strconv.FormatUint(cookie, 16), New: "0", Why: "no feature sets it any more",
	}
	if err != nil {
		entry.Error = err.Error()
	}
	r.options.Audit.Add(entry)
}
