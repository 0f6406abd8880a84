package integration

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/util/flowcontrol"

	"koordinator.sh/koord/test/sandboxtest"
)

// throttle answers requests beyond a rate, watches among them, as an API server does whose seats are taken: with status 429 and
// Retry-After. It is safe for concurrent use.
type throttle struct {
	http.RoundTripper

	mutex sync.Mutex
	// limiter says which requests are sent on; nil sends all.
	limiter flowcontrol.PassiveRateLimiter
	refused int
	// bound counts the bindings that succeeded, by path.
	bound map[string]int
}

// startThrottle starts a proxy that throttles, and returns a kubeconfig that leads through it.
func startThrottle(t *testing.T) (between *throttle, middle *proxy, kubeconfig string) {
	t.Helper()
	middle, kubeconfig = startProxy(t)
	between = &throttle{RoundTripper: middle.forward.Transport, bound: map[string]int{}}
	middle.forward.Transport = between
	return between, middle, kubeconfig
}

// limit begins to refuse requests; nil ends that.
func (h *throttle) limit(limiter flowcontrol.PassiveRateLimiter) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.limiter = limiter
}

func (h *throttle) accepts() bool {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.limiter == nil || h.limiter.TryAccept() {
		return true
	}
	h.refused++
	return false
}

// RoundTrip sends a request on or refuses it. Leases have separate seats, by the chart's FlowSchema.
func (h *throttle) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.Contains(r.URL.Path, "/leases/") && !h.accepts() {
		if r.Body != nil {
			_ = r.Body.Close() // it is not read
		}
		return &http.Response{
			Status: "429 Too Many Requests", StatusCode: http.StatusTooManyRequests, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
			Header: http.Header{"Retry-After": {"1"}, "Content-Type": {"text/plain; charset=utf-8"}},
			Body:   io.NopCloser(strings.NewReader("Too many requests, please try again later.")),
		}, nil
	}
	response, err := h.RoundTripper.RoundTrip(r)
	if err == nil && r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/binding") && response.StatusCode < http.StatusMultipleChoices {
		h.mutex.Lock()
		h.bound[r.URL.Path]++
		h.mutex.Unlock()
	}
	return response, err
}

// awaitRefused waits until so many more requests were refused.
func (h *throttle) awaitRefused(t *testing.T, more int) {
	t.Helper()
	before := h.count()
	sandboxtest.Eventually(t, patience, func() error {
		if got := h.count() - before; got < more {
			return fmt.Errorf("%d requests were refused, want %d", got, more)
		}
		return nil
	})
}

func (h *throttle) count() int {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.refused
}

// bindings are how often each binding succeeded, by path.
func (h *throttle) bindings() map[string]int {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return maps.Clone(h.bound)
}
