//go:build !race

package device

const racing = false
