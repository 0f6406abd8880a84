package coresched

import (
	"errors"
	"syscall"
)

// Command is what prctl is to do.
type Command int

// The commands, as the kernel numbers them.
const (
	// Get reads the cookie of a thread; 0 is none.
	Get Command = iota
	// Create gives threads a new cookie.
	Create
	// ShareTo gives threads the cookie of the calling thread.
	ShareTo
	// ShareFrom gives the calling thread the cookie of a thread.
	ShareFrom
)

// Scope is who a command is for.
type Scope int

// The scopes, as the kernel numbers them.
const (
	// Thread is one thread, by its id.
	Thread Scope = iota
	// Process is all threads of the process that the thread belongs to.
	Process
)

// Caller is a thread that calls the kernel.
type Caller interface {
	// Call does a command for a thread, or its process, by the thread's id; 0 is the caller itself. The result is a cookie for
	// Get. Errors are the kernel's: EINVAL where it has no core scheduling, ENODEV where no cores are shared, ESRCH, EPERM, ENOMEM.
	Call(command Command, thread int, scope Scope) (uint64, error)
}

// Kernel lends threads that call it.
type Kernel interface {
	// Session runs a function on a separate thread, whose cookie no other thread inherits.
	Session(func(Caller) error) error
	// Pin returns whether the thread with an id is still the one that it was when Pin was called, to be asked later. The second
	// function releases it. ESRCH says that there is no such thread.
	Pin(thread int) (same func() bool, release func(), err error)
}

// Supported says why there is no core scheduling; nil where there is.
func Supported(kernel Kernel) error {
	err := kernel.Session(func(caller Caller) error {
		_, err := caller.Call(Get, 0, Thread)
		return err
	})
	switch {
	case errors.Is(err, syscall.EINVAL):
		return errors.New("this kernel has no core scheduling")
	case errors.Is(err, syscall.ENODEV):
		return errors.New("no two CPUs of this machine share a core")
	}
	return err
}

// Cookies reads the cookies of threads, 0 for none. Threads that have ended are left out, and so are those that the agent may
// not look at.
func Cookies(kernel Kernel, threads []int) (map[int]uint64, error) {
	out := map[int]uint64{}
	err := kernel.Session(func(caller Caller) error {
		for _, thread := range threads {
			cookie, err := caller.Call(Get, thread, Thread)
			switch {
			case err == nil:
				out[thread] = cookie
			case !errors.Is(err, syscall.ESRCH) && !errors.Is(err, syscall.EPERM):
				return err
			}
		}
		return nil
	})
	return out, err
}

// New gives a thread or a process a new cookie, and returns it.
func New(kernel Kernel, thread int, scope Scope) (cookie uint64, err error) {
	err = kernel.Session(func(caller Caller) error {
		if _, err := caller.Call(Create, thread, scope); err != nil {
			return err
		}
		cookie, err = caller.Call(Get, thread, Thread)
		return err
	})
	return cookie, err
}

// ErrOtherCookie says that the thread to copy from has another cookie than it should.
var ErrOtherCookie = errors.New("the thread to copy from has another cookie")

// Copy gives a thread or a process the cookie of another thread, which must be the given one: a thread may end, and another one
// have its id.
func Copy(kernel Kernel, cookie uint64, from, to int, scope Scope) error {
	return kernel.Session(func(caller Caller) error {
		if _, err := caller.Call(ShareFrom, from, Thread); err != nil {
			return err
		}
		taken, err := caller.Call(Get, 0, Thread)
		if err != nil {
			return err
		}
		if taken != cookie {
			return ErrOtherCookie
		}
		_, err = caller.Call(ShareTo, to, scope)
		return err
	})
}

// Clear takes the cookie from a thread or a process. The session's own thread must have none, which it has not unless somebody
// gave the agent one.
func Clear(kernel Kernel, thread int, scope Scope) error {
	return kernel.Session(func(caller Caller) error {
		own, err := caller.Call(Get, 0, Thread)
		if err != nil {
			return err
		}
		if own != 0 {
			return errors.New("the agent has a cookie itself: it cannot take those of others away")
		}
		_, err = caller.Call(ShareTo, thread, scope)
		return err
	})
}
