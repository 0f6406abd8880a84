package supervisor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"time"

	"koordinator.sh/koord/sandbox/component"
)

const (
	probeInterval = 100 * time.Millisecond
	probeTimeout  = 2 * time.Second
)

// awaitProbe asks until the component answers 200 OK or ctx ends.
func awaitProbe(ctx context.Context, probe component.Probe) error {
	client, err := probeClient(probe)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	tick := time.NewTicker(probeInterval)
	defer tick.Stop()
	for {
		if answersOK(ctx, client, probe.URL) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func answersOK(ctx context.Context, client *http.Client, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	return response.Body.Close() == nil && response.StatusCode == http.StatusOK
}

func probeClient(probe component.Probe) (*http.Client, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if probe.Client.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(probe.Client.CertFile, probe.Client.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("load the probe's certificate: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	if probe.CAFile != "" {
		data, err := os.ReadFile(probe.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read the probe's certificate authority: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		config.RootCAs.AppendCertsFromPEM(data)
	} else {
		config.InsecureSkipVerify = true // a self-signed server on loopback, asked only whether it is up
	}
	return &http.Client{Timeout: probeTimeout, Transport: &http.Transport{TLSClientConfig: config}}, nil
}
