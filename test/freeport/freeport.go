// Package freeport finds ports for processes that a test starts.
package freeport

import (
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
)

// The range is below the ports that Linux gives to connections by default (net.ipv4.ip_local_port_range): one of those may be taken between
// the time it is found free and the time a process listens there.
const first, last = 12_000, 31_999

var (
	mu    sync.Mutex
	given = map[int]bool{}
)

// Next returns a port of 127.0.0.1 that nothing listens on and that this process was not given before. It is safe for concurrent use.
func Next(t testing.TB) int {
	t.Helper()
	mu.Lock()
	defer mu.Unlock()
	for range last - first {
		port := first + rand.IntN(last-first+1)
		if given[port] {
			continue
		}
		listener, err := net.Listen("tcp", Address(port))
		if err != nil {
			continue // somebody else's
		}
		_ = listener.Close() // so that a process can listen there
		given[port] = true
		return port
	}
	t.Fatalf("no port of %d to %d is free", first, last)
	return 0
}

// Address is a port of 127.0.0.1 with its host.
func Address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
