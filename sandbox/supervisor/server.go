package supervisor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"time"

	"k8s.io/klog/v2"

	"koordinator.sh/koord/sandbox/control"
)

// server answers koordctl on the sandbox's socket.
type server struct {
	http *http.Server
	done chan struct{}
}

// listen opens the socket, for the owner alone, and serves it until close.
func (s *Supervisor) listen() (*server, error) {
	path := control.SocketPath(s.dir)
	if err := control.MakeSocketDir(s.dir); err != nil {
		return nil, err
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen on the sandbox's socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("protect the sandbox's socket: %w", err), listener.Close())
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", s.serveStatus)
	mux.HandleFunc("POST /stop", s.serveStop)
	srv := &server{
		http: &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second},
		done: make(chan struct{}),
	}
	go func() {
		defer close(srv.done)
		if err := srv.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			klog.ErrorS(err, "Failed to serve the socket of the sandbox")
		}
	}()
	return srv, nil
}

func (s *Supervisor) serveStatus(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(s.Status()); err != nil {
		klog.V(2).InfoS("Failed to send the status", "err", err)
	}
}

func (s *Supervisor) serveStop(http.ResponseWriter, *http.Request) {
	s.setPhase(control.Stopping)
	s.stop()
}

// close ends the server and removes the socket.
func (srv *server) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	err := srv.http.Shutdown(ctx)
	<-srv.done
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
