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

	decision "koordinator.sh/koord/decision/scheduling/reservation"
	"koordinator.sh/koord/scheduler/plugins/deviceshare/strays"
	quotacontroller "koordinator.sh/koord/scheduler/plugins/elasticquota/controller"
	"koordinator.sh/koord/scheduler/plugins/reservation"
	"koordinator.sh/koord/scheduler/reservepods"
	"koordinator.sh/koord/scheduler/state/gangs"
)

// controllerQPS bounds the requests of the controllers, which must not slow down binding: they have a client of their own.
const controllerQPS, controllerBurst = 50, 100

// statusWorkers write the statuses of PodGroups.
const statusWorkers = 1

// leaderWork are the controllers that write what plugins decided, apart from pods.
func leaderWork(completed *kubeconfig.CompletedConfig, common *shared, profiles []config.KubeSchedulerProfile, leads func() bool) ([]func(context.Context), error) {
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
	quotas := quotacontroller.New(quotacontroller.Config{
		State: common.quotas, Quotas: objects, Pods: pods, Recorder: completed.EventBroadcaster.NewRecorder("koord-scheduler"), Now: time.Now,
	})
	core := completed.InformerFactory.Core().V1()
	lost := strays.New(strays.Config{
		State: common.devices, Pods: core.Pods().Lister(), Nodes: core.Nodes().Lister(), Recorder: completed.EventBroadcaster.NewRecorder("koord-scheduler"), Now: time.Now,
	})
	args, err := reservationArgs(profiles)
	if err != nil {
		return nil, err
	}
	reserved, err := reservepods.NewController(reservepods.Options{
		State: common.reservations, Writer: common.reservationWriter, Client: pods, Pods: core.Pods().Informer(), Nodes: core.Nodes().Informer(),
		Args: args, Leading: leads, Now: time.Now,
	})
	if err != nil {
		return nil, err
	}
	statuses, err := gangs.NewStatuses(common.gangs, objects, pods, statusWorkers)
	if err != nil {
		return nil, err
	}
	return []func(context.Context){quotas.Run, lost.Run, reserved.Run, statuses.Run}, nil
}

// reservationArgs are those of the first profile that has the plugin.
func reservationArgs(profiles []config.KubeSchedulerProfile) (*decision.Args, error) {
	for _, profile := range profiles {
		for _, plugin := range profile.PluginConfig {
			if plugin.Name == reservation.Name {
				return reservation.DecodeArgs(plugin.Args)
			}
		}
	}
	return reservation.DecodeArgs(nil)
}
