//go:build !linux

package workload

// ComeFirst does nothing here: pods run on this machine only where it is Linux.
func ComeFirst(bool) error { return nil }
