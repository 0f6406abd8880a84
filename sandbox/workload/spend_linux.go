package workload

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// spend uses so much CPU time on the calling thread, however long it takes to get it.
func spend(amount time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for end := threadTime() + amount; threadTime() < end; {
		work()
	}
}

// threadTime is the CPU time that the calling thread has used.
func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return time.Duration(time.Now().UnixNano())
	}
	return time.Duration(t.Nano())
}
