package processtest

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"koordinator.sh/koord/sandbox/control"
	"koordinator.sh/koord/sandbox/state"
)

// Supervised is the directory that a supervisor was started for; the process ends where it was called in another way.
func Supervised() state.Dir {
	if len(os.Args) != 3 || os.Args[1] != "supervise" {
		fmt.Println("called with", os.Args[1:])
		os.Exit(9)
	}
	return state.At(os.Args[2])
}

// Supervise answers as the supervisor of a sandbox without processes, until it is asked to stop.
func Supervise(dir state.Dir, status func() *control.Status) error {
	if err := control.MakeSocketDir(dir); err != nil {
		return err
	}
	listener, err := net.Listen("unix", control.SocketPath(dir))
	if err != nil {
		return err
	}
	stop := make(chan struct{})
	stopOnce := sync.OnceFunc(func() { close(stop) })
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(status()) })
	mux.HandleFunc("POST /stop", func(http.ResponseWriter, *http.Request) { stopOnce() })
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Second}
	go func() { _ = server.Serve(listener) }()
	select {
	case <-stop:
	case <-time.After(life):
	}
	return server.Shutdown(context.Background())
}

// Answer plays a supervisor inside the test: one status after the other, the last one for ever. At one that is nil it
// breaks off.
func Answer(t *testing.T, dir state.Dir, statuses ...*control.Status) {
	t.Helper()
	Must(t, control.MakeSocketDir(dir))
	listener, err := net.Listen("unix", control.SocketPath(dir))
	Must(t, err)
	var mu sync.Mutex
	server := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		status := statuses[0]
		if len(statuses) > 1 {
			statuses = statuses[1:]
		}
		if status == nil {
			panic(http.ErrAbortHandler)
		}
		_ = json.NewEncoder(w).Encode(status)
	})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener)
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
}
