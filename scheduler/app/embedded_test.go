package app

import (
	"context"
	"errors"
	"slices"
	"testing"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"

	"koordinator.sh/koord/scheduler/frameworkext"
)

func TestEmbeddedExtendsASchedulerThatItsPluginsAreIn(t *testing.T) {
	configuration, err := DefaultConfiguration()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	client := fake.NewClientset()
	embedded := NewEmbedded()
	built, err := scheduler.New(ctx, client, informers.NewSharedInformerFactory(client, 0), nil,
		func(string) events.EventRecorderLogger { return &events.FakeRecorder{} },
		scheduler.WithKubeConfig(&rest.Config{Host: "https://127.0.0.1:1"}),
		scheduler.WithProfiles(configuration.Profiles...), scheduler.WithFrameworkOutOfTreeRegistry(embedded.Registry()))
	if err != nil {
		t.Fatal(err)
	}
	if err := embedded.Attach(ctx, built); err != nil {
		t.Fatal(err)
	}
	enabled := map[string][]string{}
	for _, profile := range configuration.Profiles {
		enabled[profile.SchedulerName] = profile.Plugins.Names()
		for _, plugin := range profile.Plugins.MultiPoint.Enabled {
			enabled[profile.SchedulerName] = append(enabled[profile.SchedulerName], plugin.Name)
		}
	}
	for name, profile := range built.Profiles {
		if extended, is := profile.(*frameworkext.Framework); !is {
			t.Errorf("profile %s is a %T", name, profile)
		} else if !extended.Batches() {
			t.Errorf("profile %s places every pod by a search of its own: a plugin does not sign pods", name)
		}
		created := embedded.created.of(name)
		for plugin := range embedded.Registry() {
			has := slices.ContainsFunc(created, func(p fwk.Plugin) bool { return p.Name() == plugin })
			if want := slices.Contains(enabled[name], plugin); has != want {
				t.Errorf("profile %s has plugin %s: %t, want %t", name, plugin, has, want)
			}
		}
	}
}

func TestEmbeddedKnowsWhenItsPluginsAreNotInAScheduler(t *testing.T) {
	embedded := NewEmbedded()
	for name, err := range map[string]error{
		"attach": embedded.Attach(t.Context(), &scheduler.Scheduler{}), "run": embedded.Run(t.Context(), nil), "settle": embedded.Settle(t.Context()),
	} {
		if !errors.Is(err, errNoPlugin) {
			t.Errorf("%s: error %v, want %v", name, err, errNoPlugin)
		}
	}
}
