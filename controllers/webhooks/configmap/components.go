package configmap

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"koordinator.sh/koord/api/configuration"
	decision "koordinator.sh/koord/decision/config/configuration"
	"koordinator.sh/koord/decision/scheduling/loadaware"
	"koordinator.sh/koord/decision/scheduling/schedulerconfig"
	"koordinator.sh/koord/source/objects"
)

// ComponentContext is a Handler's Context with what the ConfigMaps of the scheduler and of the descheduler in a namespace say at the
// moment of the write. What does not exist or cannot be read is no reason to hold up a change: then the defaults of load-aware scheduling
// count, and no descheduler.
func ComponentContext(live client.Reader, namespace string) func(context.Context) Context {
	return func(ctx context.Context) Context {
		scheduler, err := schedulerArgs(ctx, live, namespace)
		if err != nil {
			log.FromContext(ctx).Error(err, "Failed to read the scheduler configuration; assuming the defaults of LoadAwareScheduling")
		}
		descheduler, err := deschedulerThresholds(ctx, live, namespace)
		if err != nil {
			log.FromContext(ctx).Error(err, "Failed to read the descheduler configuration; its thresholds are not compared")
		}
		return Context{LoadAware: scheduler, Descheduler: descheduler}
	}
}

func schedulerArgs(ctx context.Context, live client.Reader, namespace string) (*loadaware.Args, error) {
	data, err := dataOf(ctx, live, namespace, configuration.SchedulerConfigMapName)
	if err != nil || data == nil {
		return nil, err
	}
	settings, err := schedulerconfig.Read(data)
	return settings.LoadAware, err
}

func deschedulerThresholds(ctx context.Context, live client.Reader, namespace string) ([]decision.Descheduler, error) {
	data, err := dataOf(ctx, live, namespace, configuration.DeschedulerConfigMapName)
	if err != nil || data == nil {
		return nil, err
	}
	read, err := objects.ReadDescheduler(data)
	if err != nil {
		return nil, err
	}
	return read.Thresholds(), nil
}

// dataOf a ConfigMap; nil when it does not exist.
func dataOf(ctx context.Context, live client.Reader, namespace, name string) (map[string]string, error) {
	var config corev1.ConfigMap
	err := live.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, &config)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get configmap %s/%s: %w", namespace, name, err)
	}
	return config.Data, nil
}
