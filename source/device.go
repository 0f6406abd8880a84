package source

import (
	"context"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// DeviceViewer is a source of overviews of the devices of nodes. Implementations are safe for concurrent use.
type DeviceViewer interface {
	// DeviceOverviews returns the devices of nodes with who holds them and what is free, ordered by the names of the nodes. Only the Devices
	// are indispensable. Where pods or Reservations cannot be seen, what is free is left out, and the answer says so.
	DeviceOverviews(ctx context.Context, query DeviceQuery) (*diagnosticsv1alpha1.DeviceOverviewList, error)
}

// DeviceQuery selects Devices; the zero value selects all.
type DeviceQuery struct {
	// Names of nodes to select; empty for all. A node without a Device is an error with code KOORD0003.
	Names []string
	// LabelSelector of Devices in the syntax of kubectl -l; empty for all.
	LabelSelector string
}
