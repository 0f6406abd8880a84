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
// meanwhile, and whose number somebody else has, is left alone; should that happen between the look and the call, it is undone.
func (k *Keeper) change(at time.Time, in container, members []decision.Member, change decision.Change) error {
	same, release, err := k.options.Kernel.Pin(change.Thread)
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	if err != nil {
		return err
	}
	defer release()
	if !qos.Within(k.options.Proc, change.Thread, in.cgroup) {
		return nil
	}
	now, err := coresched.Cookies(k.options.Kernel, []int{change.Thread})
	if err != nil {
		return err
	}
	if cookie, runs := now[change.Thread]; !runs || change.Cookie && cookie != 0 && cookie == k.given[change.Group] {
		return nil // its process got it meanwhile
	}
	scope := coresched.Thread
	if slices.Contains(in.processes, change.Thread) && !in.own {
		scope = coresched.Process
	}
	cookie, err := k.apply(members, change, scope, pending{Group: change.Group, Thread: change.Thread, Cgroup: in.cgroup, Before: now[change.Thread]})
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	if !same() {
		err = errors.Join(err, k.undo(change.Thread, in.cgroup, cookie))
	}
	k.audit(at, in, change, now[change.Thread], cookie, err)
	if err != nil {
		return fmt.Errorf("give thread %d of %s its cookie: %w", change.Thread, in.name, err)
	}
	return nil
}

// apply does it by one of three ways, and returns the cookie that the thread has then.
func (k *Keeper) apply(members []decision.Member, change decision.Change, scope coresched.Scope, intent pending) (uint64, error) {
	kernel := k.options.Kernel
	if !change.Cookie {
		return 0, coresched.Clear(kernel, change.Thread, scope)
	}
	if cookie := k.given[change.Group]; cookie != 0 {
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
	k.pending = &intent
	if err := k.save(); err != nil {
		k.pending = nil
		return 0, err
	}
	cookie, err := coresched.New(kernel, change.Thread, scope)
	k.pending = nil
	if err != nil {
		return 0, errors.Join(err, k.save())
	}
	k.given[change.Group] = cookie
	holder(members, change, cookie)
	return cookie, k.save()
}

// holder notes that a thread has a cookie, so that others get theirs from it.
func holder(members []decision.Member, change decision.Change, cookie uint64) {
	threads := members[change.Member].Threads
	for i := range threads {
		if threads[i].ID == change.Thread {
			threads[i].Cookie = cookie
		}
	}
}

// undo takes the cookie from somebody else who has the thread's number now.
func (k *Keeper) undo(thread int, at string, cookie uint64) error {
	if qos.Within(k.options.Proc, thread, at) {
		return nil
	}
	now, err := coresched.Cookies(k.options.Kernel, []int{thread})
	if err != nil || cookie == 0 || now[thread] != cookie {
		return err
	}
	return coresched.Clear(k.options.Kernel, thread, coresched.Thread)
}

func (k *Keeper) audit(at time.Time, in container, change decision.Change, before, after uint64, err error) {
	entry := audit.Entry{
		Time: at, Owner: k.Name(), Object: fmt.Sprintf("core scheduling cookie of thread %d", change.Thread),
		Old: strconv.FormatUint(before, 16), New: strconv.FormatUint(after, 16), Why: fmt.Sprintf("%s of group %q: %s", in.name, change.Group, in.group.Reason),
	}
	if err != nil {
		entry.New, entry.Error = entry.Old, err.Error()
	}
	k.options.Audit.Add(entry)
}

// Release implements qos.Keeper: whatever process has a cookie that the agent gave out loses it, in a pod or not.
func (k *Keeper) Release(ctx context.Context) error {
	if len(k.given) == 0 {
		return nil
	}
	names, err := k.options.Proc.Directories(".")
	if err != nil {
		return fmt.Errorf("list processes: %w", err)
	}
	given := slices.Collect(maps.Values(k.given))
	var problems []error
	for _, name := range names {
		process, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		problems = append(problems, k.releaseProcess(process, given))
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("take cookies away: %w", err)
	}
	clear(k.given)
	return k.save()
}

// releaseProcess takes the cookies from the threads of a process.
func (k *Keeper) releaseProcess(process int, given []uint64) error {
	names, err := k.options.Proc.Directories(fmt.Sprintf("%d/task", process))
	if err != nil {
		return nil // it has ended
	}
	var threads []int
	for _, name := range names {
		if thread, err := strconv.Atoi(name); err == nil {
			threads = append(threads, thread)
		}
	}
	cookies, err := coresched.Cookies(k.options.Kernel, threads)
	if err != nil {
		return err
	}
	var problems []error
	cleared, taken := 0, uint64(0)
	for _, thread := range threads {
		if cookie := cookies[thread]; cookie == 0 || !slices.Contains(given, cookie) {
			continue
		}
		switch err := coresched.Clear(k.options.Kernel, thread, coresched.Thread); {
		case errors.Is(err, syscall.ESRCH): // it has ended
		case err != nil:
			problems = append(problems, fmt.Errorf("thread %d: %w", thread, err))
		default:
			cleared, taken = cleared+1, cookies[thread]
		}
	}
	err = errors.Join(problems...)
	if cleared > 0 || err != nil {
		k.auditRelease(process, cleared, taken, err)
	}
	return err
}

// auditRelease tells of all threads of a process at once.
func (k *Keeper) auditRelease(process, cleared int, cookie uint64, err error) {
	entry := audit.Entry{
		Time: k.options.Clock.Now(), Owner: k.Name(), Object: fmt.Sprintf("core scheduling cookie of %d threads of process %d", cleared, process),
		Old: strconv.FormatUint(cookie, 16), New: "0", Why: "no feature sets it any more",
	}
	if err != nil {
		entry.Error = err.Error()
	}
	k.options.Audit.Add(entry)
}
