package app

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	kubeconfig "k8s.io/kubernetes/cmd/kube-scheduler/app/config"

	quotacontroller "koordinator.sh/koord/scheduler/plugins/elasticquota/controller"
)

// controllerQPS bounds the requests of the controllers, which must not slow down binding: they have a client of their own.
const controllerQPS, controllerBurst = 50, 100

// leaderWork are the controllers that write what plugins decided, apart from pods.
func leaderWork(completed *kubeconfig.CompletedConfig, common *shared) ([]func(context.Context), error) {
	config := rest.CopyConfig(completed.KubeConfig)
	config.QPS, config.Burst = controllerQPS, controllerBurst
	pods, err := kubernetes.NewForConfig(rest.AddUserAgent(config, "scheduler-controllers"))
	if err != nil {
		return nil, fmt.Errorf("create a client for the controllers: %w", err)
	}
	config.ContentType = "application/json"
	objects, err := dynamic.NewForConfig(rest.AddUserAgent(config, "scheduler-controllers"))
	if err != nil {
		return nil, fmt.Errorf("create a client for the controllers: %w", err)
	}
	quotas := quotacontroller.New(quotacontroller.Config{
		State: common.quotas, Quotas: objects, Pods: pods, Recorder: completed.EventBroadcaster.NewRecorder("koord-scheduler"), Now: time.Now,
	})
	return []func(context.Context){quotas.Run}, nil
}
