// Package coreschedfake is an imitation of the kernel's core scheduling, for tests on machines without. It refuses what
// prctl(PR_SCHED_CORE) refuses, in the order in which the kernel checks.
package coreschedfake

import (
	"fmt"
	"maps"
	"sync"
	"syscall"

	"koordinator.sh/koord/agent/host/coresched"
)

// Kernel has threads with cookies. All methods may be called at the same time.
type Kernel struct {
	mu      sync.Mutex
	threads map[int]*thread
	next    uint64
	// missing is the error of a kernel that has no core scheduling.
	missing syscall.Errno
	// before is called before each call that changes something.
	before func(command coresched.Command, thread int)
	calls  int
}

type thread struct {
	process int
	cookie  uint64
	guarded bool
}

var _ coresched.Kernel = (*Kernel)(nil)

// New returns a kernel without threads.
func New() *Kernel { return &Kernel{threads: map[int]*thread{}, next: 0x1000} }

// Lack has every call fail: EINVAL without CONFIG_SCHED_CORE, ENODEV while no CPUs share a core; 0 ends that.
func (k *Kernel) Lack(err syscall.Errno) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.missing = err
}

// Start starts a process with threads, the first of which has the process's id.
func (k *Kernel) Start(process int, more ...int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, id := range append([]int{process}, more...) {
		k.threads[id] = &thread{process: process}
	}
}

// Fork makes a thread start another one with its cookie, in its process or as a new process.
func (k *Kernel) Fork(parent, child int, sameProcess bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	process := child
	if sameProcess {
		process = k.threads[parent].process
	}
	k.threads[child] = &thread{process: process, cookie: k.threads[parent].cookie}
}

// End ends a thread.
func (k *Kernel) End(id int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.threads, id)
}

// Guard has a thread refuse the agent, as one with more rights does.
func (k *Kernel) Guard(id int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.threads[id].guarded = true
}

// Choose makes a thread give itself a new cookie.
func (k *Kernel) Choose(id int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.next++
	k.threads[id].cookie = k.next
}

// Before has a function called before each call that changes something; nil ends that.
func (k *Kernel) Before(f func(command coresched.Command, thread int)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.before = f
}

// Cookies returns those of all threads that have one.
func (k *Kernel) Cookies() map[int]uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := map[int]uint64{}
	for id, thread := range k.threads {
		out[id] = thread.cookie
	}
	maps.DeleteFunc(out, func(_ int, cookie uint64) bool { return cookie == 0 })
	return out
}

// Changes counts the calls that changed something.
func (k *Kernel) Changes() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.calls
}

// Session implements coresched.Kernel.
func (k *Kernel) Session(work func(coresched.Caller) error) error {
	return work(&caller{kernel: k, self: &thread{}})
}

// Pin implements coresched.Kernel.
func (k *Kernel) Pin(id int) (func() bool, func(), error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	held := k.threads[id]
	if held == nil {
		return nil, nil, fmt.Errorf("hold thread %d: %w", id, syscall.ESRCH)
	}
	same := func() bool {
		k.mu.Lock()
		defer k.mu.Unlock()
		return k.threads[id] == held
	}
	return same, func() {}, nil
}

// caller is a thread of the agent's.
type caller struct {
	kernel *Kernel
	self   *thread
}

// Call implements coresched.Caller.
func (c *caller) Call(command coresched.Command, id int, scope coresched.Scope) (uint64, error) {
	k := c.kernel
	if command != coresched.Get {
		k.mu.Lock()
		before := k.before
		k.mu.Unlock()
		if before != nil {
			before(command, id)
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.missing != 0:
		return 0, k.missing
	case id < 0 || scope > coresched.Process || command > coresched.ShareFrom:
		return 0, syscall.EINVAL
	}
	task := c.self
	if id != 0 {
		task = k.threads[id]
	}
	switch {
	case task == nil:
		return 0, syscall.ESRCH
	case task.guarded:
		return 0, syscall.EPERM
	}
	return c.do(command, task, scope)
}

func (c *caller) do(command coresched.Command, task *thread, scope coresched.Scope) (uint64, error) {
	cookie := c.self.cookie
	switch command {
	case coresched.Get:
		if scope != coresched.Thread {
			return 0, syscall.EINVAL
		}
		return task.cookie, nil
	case coresched.ShareFrom:
		if scope != coresched.Thread {
			return 0, syscall.EINVAL
		}
		c.self.cookie = task.cookie
		return 0, nil
	case coresched.Create:
		c.kernel.next++
		cookie = c.kernel.next
	}
	c.kernel.calls++
	if scope == coresched.Thread {
		task.cookie = cookie
		return 0, nil
	}
	for _, other := range c.kernel.threads {
		if other.process == task.process && other.guarded {
			return 0, syscall.EPERM
		}
	}
	for _, other := range c.kernel.threads {
		if other.process == task.process {
			other.cookie = cookie
		}
	}
	return 0, nil
}
