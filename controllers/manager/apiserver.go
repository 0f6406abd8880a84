package manager

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

const (
	// answerTimeout is how long the API server may take to answer when it is asked whether it is there.
	answerTimeout = 5 * time.Second
	// retryInterval is how long to wait until an API server that is away is asked again.
	retryInterval = time.Second
	// probeHeaderTimeout is how long a probe may take to send its headers.
	probeHeaderTimeout = 5 * time.Second
)

// awaitAPIServer returns once the API server answers, whatever it answers, or ctx ends. The manager cannot be put together before:
// it asks which kinds are served. To end the process would not help, and would lose what was learned of its health: until then
// probes at an address are told that it lives and is not ready.
func awaitAPIServer(ctx context.Context, client rest.Interface, probes string) error {
	var why atomic.Pointer[string]
	close, err := serveProbes(ctx, probes, &why)
	if err != nil {
		return err
	}
	defer close()
	return untilAnswered(ctx, func(err error) {
		text := err.Error()
		why.Store(&text)
	}, func() error {
		ctx, cancel := context.WithTimeout(ctx, answerTimeout)
		defer cancel()
		return client.Get().AbsPath("/version").MaxRetries(0).Do(ctx).Error()
	})
}

// untilAnswered asks until the API server answers, or ctx ends, and returns the answer's error. It says in the log that it waits,
// and why whenever that changes.
func untilAnswered(ctx context.Context, failed func(error), ask func() error) error {
	told := ""
	for {
		err := ask()
		if !isAway(err) {
			if told != "" {
				klog.FromContext(ctx).Info("The API server answers")
			}
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		failed(err)
		if why := err.Error(); why != told {
			klog.FromContext(ctx).Error(err, "The API server does not answer; waiting for it", "every", retryInterval)
			told = why
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(retryInterval):
		}
	}
}

// isAway tells whether an error says that no API server answers, or one that is not ready to.
func isAway(err error) bool {
	var status apierrors.APIStatus
	var certificate *tls.CertificateVerificationError
	switch {
	case err == nil, errors.As(err, &certificate): // what verifies it is read when the process starts
		return false
	case errors.As(err, &status):
		return apierrors.IsServiceUnavailable(err) || apierrors.IsTooManyRequests(err) || apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err)
	}
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, context.DeadlineExceeded)
}

// serveProbes answers probes at an address, empty and 0 for none, until it is closed: the process lives, and is not ready.
func serveProbes(ctx context.Context, address string, why *atomic.Pointer[string]) (close func(), err error) {
	if address == "" || address == "0" {
		return func() {}, nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for probes: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) }) // a probe that went away needs none
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		text := "waiting for the API server"
		if reason := why.Load(); reason != nil {
			text += ", which does not answer: " + *reason
		}
		http.Error(w, text, http.StatusServiceUnavailable)
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: probeHeaderTimeout}
	ended := make(chan struct{})
	go func() {
		defer func() { ended <- struct{}{} }()
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			klog.FromContext(ctx).Error(err, "Probes are not served")
		}
	}()
	return func() {
		_ = server.Close() // nothing is in flight that matters
		<-ended
	}, nil
}
