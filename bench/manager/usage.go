package main

import (
	"context"
	"fmt"
	"time"

	"koordinator.sh/koord/bench/controlplane"
	"koordinator.sh/koord/bench/exposition"
	"koordinator.sh/koord/bench/koordmanager"
	"koordinator.sh/koord/sandbox/pki"
)

const (
	systemNamespace = pki.Namespace
	// waitTimeout bounds waits for what has to come.
	waitTimeout = 10 * time.Minute
)

// koordManager is a koord-manager that runs, with its control plane.
type koordManager struct {
	*koordmanager.Manager
	plane *controlplane.ControlPlane
}

// startManager runs koord-manager on a control plane where the system is installed.
func startManager(ctx context.Context, plane *controlplane.ControlPlane, program string, ports koordmanager.Ports) (*koordManager, error) {
	started, err := koordmanager.Start(ctx, plane, program, ports)
	if err != nil {
		return nil, err
	}
	return &koordManager{started, plane}, nil
}

// usage is what has been used so far.
type usage struct {
	// cpu of koord-manager, and that of the API server and etcd together.
	cpu, controlPlane time.Duration
	// requests of koord-manager to the API server.
	requests float64
}

func (m *koordManager) usage(ctx context.Context) (usage, error) {
	const requests = "rest_client_requests_total"
	read, err := exposition.Scrape(ctx, m.Metrics, requests)
	if err != nil {
		return usage{}, fmt.Errorf("read the metrics of koord-manager: %w\n%s", err, m.Tail())
	}
	used := usage{requests: read.Sum(requests)}
	if used.cpu, err = m.CPU(); err != nil {
		return usage{}, err
	}
	used.controlPlane, err = m.plane.CPU()
	return used, err
}

func (u usage) minus(before usage) usage {
	return usage{u.cpu - before.cpu, u.controlPlane - before.controlPlane, u.requests - before.requests}
}

func (u usage) plus(more usage) usage {
	return usage{u.cpu + more.cpu, u.controlPlane + more.controlPlane, u.requests + more.requests}
}
