package program

import (
	"fmt"
	"os"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// Release takes the pages of the program's own file out of this process's memory. Those that are needed are mapped again, from the
// page cache and without reading the disk, as soon as they are touched; what only starting needed, which is most of them, is
// not. Nothing that was written is touched: only mappings of the executable that are private and cannot be written.
func Release() error {
	executable, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return fmt.Errorf("find the program's own file: %w", err)
	}
	self, err := procfs.Self()
	if err != nil {
		return fmt.Errorf("find this process: %w", err)
	}
	mappings, err := self.ProcMaps()
	if err != nil {
		return fmt.Errorf("list the mappings of this process: %w", err)
	}
	for _, m := range mappings {
		if m.Pathname != executable || m.Perms.Write || !m.Perms.Private {
			continue
		}
		if _, _, errno := unix.Syscall(unix.SYS_MADVISE, m.StartAddr, m.EndAddr-m.StartAddr, unix.MADV_DONTNEED); errno != 0 {
			return fmt.Errorf("give back the pages of %s at %#x: %w", executable, m.StartAddr, errno)
		}
	}
	return nil
}
