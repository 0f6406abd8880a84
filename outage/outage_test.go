package outage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// flakyServer is an API server that answers only while it is well. It may refuse or drop what it is asked.
type flakyServer struct {
	*httptest.Server
	well atomic.Bool
}

func newFlakyServer(t *testing.T, unwell http.HandlerFunc) *flakyServer {
	t.Helper()
	s := &flakyServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.well.Load() {
			unwell(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"major":"1","minor":"36"}`)
	}))
	t.Cleanup(s.Close)
	return s
}

// drop ends a connection without an answer, as an API server that is killed does.
func drop(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// hang does not answer before the client gives up.
func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func unavailable(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "starting", http.StatusServiceUnavailable)
}

func (s *flakyServer) client(t *testing.T) rest.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(&rest.Config{Host: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	return client.Discovery().RESTClient()
}

// freeAddress is one without a listener.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

func probe(address, path string) (int, string, error) {
	response, err := http.Get("http://" + address + path)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), err
}

func awaitWithProbes(t *testing.T, client rest.Interface, address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	probes := Serve(listener)
	defer probes.Close()
	return Await(t.Context(), client, probes.Failed)
}

func TestTheStartWaitsForAnAPIServer(t *testing.T) {
	for name, unwell := range map[string]http.HandlerFunc{"that drops connections": drop, "that hangs": hang, "that is not ready": unavailable} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, address := newFlakyServer(t, unwell), freeAddress(t)
			ended := make(chan error, 1)
			go func() { ended <- awaitWithProbes(t, server.client(t), address) }()
			deadline := time.After(30 * time.Second)
			for said := false; !said; { // until it says why it waits
				select {
				case err := <-ended:
					t.Fatalf("it did not wait: %v", err)
				case <-deadline:
					t.Fatal("/readyz does not say why it waits")
				case <-time.After(50 * time.Millisecond):
				}
				code, text, err := probe(address, "/readyz")
				said = err == nil && code == http.StatusServiceUnavailable && strings.Contains(text, "waiting for the API server: ")
			}
			if code, _, err := probe(address, "/healthz"); err != nil || code != http.StatusOK {
				t.Errorf("/healthz answers %d, %v; the process lives", code, err)
			}
			server.well.Store(true)
			select {
			case err := <-ended:
				if err != nil {
					t.Fatal(err)
				}
			case <-time.After(30 * time.Second):
				t.Fatal("it waits although the API server answers")
			}
			listener, err := net.Listen("tcp", address)
			if err != nil {
				t.Fatalf("the address of the probes is not free for the manager: %v", err)
			}
			_ = listener.Close()
		})
	}
}

func TestAnAnswerIsAnAnswer(t *testing.T) {
	server := newFlakyServer(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "who are you", http.StatusUnauthorized) })
	if err := Await(t.Context(), server.client(t), nil); err != nil {
		t.Errorf("an API server that knows nobody is taken for one that is away: %v", err)
	}
}

func TestTheWaitEndsWithTheProcess(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := newFlakyServer(t, drop)
	ended := make(chan error, 1)
	go func() { ended <- Await(ctx, server.client(t), nil) }()
	cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want that of the context", err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it waits although the process is to end")
	}
}

func TestIsAway(t *testing.T) {
	_, refused := http.Get("http://" + freeAddress(t))
	secured := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secured.Close)
	_, untrusted := http.Get(secured.URL)
	discovery := &apiutil.ErrResourceDiscoveryFailed{{Group: "apps", Version: "v1"}: refused}
	tests := map[string]struct {
		err  error
		want bool
	}{
		"an answer":                      {nil, false},
		"no connection":                  {refused, true},
		"no connection, in a discovery":  {fmt.Errorf("find the kind: %w", discovery), true},
		"no answer in time":              {context.DeadlineExceeded, true},
		"not ready":                      {apierrors.NewServiceUnavailable("starting"), true},
		"overloaded":                     {apierrors.NewTooManyRequestsError("later"), true},
		"forbidden":                      {apierrors.NewForbidden(schema.GroupResource{}, "", nil), false},
		"unauthorized":                   {apierrors.NewUnauthorized("who"), false},
		"a kind that is not served":      {&meta.NoKindMatchError{}, false},
		"a certificate of somebody else": {untrusted, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := IsAway(tc.err); got != tc.want {
				t.Errorf("IsAway(%v) = %t, want %t", tc.err, got, tc.want)
			}
		})
	}
}
