package migrationcontroller

import (
	"context"

	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/descheduler/pkg/api"
	"sigs.k8s.io/descheduler/pkg/utils"

	"koordinator.sh/koord/decision/descheduling/evictability"
	"koordinator.sh/koord/decision/descheduling/migration"
	"koordinator.sh/koord/descheduler/arbitrator"
)

// Policy is which pods may be evicted by the arguments. The priority of a PriorityClass is read from the cluster.
func Policy(ctx context.Context, client kubernetes.Interface, args *migration.Args) (evictability.Policy, error) {
	return arbitrator.PolicyOf(args, Priorities(ctx, client))
}

// Priorities looks up the value of a PriorityClass in the cluster.
func Priorities(ctx context.Context, client kubernetes.Interface) func(class string) (int32, error) {
	return func(class string) (int32, error) {
		return utils.GetPriorityValueFromPriorityThreshold(ctx, client, &api.PriorityThreshold{Name: class})
	}
}
