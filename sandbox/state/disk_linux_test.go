package state

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
)

// smallDisk mounts a file system of so many bytes.
func smallDisk(t *testing.T) (path string, limit int) {
	t.Helper()
	path, limit = t.TempDir(), 64<<10
	if err := syscall.Mount("koord-test", path, "tmpfs", 0, fmt.Sprintf("size=%d", limit)); err != nil {
		t.Skipf("a small file system cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(path, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return path, limit
}

func TestCheckSpaceOnASmallDisk(t *testing.T) {
	path, limit := smallDisk(t)
	err := At(path).CheckSpace()
	var full *DiskFullError
	if !errors.As(err, &full) {
		t.Fatalf("CheckSpace() = %v; want a DiskFullError", err)
	}
	if full.Path != path || full.FreeBytes > uint64(limit) {
		t.Errorf("DiskFullError = %+v; want path %q and at most %d bytes", full, path, limit)
	}
	if !says(err, fmt.Sprintf("use directory %q: 0 MiB free, 512 MiB needed", path)) {
		t.Errorf("CheckSpace() = %v; want the directory, what is free and what is needed", err)
	}
}
