//go:build !linux

package state

import "testing"

func smallDisk(t *testing.T) (path string, limit int) {
	t.Skip("a small file system is mounted on Linux only")
	return "", 0
}
