//go:build !linux

package kubelet

func keepPrivate() error { return nil }
