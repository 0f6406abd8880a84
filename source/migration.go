package source

import (
	"context"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// MigrationForecaster is a source that says what the descheduler would move. Implementations are safe for concurrent use.
type MigrationForecaster interface {
	// ForecastMigrations runs the decisions of the descheduler's plugins for several rounds, the first of them now. Only the nodes and the
	// pods are indispensable.
	ForecastMigrations(ctx context.Context, rounds int) (*diagnosticsv1alpha1.MigrationForecast, error)
}

// EvictionExplainer is a source that says who could evict a pod. Implementations are safe for concurrent use.
type EvictionExplainer interface {
	// ExplainEviction says who could evict a pod now, and what protects it. Only the pod is indispensable.
	ExplainEviction(ctx context.Context, namespace, name string) (*diagnosticsv1alpha1.EvictionExplanation, error)
}

// MigrationJobLister is a source with PodMigrationJobs. Implementations are safe for concurrent use.
type MigrationJobLister interface {
	// MigrationJobs lists all jobs; a cluster that does not know the kind has none.
	MigrationJobs(ctx context.Context) ([]schedulingv1alpha1.PodMigrationJob, error)
}

// MigrationExplainer is a source that explains PodMigrationJobs. Implementations are safe for concurrent use.
type MigrationExplainer interface {
	// ExplainMigration says how far the job of a name is. Only the job is indispensable: what else cannot be seen, the answer names.
	// A name that does not exist is an error with code KOORD0003.
	ExplainMigration(ctx context.Context, name string) (*diagnosticsv1alpha1.MigrationExplanation, error)
}

// MigrationLister is a source that lists PodMigrationJobs. Implementations are safe for concurrent use.
type MigrationLister interface {
	// Migrations says of every job how far it is, ordered by name. Only the jobs are indispensable: what else cannot be seen, the answer
	// names, and the gates of the jobs that depend on it are absent.
	Migrations(ctx context.Context) (*Migrations, error)
}

// Migrations are all PodMigrationJobs.
type Migrations struct {
	// Items ordered by name. The other jobs are not counted in them.
	Items []diagnosticsv1alpha1.MigrationExplanation
	// Incomplete names what could not be read, and why; empty when the answer is whole.
	Incomplete []string
}
