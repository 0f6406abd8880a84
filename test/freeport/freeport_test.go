package freeport

import (
	"net"
	"sync"
	"testing"
)

func TestPortsAreFreeAndGivenOnce(t *testing.T) {
	const count = 200
	ports := make(chan int, count)
	var wait sync.WaitGroup
	for range count {
		wait.Go(func() { ports <- Next(t) })
	}
	wait.Wait()
	close(ports)
	seen := map[int]bool{}
	for port := range ports {
		if seen[port] || port < first || port > last {
			t.Errorf("port %d was given twice, or is out of the range", port)
		}
		seen[port] = true
		listener, err := net.Listen("tcp", Address(port))
		if err != nil {
			t.Errorf("a port that is not free: %v", err)
			continue
		}
		_ = listener.Close() // nothing was written
	}
}
