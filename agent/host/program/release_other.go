//go:build !linux

package program

// Release does nothing where the kernel is not Linux.
func Release() error { return nil }
