package nri

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"runtime/pprof"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/net/multiplex"
	"github.com/containerd/ttrpc"
	clocktesting "k8s.io/utils/clock/testing"

	"koordinator.sh/koord/test/eventually"
)

// halfRuntime takes the registration of plugins, and goes no further.
type halfRuntime struct{ registered chan struct{} }

// RegisterPlugin implements api.RuntimeService.
func (h halfRuntime) RegisterPlugin(context.Context, *api.RegisterPluginRequest) (*api.Empty, error) {
	h.registered <- struct{}{}
	return &api.Empty{}, nil
}

// UpdateContainers implements api.RuntimeService.
func (halfRuntime) UpdateContainers(context.Context, *api.UpdateContainersRequest) (*api.UpdateContainersResponse, error) {
	return &api.UpdateContainersResponse{}, nil
}

// serve one connection, which is returned when a plugin has registered.
func (h halfRuntime) serve(t *testing.T, socket string) <-chan net.Conn {
	t.Helper()
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	taken := make(chan net.Conn, 1)
	go func() {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		t.Cleanup(func() { _ = connection.Close() })
		services, err := multiplex.Multiplex(connection).Listen(multiplex.RuntimeServiceConn)
		if err != nil {
			return
		}
		server, err := ttrpc.NewServer()
		if err != nil {
			return
		}
		api.RegisterRuntimeService(server, h)
		go func() { _ = server.Serve(context.Background(), services) }() // until the connection ends
		<-h.registered
		taken <- connection
	}()
	return taken
}

func TestARuntimeThatDoesNotTakeThePluginIsNotWaitedForEver(t *testing.T) {
	for name, end := range map[string]func(cancel func(), connection net.Conn){
		"when it ends the connection": func(_ func(), connection net.Conn) { _ = connection.Close() },
		"when the agent ends":         func(cancel func(), _ net.Conn) { cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			directory, err := os.MkdirTemp("", "nri") // the paths of sockets must be short
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(directory) })
			socket, clock := filepath.Join(directory, "n.sock"), clocktesting.NewFakeClock(time.Now())
			taken := halfRuntime{registered: make(chan struct{}, 1)}.serve(t, socket)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() { ended <- connect(ctx, Options{Socket: socket, Clock: clock}) }()
			connection := <-taken
			eventually.True(t, "the library waits to be configured", func() bool {
				stacks := goroutines()
				return bytes.Contains(stacks, []byte("stub.(*stub).Start")) && !bytes.Contains(stacks, []byte("stub.(*stub).register"))
			})
			end(cancel, connection)
			eventually.True(t, "the connection is given up", func() bool {
				if clock.HasWaiters() {
					clock.Step(lastMoment)
				}
				return len(ended) > 0
			})
			if err := <-ended; err == nil {
				t.Error("it ends without an error")
			}
			eventually.True(t, "the library waits no longer", func() bool { return !bytes.Contains(goroutines(), []byte("nri/pkg/stub.(*stub)")) })
		})
	}
}

// goroutines are the stacks of all.
func goroutines() []byte {
	var out bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&out, 1) // a buffer takes everything
	return out.Bytes()
}
