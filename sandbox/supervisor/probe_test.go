package supervisor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"koordinator.sh/koord/sandbox/component"
	"koordinator.sh/koord/sandbox/pki"
	"koordinator.sh/koord/sandbox/process/processtest"
)

func TestAProbeIsAnsweredOverTLS(t *testing.T) {
	dir := newDir(t)
	bundle, err := pki.Ensure(dir, time.Now)
	processtest.Must(t, err)
	url := serveTLS(t, bundle, func(http.ResponseWriter, *http.Request) {})
	tests := map[string]struct {
		probe   component.Probe
		wantErr error
	}{
		"as a component probes etcd":        {component.Probe{URL: url, CAFile: bundle.EtcdCAFile, Client: bundle.EtcdClient}, nil},
		"whoever signed the server":         {component.Probe{URL: url, Client: bundle.EtcdClient}, nil},
		"a server of another authority":     {component.Probe{URL: url, CAFile: bundle.CAFile, Client: bundle.EtcdClient}, context.DeadlineExceeded},
		"without a certificate":             {component.Probe{URL: url, CAFile: bundle.EtcdCAFile}, context.DeadlineExceeded},
		"with another authority's":          {component.Probe{URL: url, CAFile: bundle.EtcdCAFile, Client: bundle.Client("admin")}, context.DeadlineExceeded},
		"where nobody listens":              {component.Probe{URL: "https://" + freeAddress()}, context.DeadlineExceeded},
		"without the authority's file":      {component.Probe{URL: url, CAFile: "/missing/ca.crt"}, os.ErrNotExist},
		"without the certificate's file":    {component.Probe{URL: url, Client: pki.Pair{CertFile: "/missing/c", KeyFile: "/missing/k"}}, os.ErrNotExist},
		"at an address that makes no sense": {component.Probe{URL: "https://127.0.0.1:port"}, context.DeadlineExceeded},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			patience := 20 * time.Second
			if tc.wantErr != nil {
				patience = 50 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if err := awaitProbe(ctx, tc.probe); !errors.Is(err, tc.wantErr) {
				t.Errorf("awaitProbe() = %v; want %v", err, tc.wantErr)
			}
		})
	}
}

func TestAProbeWaitsForOK(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) < 3 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(server.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := awaitProbe(ctx, component.Probe{URL: server.URL}); err != nil || asked.Load() != 3 {
		t.Errorf("awaitProbe() = %v after %d questions; want 3", err, asked.Load())
	}
}

// serveTLS serves as etcd does: with its certificate, for clients of its authority.
func serveTLS(t *testing.T, bundle *pki.Bundle, handler http.HandlerFunc) string {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(bundle.EtcdServer.CertFile, bundle.EtcdServer.KeyFile)
	processtest.Must(t, err)
	authority, err := os.ReadFile(bundle.EtcdCAFile)
	processtest.Must(t, err)
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(authority)
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{
		Certificates: []tls.Certificate{pair}, ClientCAs: clients, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12,
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL
}
