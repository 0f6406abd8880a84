package source

import (
	"context"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// MigrationExplainer is a source that explains PodMigrationJobs. Implementations are safe for concurrent use.
type MigrationExplainer interface {
	// ExplainMigration says how far the job of a name is. Only the job is indispensable: what else cannot be seen, the answer names.
	// A name that does not exist is an error with code KOORD0003.
	ExplainMigration(ctx context.Context, name string) (*diagnosticsv1alpha1.MigrationExplanation, error)
}
