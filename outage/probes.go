package outage

import (
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"k8s.io/klog/v2"
)

// probeHeaderTimeout is how long a probe may take to send its headers.
const probeHeaderTimeout = 5 * time.Second

// Probes answers the probes of a process that waits for the API server: it lives, and is not ready.
type Probes struct {
	why    atomic.Pointer[string]
	server *http.Server
	ended  chan struct{}
}

// Serve answers probes that come in by a listener, which it closes in the end.
func Serve(listener net.Listener) *Probes {
	p := &Probes{ended: make(chan struct{})}
	mux := http.NewServeMux()
	for _, path := range []string{"/healthz", "/livez"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) }) // a probe that went away needs none
	}
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		text := "waiting for the API server"
		if reason := p.why.Load(); reason != nil {
			text += ": " + *reason
		}
		http.Error(w, text, http.StatusServiceUnavailable)
	})
	p.server = &http.Server{Handler: mux, ReadHeaderTimeout: probeHeaderTimeout}
	go func() {
		defer close(p.ended)
		if err := p.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			klog.ErrorS(err, "Failed to serve probes")
		}
	}()
	return p
}

// Failed takes the error of an attempt to reach the API server for what /readyz says.
func (p *Probes) Failed(err error) {
	why := err.Error()
	p.why.Store(&why)
}

// Close ends it; the address is free then.
func (p *Probes) Close() {
	_ = p.server.Close() // nothing is in flight that matters
	<-p.ended
}
