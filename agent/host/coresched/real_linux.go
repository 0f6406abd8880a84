package coresched

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"

	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/host/process"
)

// Real is the kernel that runs.
type Real struct {
	// Proc is the tree at /proc.
	Proc files.FS
}

var _ Kernel = Real{}

// Session implements Kernel. The thread ends with the goroutine that it is locked to, so that no thread has its cookie afterwards;
// meanwhile Go starts no threads from one that is locked.
func (Real) Session(work func(Caller) error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked
		done <- work(prctl{})
	}()
	return <-done
}

// prctl is the calling thread.
type prctl struct{}

// Call implements Caller.
func (prctl) Call(command Command, thread int, scope Scope) (uint64, error) {
	var cookie uint64
	var errno unix.Errno
	if command == Get { // the address is made in the call: the runtime may move what it points to before
		_, _, errno = unix.Syscall6(unix.SYS_PRCTL, unix.PR_SCHED_CORE, uintptr(command), uintptr(thread), uintptr(scope), uintptr(unsafe.Pointer(&cookie)), 0)
	} else {
		_, _, errno = unix.Syscall6(unix.SYS_PRCTL, unix.PR_SCHED_CORE, uintptr(command), uintptr(thread), uintptr(scope), 0, 0)
	}
	if errno != 0 {
		return 0, errno
	}
	return cookie, nil
}

// pidfdThread is PIDFD_THREAD of Linux 6.9: the thread itself and not its process.
const pidfdThread = unix.O_EXCL

// Pin implements Kernel by a pidfd, which shows when its thread has ended: until then no other thread has the id. On kernels that have
// none for threads it is the time at which the thread was started.
func (r Real) Pin(thread int) (func() bool, func(), error) {
	fd, err := unix.PidfdOpen(thread, pidfdThread)
	switch {
	case err == nil:
	case errors.Is(err, unix.ESRCH):
		return nil, nil, fmt.Errorf("hold thread %d: %w", thread, err)
	default:
		return r.pinByStart(thread)
	}
	same := func() bool {
		polled := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}} // readable once it has ended
		n, err := unix.Poll(polled, 0)
		return err == nil && n == 0
	}
	return same, func() { _ = unix.Close(fd) }, nil // nothing was written
}

func (r Real) pinByStart(thread int) (func() bool, func(), error) {
	before, err := r.started(thread)
	if err != nil {
		return nil, nil, fmt.Errorf("hold thread %d: %w", thread, err)
	}
	same := func() bool {
		after, err := r.started(thread)
		return err == nil && after == before
	}
	return same, func() {}, nil
}

// started is when a thread was started, in clock ticks since the machine was.
func (r Real) started(thread int) (uint64, error) {
	content, err := r.Proc.Read(fmt.Sprintf("%d/stat", thread), nil)
	if files.IsGone(err) {
		return 0, unix.ESRCH
	}
	if err != nil {
		return 0, err
	}
	return process.StartOf(string(content))
}
