package manager

import (
	"context"
	"fmt"
	"net"

	"k8s.io/client-go/rest"

	"koordinator.sh/koord/outage"
)

// awaitAPIServer returns once the API server answers, or ctx ends: the manager cannot be assembled before, because it checks which
// kinds are served. Meanwhile probes at an address, none for empty and 0, see it alive and not ready.
func awaitAPIServer(ctx context.Context, client rest.Interface, address string) error {
	if address == "" || address == "0" {
		return outage.Await(ctx, client, nil)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listen for probes: %w", err)
	}
	probes := outage.Serve(listener)
	defer probes.Close()
	return outage.Await(ctx, client, probes.Failed)
}
