package copilot

import (
	"encoding/json"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
)

// fakeScheduler is the agent of a scheduler, on a unix socket.
type fakeScheduler struct {
	socket string

	mu sync.Mutex
	// name and containers that it answers; answer replaces the containers by something else.
	name       string
	containers []Container
	answer     func(http.ResponseWriter, *http.Request)
	// killed are the IDs that were asked for, and refuse the status that answers them; 0 is that it does.
	killed []string
	refuse int
}

func startScheduler(t *testing.T, name string, containers ...Container) *fakeScheduler {
	t.Helper()
	s := &fakeScheduler{name: name, containers: containers, socket: filepath.Join(t.TempDir(), "agent.sock")}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", s.socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: s, ReadHeaderTimeout: listTimeout}
	go func() { _ = server.Serve(listener) }() // ends with Close
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *fakeScheduler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r.URL.Path {
	case PathInformation:
		_ = json.NewEncoder(w).Encode(Information{Name: s.name, Version: "v1"})
	case PathContainers:
		if s.answer != nil {
			s.answer(w, r)
			return
		}
		_ = json.NewEncoder(w).Encode(ContainerList{Containers: s.containers})
	case PathKillContainer:
		var request KillRequest
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if s.refuse != 0 {
			http.Error(w, "not that one", s.refuse)
			return
		}
		s.killed = append(s.killed, request.ContainerID)
	}
}

func (s *fakeScheduler) set(change func(*fakeScheduler)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}
