package app

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/decision/descheduling/podorder"
	"koordinator.sh/koord/descheduler/arbitrator"
	"koordinator.sh/koord/descheduler/migration"
	"koordinator.sh/koord/descheduler/plugins/migrationcontroller"
)

// addMigration carries out PodMigrationJobs on the leader.
func addMigration(ctx context.Context, e *environment) error {
	return migration.Add(ctx, e.manager, migration.Options{
		Args: e.configured.migration, Retention: e.configured.retention, Client: e.client, Dynamic: e.dynamic, Informers: e.informers,
	})
}

// addArbitrator lets PodMigrationJobs start, within their limits, on the leader.
func addArbitrator(ctx context.Context, e *environment) error {
	pods := e.informers.Core().V1().Pods()
	a := arbitrator.New(arbitrator.Config{
		Client: e.manager.GetClient(), Live: e.manager.GetAPIReader(), Namespace: configuration.DefaultNamespace,
		Settings: e.arbitration(ctx),
		Pods: func(ctx context.Context, namespace string) ([]*corev1.Pod, error) {
			if !pods.Informer().HasSynced() {
				return nil, fmt.Errorf("list pods: the cache is not filled yet")
			}
			if namespace == "" {
				return pods.Lister().List(labels.Everything())
			}
			return pods.Lister().Pods(namespace).List(labels.Everything())
		},
		Order: func(a, b *corev1.Pod) int {
			first, second := podorder.Of(a), podorder.Of(b)
			return podorder.Compare(&first, &second)
		},
		Held: arbitrator.HeldByPasses(0),
		Log:  klog.Background().WithName("arbitrator"),
	})
	return e.manager.Add(a)
}

// arbitration returns what reads the settings in force. While they cannot be read, such as for the name of a PriorityClass that does not
// exist, no job starts.
func (e *environment) arbitration(ctx context.Context) func() arbitrator.Settings {
	return func() arbitrator.Settings {
		settings, err := arbitrator.SettingsOf(e.configured.migration(), migrationcontroller.Priorities(ctx, e.client))
		if err != nil {
			klog.FromContext(ctx).Error(err, "Failed to read the limits of migrations, no migration starts")
		}
		settings.DryRun = settings.DryRun || e.configured.current().DryRun || err != nil
		return settings
	}
}
