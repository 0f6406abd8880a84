package state

import (
	"errors"
	"net"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPortsAreKeptBetweenRuns(t *testing.T) {
	dir := create(t, t.TempDir(), "demo")
	first := ensurePorts(t, dir, 0)
	seen := map[int]bool{}
	for _, port := range first.all() {
		if *port < firstPort || *port >= lastPort || seen[*port] {
			t.Errorf("port %d may be that of an outgoing connection, or is given twice: %+v", *port, first)
		}
		seen[*port] = true
	}
	if diff := cmp.Diff(first, ensurePorts(t, dir, 0)); diff != "" {
		t.Errorf("ports of the second run (-first +second):\n%s", diff)
	}
	stored, err := dir.ReadPorts()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, stored); diff != "" {
		t.Errorf("ReadPorts() (-want +got):\n%s", diff)
	}
}

func TestPortsAreFreeOnceReturned(t *testing.T) {
	ports := ensurePorts(t, create(t, t.TempDir(), "demo"), 0)
	for _, port := range ports.all() {
		occupy(t, *port)
	}
}

func TestAPortTakenMeanwhileIsReplaced(t *testing.T) {
	dir := create(t, t.TempDir(), "demo")
	first := ensurePorts(t, dir, 0)
	occupy(t, first.EtcdPeer)
	occupy(t, first.APIServer)
	second := ensurePorts(t, dir, 0)
	if second.EtcdPeer == first.EtcdPeer || second.APIServer == first.APIServer {
		t.Errorf("ports %+v; want others than %+v for etcd's peers and the API server", second, first)
	}
	second.EtcdPeer, second.APIServer = first.EtcdPeer, first.APIServer
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("the other ports changed too (-first +second):\n%s", diff)
	}
}

func TestAWantedPort(t *testing.T) {
	dir := create(t, t.TempDir(), "demo")
	first := ensurePorts(t, dir, 0)

	t.Run("is taken by another program", func(t *testing.T) {
		wanted := occupy(t, 0)
		_, err := dir.EnsurePorts(wanted)
		var taken *PortTakenError
		if !errors.As(err, &taken) || taken.Port != wanted || errors.Unwrap(err) == nil {
			t.Fatalf("EnsurePorts(%d) = %v; want a PortTakenError with its reason", wanted, err)
		}
		if stored, err := dir.ReadPorts(); err != nil || stored != first {
			t.Errorf("ReadPorts() = %+v, %v; want what it was before", stored, err)
		}
	})
	t.Run("was another component's", func(t *testing.T) {
		got := ensurePorts(t, dir, first.Scheduler)
		if got.APIServer != first.Scheduler || got.Scheduler == first.Scheduler {
			t.Errorf("EnsurePorts(%d) = %+v; want the API server to have it and the scheduler another", first.Scheduler, got)
		}
		if again := ensurePorts(t, dir, 0); again != got {
			t.Errorf("EnsurePorts(0) = %+v; want %+v as before", again, got)
		}
	})
}

func TestPortsThatCannotBeStored(t *testing.T) {
	dir := Open(t.TempDir(), "never-created")
	if _, err := dir.EnsurePorts(0); !says(err, "write ports.json: ") {
		t.Errorf("EnsurePorts() = %v; want an error that names the file", err)
	}
}

func ensurePorts(t *testing.T, dir Dir, wanted int) Ports {
	t.Helper()
	ports, err := dir.EnsurePorts(wanted)
	if err != nil {
		t.Fatal(err)
	}
	return ports
}

// occupy listens on a port, 0 for any, until the test ends.
func occupy(t *testing.T, port int) int {
	t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener.Addr().(*net.TCPAddr).Port
}
