//go:build race

package deviceshare

// racing is true under the race detector, which allocates by itself.
const racing = true
