package workload

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// lowest is the lowest of the priorities that come before all processes without one.
const lowest = 1

// ComeFirst lets every thread of this process run as soon as it can. Real clients send their requests from other machines; here they
// share its CPUs, and must not wait for the job as the service does. A nice value is not enough: a running task keeps its CPU for
// milliseconds. It takes root. Threads and processes that are made later are like those that make them where they inherit it, and as any
// other else.
func ComeFirst(inherit bool) error {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return fmt.Errorf("list the threads of this process: %w", err)
	}
	first := &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: lowest}
	if !inherit {
		first.Flags = unix.SCHED_FLAG_RESET_ON_FORK
	}
	for _, thread := range threads {
		id, err := strconv.Atoi(thread.Name())
		if err != nil {
			return fmt.Errorf("thread %q: %w", thread.Name(), err)
		}
		if err := unix.SchedSetAttr(id, first, 0); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("let thread %d come first, which takes root outside of control groups without real-time: %w", id, err)
		}
	}
	return nil
}
