package source

import (
	"context"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// DryRunner is a source that can ask the API server whether a fix would be carried out. Implementations are safe for concurrent use.
type DryRunner interface {
	// DryRun sends the requests of a fix for a pod of the namespace as server-side dry runs, which pass through authorization,
	// validation and admission and change nothing, and notes the answers in the fix. A fix that is refused is no longer verified.
	// A fix without requests stays as it is.
	DryRun(ctx context.Context, namespace string, fix *diagnosticsv1alpha1.Fix)
}
