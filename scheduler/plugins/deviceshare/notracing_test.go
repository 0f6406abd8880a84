//go:build !race

package deviceshare

const racing = false
