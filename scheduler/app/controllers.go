package app

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	kubeconfig "k8s.io/kubernetes/cmd/kube-scheduler/app/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"

	"koordinator.sh/koord/scheduler/part"
)

// controllerQPS bounds the requests of the controllers, which have their own client so that they do not slow down binding.
const controllerQPS, controllerBurst = 50, 100

// leaderWork are the controllers that write what plugins decided, apart from pods.
func leaderWork(completed *kubeconfig.CompletedConfig, parts part.Set, profiles []config.KubeSchedulerProfile, leads func() bool) ([]func(context.Context), error) {
	client := rest.CopyConfig(completed.KubeConfig)
	client.QPS, client.Burst = controllerQPS, controllerBurst
	pods, err := kubernetes.NewForConfig(rest.AddUserAgent(client, "scheduler-controllers"))
	if err != nil {
		return nil, fmt.Errorf("create a client for the controllers: %w", err)
	}
	client.ContentType = "application/json"
	objects, err := dynamic.NewForConfig(rest.AddUserAgent(client, "scheduler-controllers"))
	if err != nil {
		return nil, fmt.Errorf("create a client for the controllers: %w", err)
	}
	return parts.Controllers(&part.Controllers{
		Pods: pods, Objects: objects, Informers: completed.InformerFactory, Recorder: completed.EventBroadcaster.NewRecorder("koord-scheduler"),
		Profiles: profiles, Leads: leads, Now: time.Now,
	})
}
