package configmap

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/decision/scheduling/schedulerconfig"
)

// SchedulerContext is a Handler's Context with the arguments that the scheduler's ConfigMap in a namespace gives to load-aware
// scheduling, as it is at the moment of the write. Where there is none, or it cannot be read, their defaults count, which is
// no reason to hold up a change.
func SchedulerContext(live client.Reader, namespace string) func(context.Context) Context {
	return func(ctx context.Context) Context {
		var config corev1.ConfigMap
		err := live.Get(ctx, types.NamespacedName{Namespace: namespace, Name: configuration.SchedulerConfigMapName}, &config)
		if apierrors.IsNotFound(err) {
			return Context{}
		}
		var settings schedulerconfig.Settings
		if err == nil {
			settings, err = schedulerconfig.Read(config.Data)
		}
		if err != nil {
			log.FromContext(ctx).Error(err, "Failed to read the scheduler configuration; assuming the defaults of LoadAwareScheduling")
		}
		return Context{LoadAware: settings.LoadAware}
	}
}
