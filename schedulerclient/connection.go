package schedulerclient

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"k8s.io/client-go/rest"
)

// addresses resolves the endpoint to HOST:PORT pairs, the one that answered last in front.
func (c *Client) addresses(ctx context.Context) ([]string, error) {
	hosts := []string{c.endpoint.Hostname()}
	if net.ParseIP(hosts[0]) == nil {
		found, err := c.lookup(ctx, hosts[0])
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s has no address", hosts[0])
		}
		hosts = found
	}
	addresses := make([]string, len(hosts))
	for i, host := range hosts {
		addresses[i] = net.JoinHostPort(host, c.endpoint.Port())
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if i := slices.Index(addresses, c.last); i > 0 {
		addresses[0], addresses[i] = addresses[i], addresses[0]
	}
	for address, client := range c.clients {
		if !slices.Contains(addresses, address) {
			client.CloseIdleConnections()
			delete(c.clients, address)
		}
	}
	return addresses, nil
}

func (c *Client) remember(address string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.last = address
}

// client returns the client of one address. All are replaced when the trusted certificates change.
func (c *Client) client(address string) (*http.Client, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	bundle := c.bundle()
	if len(bundle) == 0 {
		return nil, errors.New("the CA certificates for koord-scheduler are not available yet")
	}
	if !bytes.Equal(bundle, c.trusted) {
		for _, client := range c.clients {
			client.CloseIdleConnections()
		}
		clear(c.clients)
		c.trusted = bundle
	}
	if client, ok := c.clients[address]; ok {
		return client, nil
	}
	client, err := newClient(c.config, bundle, address)
	if err == nil {
		c.clients[address] = client
	}
	return client, err
}

// newClient returns a client that connects to the address whatever host a URL names; certificates are verified against
// that host.
func newClient(config *rest.Config, bundle []byte, address string) (*http.Client, error) {
	config = rest.CopyConfig(config)
	config.TLSClientConfig.CAData = bundle
	config.TLSClientConfig.CAFile = ""
	config.TLSClientConfig.Insecure = false
	config.TLSClientConfig.ServerName = ""
	tlsConfig, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, fmt.Errorf("prepare TLS: %w", err)
	}
	dialer := &net.Dialer{Timeout: dialTimeout}
	transport, err := rest.HTTPWrappersForConfig(config, &http.Transport{
		TLSClientConfig:     tlsConfig,
		TLSHandshakeTimeout: dialTimeout,
		IdleConnTimeout:     30 * time.Second,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, address)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("prepare credentials: %w", err)
	}
	return &http.Client{Transport: transport}, nil
}
