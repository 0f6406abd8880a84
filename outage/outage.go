// Package outage waits for an unavailable API server. A process that needs it during startup would exit with an error,
// restart and exit again, with an ever longer back-off.
package outage

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
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
)

// Await returns once the API server responds, with any response, or ctx ends. It calls failed with the error of every failed attempt.
func Await(ctx context.Context, client rest.Interface, failed func(error)) error {
	err := Until(ctx, failed, func() error {
		ctx, cancel := context.WithTimeout(ctx, answerTimeout)
		defer cancel()
		return client.Get().AbsPath("/version").MaxRetries(0).Do(ctx).Error()
	})
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return nil // it is there; missing permissions are reported when they are used
	}
	return err
}

// Until calls ask until the API server responds, or ctx ends, and returns the error of the response. It logs that it waits, and why
// when the reason changes.
func Until(ctx context.Context, failed func(error), ask func() error) error {
	lastLogged := ""
	for {
		err := ask()
		if !IsAway(err) {
			if lastLogged != "" {
				klog.FromContext(ctx).Info("The API server is reachable again")
			}
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if failed != nil {
			failed(err)
		}
		if why := err.Error(); why != lastLogged {
			klog.FromContext(ctx).Error(err, "The API server is unreachable; waiting for it", "retryInterval", retryInterval)
			lastLogged = why
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(retryInterval):
		}
	}
}

// IsAway reports whether an error means that the API server does not respond or is not ready.
func IsAway(err error) bool {
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
