package program

import (
	"debug/elf"
	"fmt"
	"os"
	"slices"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// Release takes the pages of the program's own file out of this process's memory. Those that are needed are mapped again, from the
// page cache and without reading the disk, as soon as they are touched; what only starting needed, which is most of them, is
// not. Nothing that was written is touched, and so nothing that the dynamic linker wrote before it made that read-only.
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
	file, err := elf.Open("/proc/self/exe")
	if err != nil {
		return fmt.Errorf("read the segments of %s: %w", executable, err)
	}
	defer func() { _ = file.Close() }() // it was read
	for _, m := range mappings {
		if m.Pathname != executable || !isUnwritten(m, file.Progs) {
			continue
		}
		if _, _, errno := unix.Syscall(unix.SYS_MADVISE, m.StartAddr, m.EndAddr-m.StartAddr, unix.MADV_DONTNEED); errno != 0 {
			return fmt.Errorf("give back the pages of %s at %#x: %w", executable, m.StartAddr, errno)
		}
	}
	return nil
}

// isUnwritten is true for mappings that are as in the file. One that may not be written may have been: of a program that is linked with
// libraries, the linker fills the beginning of the writable segment with their addresses, and makes it read-only then.
func isUnwritten(m *procfs.ProcMap, segments []*elf.Prog) bool {
	if m.Perms.Write || !m.Perms.Private {
		return false
	}
	page := uint64(os.Getpagesize())
	return !slices.ContainsFunc(segments, func(s *elf.Prog) bool {
		at := uint64(m.Offset)
		return s.Type == elf.PT_LOAD && s.Flags&elf.PF_W != 0 && at >= s.Off/page*page && at < s.Off+s.Filesz
	})
}
