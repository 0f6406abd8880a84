//go:build race

package device

// racing is true under the race detector, which allocates by itself.
const racing = true
