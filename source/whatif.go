package source

import (
	"context"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// DrainQuery selects the nodes to drain.
type DrainQuery struct {
	// Names of nodes. A name that does not exist is an error with code KOORD0003.
	Names []string
	// LabelSelector in the syntax of kubectl -l, where there are no names. One that selects no node gives an answer without nodes.
	LabelSelector string
}

// DrainForecaster is a source that says what draining nodes does. Implementations are safe for concurrent use.
type DrainForecaster interface {
	// ForecastDrain says which pods leave, when PodDisruptionBudgets let them go, and which nodes they get. Only the nodes and the pods are
	// indispensable: without the scheduler, where pods go is unknown.
	ForecastDrain(ctx context.Context, query DrainQuery) (*diagnosticsv1alpha1.DrainForecast, error)
}
